import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { tokenIdOf, tokenValueOf } from '../../src/records/token-value.ts'
import { derivedSecrets } from '../../src/runtime/derived-secrets.ts'
import { cryptography } from '../support/test-wallet.ts'

const secrets = derivedSecrets(['a secret of this server, long enough'], cryptography)
const TIME = '019ca945311f'
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

describe('the value of an access token', () => {
  it('TOK-1 TOK-10 begins with the time of the id that it is derived from, and so does the id of its record', async () => {
    const manageId = `${TIME}0123456789abcdef0123456789abcdef`
    const secretId = await secrets.currentId()
    const value = await tokenValueOf(secrets, { secretId, manageId })
    expect(value).toBe(TIME + (await secrets.derive(secretId, 'access-token', manageId)))
    expect(await tokenIdOf(secrets, value)).toBe(TIME + sha256(value))
  })

  it.each([
    ['empty', ''],
    ['a time alone', TIME],
    ['a character short', TIME + 'x'.repeat(42)],
    ['a character long', TIME + 'x'.repeat(44)],
    ['behind something else', `.${TIME}${'x'.repeat(43)}`],
    ['of letters that no digest has', TIME + '~'.repeat(43)],
    ['begun with what is no time', '/'.repeat(12) + 'x'.repeat(43)],
    ['begun with a time in upper case', TIME.toUpperCase() + 'x'.repeat(43)],
    ['a line long', `${TIME}${'x'.repeat(43)}\n`],
    ['of another server', 'x'.repeat(5000)],
  ])('TOK-1 nothing but a digest gets into an id of what is %s', async (_, value) => {
    expect(await tokenIdOf(secrets, value)).toBe(sha256(value))
  })
})
