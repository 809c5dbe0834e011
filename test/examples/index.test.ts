import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const read = (path: string): string => readFileSync(new URL(`../../examples/${path}`, import.meta.url), 'utf8')

it('the index of the examples has a line for each of them', () => {
  const links = [...read('README.md').matchAll(/\]\(([\w./-]+)\)/g)].map(([, target = '']) => target)
  const there = readdirSync(new URL('../../examples/', import.meta.url))
  const examples = there.filter((name) => name !== 'README.md' && !name.endsWith('.d.ts'))
  expect([...links].sort()).toEqual([...examples].sort())
})

it('the index of the examples names the ports, people and options that there are', () => {
  const index = read('README.md')
  expect(read('node.ts')).toContain('?? 3000')
  expect(read('consent-spa/main.ts')).toContain('?? 3000')
  expect(read('users-in-postgres/main.ts')).toContain(`PORT = '3000'`)
  expect(read('shop/main.ts')).toContain('?? 3001')
  for (const name of ['DATABASE_URL', 'SECRETS']) {
    expect(index).toContain(`${name}=`)
    expect(read('users-in-postgres/main.ts')).toContain(name)
  }
})
