import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { tokenIdOf, tokenValueOf } from '../../src/records/token-value.ts'
import { derivedSecrets } from '../../src/runtime/derived-secrets.ts'
import { cryptography } from '../support/test-wallet.ts'

const secrets = derivedSecrets(['a secret of this server, long enough'], cryptography)
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

describe('the value of an access token', () => {
  it.each([
    ['begins with the time of the id that it is derived from', '019ca945311f'],
    ['has no time if that id has none, as in earlier versions', ''],
  ])('TOK-1 TOK-10 %s, and so does the id of its record', async (_, time) => {
    const manageId = `${time}0123456789abcdef0123456789abcdef`
    const secretId = await secrets.currentId()
    const value = await tokenValueOf(secrets, { secretId, manageId })
    expect(value).toBe(time + (await secrets.derive(secretId, 'access-token', manageId)))
    expect(await tokenIdOf(secrets, value)).toBe(time + sha256(value))
  })

  it.each(['', 'x', 'x'.repeat(42), 'x'.repeat(44), 'x'.repeat(54), 'x'.repeat(56), 'x'.repeat(5000)])(
    'TOK-1 may be anything that a client sends: %#',
    async (value) => {
      const id = await tokenIdOf(secrets, value)
      expect(id.slice(-64)).toBe(sha256(value))
      expect(id.length).toBeLessThanOrEqual(76)
    },
  )
})
