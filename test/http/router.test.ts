import { describe, expect, it } from 'vitest'
import { ANY_PATH, createRouter, type Row } from '../../src/http/router.ts'

const rows: readonly Row[] = [
  { method: 'GET', path: '/things', role: 'resource-server' },
  { method: 'GET', path: '/things/:id', role: 'resource-server' },
  { method: 'POST', path: '/things/:id/end', role: 'resource-server' },
  { method: 'POST', path: '/', role: 'auth-server' },
  { method: 'GET', path: '/:account+/keys', role: 'wallet-address-server' },
  { method: 'GET', path: ANY_PATH, role: 'wallet-address-server' },
]
const match = createRouter(rows, { 'resource-server': '/op', 'auth-server': '/op/things', 'wallet-address-server': '' })

function found(method: string, target: string): unknown {
  const result = match(method, target)
  return result.ok ? [result.row.path, result.params] : result.refusal.condition.status
}

describe('the router', () => {
  it.each([
    ['GET', '/op/things?id=1', ['/things', {}]],
    ['GET', '/op/things//', ['/things', {}]],
    ['POST', '/op/things/', ['/', {}]],
    ['GET', '/op/things/1', ['/things/:id', { id: '1' }]],
    ['GET', '/op/things/%C3%A4%2F/', ['/things/:id', { id: 'ä/' }]],
    ['GET', '/op/things/:id', ['/things/:id', { id: ':id' }]],
    ['POST', '/op/things/1/end', ['/things/:id/end', { id: '1' }]],
    ['GET', '/op/things/%ff', 404],
    ['DELETE', '/op/things/1', 405],
    ['POST', '/op/things//end', 404],
    ['GET', '/a/b/keys', ['/:account+/keys', { account: 'a/b' }]],
    // What a client makes that puts the end of a path behind a URL with a slash.
    ['GET', '//keys', ['/:account+/keys', { account: '' }]],
    ['GET', '/keys', [ANY_PATH, {}]],
    ['GET', '/', [ANY_PATH, {}]],
    ['POST', '/a', 404],
  ])('D16 takes %s %s to its endpoint', (method, target, expected) => {
    expect(found(method, target)).toEqual(expected)
  })
})
