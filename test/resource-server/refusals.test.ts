import type { Ledger } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { silence } from '../support/gate.ts'
import { ALICE, type Answer, BASE, BOB, testLedger, usd } from '../support/test-wallet.ts'
import {
  expectRefusal,
  expectStatus,
  INACTIVE_WALLET_ADDRESS,
  invalidRequest,
  NO_QUOTE_NOR_RECEIVER,
  type Refusal,
  type Shop,
  shop,
  tokenFor,
  UNKNOWN_WALLET_ADDRESS,
} from './observed-wallet.ts'

// Section 1.3 for every operation that names a wallet address. Each request is right but for what the test names.

type Act = (rig: Shop, token: string) => Promise<Answer>

/** What is asked of Alice's wallet address, under a token that holds all of its rights. */
const ACTS: Readonly<Record<string, Act>> = {
  'create-incoming-payment': ({ wallet }, token) =>
    wallet.send('POST', `${BASE}/incoming-payments`, { token, json: { walletAddress: ALICE } }),
  'list-incoming-payments': ({ wallet }, token) =>
    wallet.send('GET', `${BASE}/incoming-payments?wallet-address=${encodeURIComponent(ALICE)}`, { token }),
  'create-quote': ({ wallet, incoming }, token) =>
    wallet.send('POST', `${BASE}/quotes`, {
      token,
      json: { walletAddress: ALICE, receiver: incoming.id, method: 'ilp', debitAmount: usd('1') },
    }),
  'create-outgoing-payment': ({ wallet, incoming }, token) =>
    wallet.send('POST', `${BASE}/outgoing-payments`, {
      token,
      json: { walletAddress: ALICE, incomingPayment: incoming.id, debitAmount: usd('1') },
    }),
  'list-outgoing-payments': ({ wallet }, token) =>
    wallet.send('GET', `${BASE}/outgoing-payments?wallet-address=${encodeURIComponent(ALICE)}`, { token }),
}

const ALL_RIGHTS = [
  { type: 'incoming-payment', actions: ['create', 'list'], identifier: ALICE },
  { type: 'outgoing-payment', actions: ['create', 'list'], identifier: ALICE },
  { type: 'quote', actions: ['create'] },
]

async function prepared(ledger?: Ledger): Promise<{ readonly rig: Shop; readonly token: string }> {
  const rig = await shop(ledger === undefined ? {} : { overrides: { ledger } })
  return { rig, token: await tokenFor(rig.wallet, ALL_RIGHTS) }
}

const succeeds = (name: string, answer: Promise<Answer>): Promise<Answer> =>
  expectStatus(name.startsWith('create-') ? 201 : 200, answer)

describe('a wallet address that is named (section 1.3)', () => {
  it.each(Object.entries(ACTS))(
    'RS-4 WAS-7 %s is refused when it is unknown by now, or inactive',
    async (name, act) => {
      const { rig, token } = await prepared()
      const { directory } = rig.wallet
      directory.delete(ALICE)
      await expectRefusal(rig.wallet, UNKNOWN_WALLET_ADDRESS, () => act(rig, token))
      directory.set(ALICE, { account: 'alice', assetCode: 'USD', assetScale: 2, isActive: false })
      await expectRefusal(rig.wallet, INACTIVE_WALLET_ADDRESS, () => act(rig, token))
      directory.set(ALICE, { account: 'alice', assetCode: 'USD', assetScale: 2 })
      await succeeds(name, act(rig, token))
    },
  )

  it.each([
    ['create-incoming-payment', { canSend: true, canReceive: false }],
    ['create-quote', { canSend: false, canReceive: true }],
    ['create-outgoing-payment', { canSend: false, canReceive: true }],
  ])('D15 %s is refused while its account may not do that, or does not exist', async (name, permissions) => {
    const { rig, token } = await prepared()
    const { wallet } = rig
    const act = (): Promise<Answer> => ACTS[name]?.(rig, token) ?? Promise.reject(new Error(name))
    const notAllowed: Refusal = [403, 'not_allowed', 'not allowed']
    await wallet.ledger.setPermissions('alice', permissions)
    await expectRefusal(wallet, notAllowed, act)
    await wallet.ledger.setPermissions('alice', { canSend: true, canReceive: true })
    const { account } = wallet.ledger
    expect(wallet.events.filter(({ type }) => type === 'fault')).toEqual([])
    wallet.ledger.account = async () => undefined
    const { text } = await expectRefusal(wallet, notAllowed, act)
    expect(text).not.toContain('alice')
    expect(wallet.events.filter(({ type }) => type === 'fault')).toMatchObject([
      {
        message: 'the directory names an account that the ledger does not have',
        cause: { message: `account "alice" of ${ALICE} is not in the ledger` },
        call: 'account',
        callId: 'alice',
      },
    ])
    wallet.ledger.account = account
    await succeeds(name, act())
  })

  it.each(['create-incoming-payment', 'create-quote', 'create-outgoing-payment'])(
    'EMB-2 %s is answered 503 with Retry-After while the ledger cannot be asked, and when it does not answer in time',
    async (name) => {
      const ledger = testLedger()
      let account: Ledger['account'] = (id) => ledger.account(id)
      const { rig, token } = await prepared({ ...ledger, account: (id) => account(id) })
      const { wallet } = rig
      const effects = wallet.effects.length
      const act = (): Promise<Answer> => ACTS[name]?.(rig, token) ?? Promise.reject(new Error(name))
      const answers: Answer[] = []
      account = async () => {
        throw new Error('the secret name of a host')
      }
      answers.push(await act())
      const { called, call } = silence()
      account = call
      const late = act()
      await called
      wallet.clock.advance(3_000)
      answers.push(await late)
      expect(wallet.events.filter(({ type }) => type === 'fault')).toMatchObject(
        ['the ledger failed', 'the ledger did not answer in time'].map((message) => ({
          message,
          call: 'account',
          callId: 'alice',
        })),
      )
      for (const { status, headers, body, text } of answers) {
        expect([status, body.error.code, headers['retry-after']]).toEqual([503, 'unavailable', '1'])
        expect(text).not.toContain('secret')
      }
      expect(wallet.effects.length).toBe(effects)
      account = (id) => ledger.account(id)
      await succeeds(name, act())
    },
  )
})

describe('a body (section 1.3)', () => {
  const collections = ['incoming-payments', 'quotes', 'outgoing-payments']
  // A payment has one of two bodies, and none of these says which.
  const bodies = [
    ['', 'a JSON body is required'],
    [' ', 'the body is not JSON'],
    ['null', 'expected Object'],
    ['[]', 'expected Object'],
    ['"x"', 'expected Object'],
    ['1', 'expected Object'],
    ['{', 'the body is not JSON'],
    ['{}', 'walletAddress: missing'],
    ['{"walletAddress":1}', 'walletAddress: expected string'],
    [`{"walletAddress":"${BOB}",}`, 'the body is not JSON'],
  ] as const

  it.each(collections)(
    'EMB-3 QUO-1 OUT-1 of /%s is refused where it is no JSON, or not of its schema',
    async (name) => {
      const { rig, token } = await prepared()
      for (const [body, mistake] of bodies) {
        const isOfTwo = name === 'outgoing-payments' && body !== '[]' && /expected|missing/.test(mistake)
        const refusal = isOfTwo ? NO_QUOTE_NOR_RECEIVER : invalidRequest(mistake)
        await expectRefusal(rig.wallet, refusal, () => rig.wallet.send('POST', `${BASE}/${name}`, { token, body }))
      }
    },
  )

  it.each(collections)(
    'EMB-3 T-42 of /%s is refused where it names a member twice, since readers differ in which one counts',
    async (name) => {
      const { rig, token } = await prepared()
      const members: Readonly<Record<string, string>> = {
        'incoming-payments': '',
        quotes: `,"receiver":"${rig.incoming.id}","method":"ilp","debitAmount":${JSON.stringify(usd('1'))}`,
        'outgoing-payments': `,"incomingPayment":"${rig.incoming.id}","debitAmount":${JSON.stringify(usd('1'))}`,
      }
      const body = `{"walletAddress":"${ALICE}"${members[name]}}`
      const send = (sent: string) => rig.wallet.send('POST', `${BASE}/${name}`, { token, body: sent })
      for (const twice of [
        body.replace('{', `{"walletAddress":"${ALICE}",`),
        body.replace('{', `{"wallet\\u0041ddress":"${ALICE}",`),
        ...(body.includes('"value"') ? [body.replace('"value"', '"value":"7","value"')] : []),
      ])
        await expectRefusal(rig.wallet, invalidRequest('the body names a member twice'), () => send(twice))
      expect((await send(body)).status).toBe(201)
    },
  )
})
