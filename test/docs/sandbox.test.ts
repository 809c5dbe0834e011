import { createPrivateKey } from 'node:crypto'
import { signedRequest } from 'open-payments-server/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HELP } from '../../examples/sandbox/arguments.ts'
import { DEFAULT_ACCOUNTS, readConfiguration } from '../../examples/sandbox/configuration.ts'
import { type Sandbox, startSandbox } from '../../examples/sandbox/server.ts'
import { readText } from '../architecture/source-tree.ts'
import { cryptography } from '../support/test-wallet.ts'
import { approve } from './approve.ts'
import { codeBlocksOf } from './markdown.ts'

const PAGE = 'docs/sandbox.md'
const page = readText(PAGE)

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({ port: 0, database: ':memory:', configuration: {}, warn: () => undefined })
})
afterAll(() => sandbox.stop())

describe('the page about the sandbox', () => {
  it('has every option, every account and every member of the line of JSON', async () => {
    for (const [option] of HELP.matchAll(/--\w+/g)) expect(page).toContain(option)
    for (const { path, assetCode, assetScale, balance } of DEFAULT_ACCOUNTS) {
      const major = `${balance.slice(0, -assetScale)}.${balance.slice(-assetScale)}`
      expect(page).toContain(`| \`${path}\` | ${assetCode} | ${assetScale} | ${major} |`)
    }
    const description = await sandbox.describe()
    const members = [description, description.client, ...description.wallets].flatMap((one) => Object.keys(one))
    for (const member of members) expect(page).toContain(member)
  })

  it('has a configuration that is one, with every key', () => {
    const [block] = codeBlocksOf(PAGE).filter(({ language }) => language === 'json')
    const read = readConfiguration(block?.code ?? '')
    expect(read).toMatchObject({ ok: true })
    const keys = Object.keys(read.ok ? read.configuration : {})
    expect(keys).toEqual(['accounts', 'lifetimes', 'rates', 'fee', 'loopbackKeys', 'ilpAddress', 'peers'])
  })

  it('approves as its code says', async () => {
    const { authServer, client, wallets, consent } = await sandbox.describe()
    const der = createPrivateKey(client.privateKeyPem).export({ type: 'pkcs8', format: 'der' })
    const key = { keyId: client.keyId, privateKeySeed: new Uint8Array(der.subarray(-32)) }
    const identifier = wallets[0]?.walletAddress
    const finish = { method: 'redirect', uri: 'http://localhost/finish', nonce: 'a nonce' }
    const json = {
      access_token: { access: [{ type: 'outgoing-payment', actions: ['create'], identifier }] },
      client: client.walletAddress,
      interact: { start: ['redirect'], finish },
    }
    const jwk = { kid: client.keyId, kty: 'OKP', crv: 'Ed25519', x: '' } as const
    const url = authServer
    const created = Math.floor(Date.now() / 1000)
    const signed = await signedRequest({ method: 'POST', url, key: { ...key, jwk }, cryptography, created, json })
    const headers = Object.entries(signed.headers).map(([name, lines]): [string, string] => [name, lines.join()])
    const { interact } = await (await fetch(url, { method: 'POST', headers, body: signed.body as BodyInit })).json()
    const location = new URL(await approve(interact.redirect, consent.credentials))
    expect(location.origin + location.pathname).toBe('http://localhost/finish')
    expect(location.searchParams.get('interact_ref')).toMatch(/^[\w-]{43}$/)
  })
})
