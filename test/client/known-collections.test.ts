import { describe, expect, it } from 'vitest'
import { knownCollections } from '../../src/client/known-collections.ts'

const collectionAt = (host: string, path = ''): string => `https://${host}.example${path}/incoming-payments`
const AUTH_SERVER = 'https://auth.example/gnap'
const TRUSTED = { authServer: AUTH_SERVER, isDoubted: false }

describe('a collection that was read', () => {
  it.each([false, true])('T-5 is pushed out by no server that has more than a hundred (paid: %s)', (isPaid) => {
    const known = knownCollections()
    known.trust(collectionAt('pay'), AUTH_SERVER, isPaid)
    for (let at = 0; at < 5000; at++) known.trust(collectionAt(`evil-${at % 9}`, `/${at}`), AUTH_SERVER, isPaid)
    expect(known.get(collectionAt('pay'))).toEqual(TRUSTED)
  })

  it('T-5 and that somebody has paid is pushed out by none that are only looked at', () => {
    const known = knownCollections()
    for (const host of ['paid', 'read', 'first-read']) known.trust(collectionAt(host), AUTH_SERVER, host === 'paid')
    known.trust(collectionAt('first-read'), AUTH_SERVER, true)
    known.trust(collectionAt('first-read'), AUTH_SERVER, false)
    known.doubt(collectionAt('first-read'))
    for (let at = 0; at < 1000; at++) known.trust(collectionAt(`evil-${at}`), AUTH_SERVER, false)
    expect(['paid', 'read', 'first-read'].map((host) => known.get(collectionAt(host)))).toEqual([
      TRUSTED,
      undefined,
      { ...TRUSTED, isDoubted: true },
    ])
  })

  it('T-5 and that somebody has paid is pushed out by none that are doubted, and by none of its own that was read before', () => {
    const known = knownCollections()
    const moved = { authServer: 'https://moved.example/gnap', isDoubted: false }
    known.trust(collectionAt('paid'), AUTH_SERVER, false)
    known.trust(collectionAt('paid'), moved.authServer, true)
    expect(known.get(collectionAt('paid'))).toEqual(moved)
    for (let at = 0; at < 1000; at++) {
      known.trust(collectionAt(`evil-${at}`), AUTH_SERVER, false)
      known.doubt(collectionAt(`evil-${at}`))
    }
    expect(known.get(collectionAt('paid'))).toEqual(moved)
  })

  it('is known also if it is doubted, and one that is doubted first is not known', () => {
    const known = knownCollections()
    known.doubt(collectionAt('pay'))
    expect(known.get(collectionAt('pay'))).toBeUndefined()
    known.trust(collectionAt('pay'), AUTH_SERVER, false)
    known.doubt(collectionAt('pay'))
    expect(known.get(collectionAt('pay'))).toEqual({ ...TRUSTED, isDoubted: true })
    known.trust(collectionAt('pay'), AUTH_SERVER, false)
    expect(known.get(collectionAt('pay'))).toEqual(TRUSTED)
  })
})
