import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { type AccessToken, isUsableToken } from '../../src/protocol/access-token.ts'
import { ContinuationRequest } from '../../src/protocol/continuation.ts'
import { finaliseGrant, type Grant } from '../../src/protocol/grant.ts'

const grant: Grant = {
  id: 'g',
  state: 'issued',
  createdAt: 0,
  expiresAt: 1000,
  client: 'https://client.example/pay',
  keys: [],
  access: [],
  subject: false,
  secretId: 's',
  continuationHash: 'h',
  continueAfter: 0,
  wrongReferences: 0,
  issuedAt: 0,
}

describe('a grant', () => {
  it.each(['rejected', 'revoked', 'expired'] as const)('CON-9 is finalised once, here as %s', (finalisation) => {
    const finalised = finaliseGrant(grant, finalisation)
    expect(finalised).toStrictEqual({ ...grant, state: 'finalised', finalisation })
    expect(() => finaliseGrant(finalised, 'revoked')).toThrow(new TypeError('a finalised grant does not change'))
  })
})

describe('an access token', () => {
  const token: AccessToken = {
    id: 't',
    manageId: 'm',
    secretId: 's',
    state: 'active',
    grantId: 'g',
    client: 'https://client.example/pay',
    keys: [],
    access: [],
    issuedAt: 0,
    expiresAt: 1000,
  }

  it('TOK-4 is usable until the moment at which it expires, and not in it', () => {
    expect(isUsableToken(token, 999)).toBe(true)
    expect(isUsableToken(token, 1000)).toBe(false)
  })

  it.each(['rotated', 'revoked'] as const)('TOK-4 is not usable when %s', (state) => {
    expect(isUsableToken({ ...token, state }, 0)).toBe(false)
  })
})

describe('the body of a continuation', () => {
  it('CON-7 is a poll, or holds a reference of at most 256 characters', () => {
    expect(v.parse(ContinuationRequest, {})).toStrictEqual({})
    expect(v.parse(ContinuationRequest, { other: 1 })).toStrictEqual({})
    expect(v.parse(ContinuationRequest, { interact_ref: 'r' })).toStrictEqual({ interactRef: 'r' })
    expect(v.is(ContinuationRequest, { interact_ref: 'r'.repeat(256) })).toBe(true)
    expect(v.is(ContinuationRequest, { interact_ref: 'r'.repeat(257) })).toBe(false)
    expect(v.is(ContinuationRequest, { interact_ref: 7 })).toBe(false)
  })
})
