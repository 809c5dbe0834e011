import { describe, expect, it } from 'vitest'
import { fetchKeyResolver } from '../../src/runtime/fetch-key-resolver.ts'
import { jsonReply } from '../key-resolver/fake-network.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { AUTH, BASE, incomingPayment, type TestWallet, testWallet } from '../support/test-wallet.ts'
import { type Host, hosting, type Internet, internet, jsonOf, lines } from './internet.ts'
import { OUR_SECRETS, readerOn } from './scene.ts'

const US = 'https://us.example'
const OURS = `${US}/wallet`

/** This server as it is mounted: it publishes the keys by which it is known. */
function us(secrets: readonly string[]): Promise<TestWallet> {
  return testWallet({
    authServer: `${US}/auth`,
    resourceServer: US,
    secrets,
    walletAddresses: {
      find: async (url) => (url === OURS ? { account: 'alice', assetCode: 'USD', assetScale: 2 } : undefined),
    },
    settings: { policies: { clientWalletAddress: OURS } },
  })
}

/** Another server that reads the keys of its clients over the network, and knows no client by its key alone. */
async function them(world: Internet): Promise<TestWallet> {
  const wallet = await testWallet({
    keyResolver: fetchKeyResolver({ clock: fakeClock(), loopbackHttp: false, network: world.network }),
  })
  const auth: Host = (connection) =>
    Object(Object(jsonOf(connection)).client).jwk === undefined
      ? hosting(wallet)(connection)
      : jsonReply({ error: { code: 'invalid_client', description: 'client must be a string' } }, { status: 400 })
  world.hosts.set(new URL(AUTH).host, auth).set(new URL(BASE).host, hosting(wallet))
  return wallet
}

describe('a server that knows clients by their wallet addresses alone', () => {
  it('QUO-9 finds the key of this server in the key set of its wallet address', async () => {
    const world = internet()
    world.hosts.set('us.example', hosting(await us(OUR_SECRETS)))
    const wallet = await them(world)
    const { payment } = await incomingPayment(wallet)
    const receivers = readerOn(world, wallet.clock, { clientWalletAddress: OURS })
    expect(await receivers.find(payment.id)).toMatchObject({ ok: true, payment: { methods: payment.methods } })
    expect(lines(world)).toEqual([
      `GET ${payment.id}`,
      `signed POST ${AUTH}/`,
      `signed POST ${AUTH}/`,
      `GET ${OURS}/jwks.json`,
      `signed GET ${payment.id}`,
    ])
  })

  it('TOK-10 finds it there before every process has the newer secret, and after', async () => {
    const [old] = OUR_SECRETS
    const young = 'the newer secret of the server that reads'
    for (const [published, signing] of [
      [[old, young], [old]],
      [
        [old, young],
        [young, old],
      ],
      [
        [young, old],
        [old, young],
      ],
    ]) {
      const world = internet()
      world.hosts.set('us.example', hosting(await us(published ?? [])))
      const wallet = await them(world)
      const { payment } = await incomingPayment(wallet)
      const receivers = readerOn(world, wallet.clock, { clientWalletAddress: OURS, secrets: signing ?? [] })
      expect(await receivers.find(payment.id)).toMatchObject({ ok: true })
    }
  })

  it('refuses it where that key set is of other secrets', async () => {
    const world = internet()
    world.hosts.set('us.example', hosting(await us(['a secret that has nothing to do with it'])))
    const wallet = await them(world)
    const { payment } = await incomingPayment(wallet)
    const receivers = readerOn(world, wallet.clock, { clientWalletAddress: OURS })
    expect(await receivers.find(payment.id)).toMatchObject({ ok: false, reason: 'refused' })
  })
})
