import { describe, expect, it } from 'vitest'
import { knownCollections } from '../../src/client/known-collections.ts'

const collectionAt = (host: string, path = ''): string => `https://${host}.example${path}/incoming-payments`
const AUTH_SERVER = 'https://auth.example/gnap'
const TRUSTED = { authServer: AUTH_SERVER, isDoubted: false }

describe('a collection that was read', () => {
  it('T-5 is pushed out by no server that has more than a hundred', () => {
    const known = knownCollections()
    known.trust(collectionAt('pay'), AUTH_SERVER)
    for (let at = 0; at < 5000; at++) known.trust(collectionAt(`evil-${at % 9}`, `/${at}`), AUTH_SERVER)
    expect(known.get(collectionAt('pay'))).toEqual(TRUSTED)
  })

  it('is known also if it is doubted, and one that is doubted first is not known', () => {
    const known = knownCollections()
    known.doubt(collectionAt('pay'))
    expect(known.get(collectionAt('pay'))).toBeUndefined()
    known.trust(collectionAt('pay'), AUTH_SERVER)
    known.doubt(collectionAt('pay'))
    expect(known.get(collectionAt('pay'))).toEqual({ ...TRUSTED, isDoubted: true })
    known.trust(collectionAt('pay'), AUTH_SERVER)
    expect(known.get(collectionAt('pay'))).toEqual(TRUSTED)
  })
})
