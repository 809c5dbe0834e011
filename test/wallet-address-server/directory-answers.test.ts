import type { OpenPaymentsEvent, WalletAddresses } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { silence } from '../support/gate.ts'
import {
  ALICE,
  type Answer,
  AUTH,
  BASE,
  BOB,
  CLIENT,
  grantAtOnce,
  incomingPayment,
  OWNER,
  referenceOf,
  requestConsent,
  spendingToken,
  type TestWallet,
  testWallet,
} from '../support/test-wallet.ts'

const UNAVAILABLE = [503, 'temporarily unavailable; whether this request had an effect is not known']
const UNEXPECTED = [500, 'internal server error']
const ROW = { account: 'alice', assetCode: 'USD', assetScale: 2 }

/** A wallet whose directory does what `find` does, once there is one; and what it tells from then on. */
async function walletWith(): Promise<{
  readonly wallet: TestWallet
  /** What a directory written in plain JavaScript answers is of any type. */
  readonly answer: (find: (url: string) => unknown) => void
  readonly faults: () => readonly OpenPaymentsEvent[]
}> {
  let find: ((url: string) => unknown) | undefined
  const walletAddresses = {
    find: async (url: string) => (find === undefined ? wallet.directory.get(url) : find(url)),
  } as WalletAddresses
  const wallet = await testWallet({ walletAddresses })
  return {
    wallet,
    answer: (asked) => {
      find = asked
    },
    faults: () => wallet.events.filter(({ type }) => type === 'fault'),
  }
}

function refusalOf({ status, body }: Answer): readonly unknown[] {
  return [status, body.error.description]
}

const unsigned = (target: string) => ({ method: 'GET', target, headerLines: () => [], bytes: () => new Uint8Array() })

/** Requests that ask the directory, each at another place. */
const REQUESTS: Readonly<Record<string, (wallet: TestWallet) => Promise<() => Promise<Answer>>>> = {
  'get-wallet-address': async (wallet) => () => wallet.sendRaw(unsigned('/alice')),
  'get-wallet-address-keys': async (wallet) => () => wallet.sendRaw(unsigned('/alice/jwks.json')),
  'post-request': async (wallet) => () => grantAtOnce(wallet, [{ type: 'quote', actions: ['create'] }]),
  'create-incoming-payment': async (wallet) => {
    const { token } = await incomingPayment(wallet)
    return () => wallet.send('POST', `${BASE}/incoming-payments`, { token, json: { walletAddress: BOB } })
  },
  'create-quote': async (wallet) => {
    const { payment } = await incomingPayment(wallet)
    const token = await spendingToken(wallet)
    const json = { walletAddress: ALICE, receiver: payment.id, method: 'ilp' }
    return () => wallet.send('POST', `${BASE}/quotes`, { token, json })
  },
}

/** Of these the one that fails is not the first to be asked: the client's key, the wallet address, the receiver. */
const asked = { [CLIENT]: 'post-request', [ALICE]: 'create-quote', [BOB]: 'create-quote' }

describe('a directory of wallet addresses that fails', () => {
  it.each(Object.keys(REQUESTS))('is one fault, and 503 without its words: %s', async (operation) => {
    const { wallet, answer, faults } = await walletWith()
    const request = await REQUESTS[operation]?.(wallet)
    answer(() => {
      throw new Error('the database is away')
    })
    const refused = await (request?.() ?? expect.fail(operation))
    expect(refusalOf(refused)).toEqual(UNAVAILABLE)
    expect(faults()).toMatchObject([
      { message: 'the directory of wallet addresses failed', cause: { message: 'the database is away' } },
    ])
    expect(wallet.events.at(-1)).toMatchObject({ type: 'request', operation, status: 503, condition: 'unavailable' })
  })

  it.each(Object.entries(asked))('is the same wherever it is asked: %s', async (failing, operation) => {
    const { wallet, answer, faults } = await walletWith()
    const request = await REQUESTS[operation]?.(wallet)
    answer((url) => {
      if (url === failing) throw new Error('the database is away')
      return wallet.directory.get(url)
    })
    expect(refusalOf(await (request?.() ?? expect.fail(operation)))).toEqual(UNAVAILABLE)
    expect(faults()).toMatchObject([{ message: 'the directory of wallet addresses failed' }])
  })

  it.each(Object.keys(REQUESTS))('is not waited for longer than its deadline: %s', async (operation) => {
    const { wallet, answer, faults } = await walletWith()
    const request = await REQUESTS[operation]?.(wallet)
    const { called, call } = silence()
    answer(call)
    const late = request?.() ?? expect.fail(operation)
    await called
    wallet.clock.advance(3_000)
    expect(refusalOf(await late)).toEqual(UNAVAILABLE)
    expect(faults()).toMatchObject([{ message: 'the directory of wallet addresses did not answer in time' }])
  })

  it('is not known to own a path: hosts answer that here', async () => {
    const { wallet, answer, faults } = await walletWith()
    answer(() => {
      throw new Error('the database is away')
    })
    await expect(wallet.openPayments.owns('GET', '/alice')).rejects.toThrow('the directory of wallet addresses')
    const { called, call } = silence()
    answer(call)
    const late = wallet.openPayments.owns('GET', '/alice')
    await called
    wallet.clock.advance(3_000)
    await expect(late).rejects.toThrow('the directory of wallet addresses')
    expect(faults()).toHaveLength(2)
  })
})

describe('a directory of wallet addresses that answers null', () => {
  it('has none: 404, and the path is the host’s own', async () => {
    const { wallet, answer, faults } = await walletWith()
    answer(() => null)
    for (const path of ['/alice', '/alice/jwks.json']) expect((await wallet.sendRaw(unsigned(path))).status).toBe(404)
    expect(await wallet.openPayments.owns('GET', '/alice')).toBe(false)
    expect(faults()).toEqual([])
  })

  it.each([null, undefined])('may leave what is optional %s, as a row of a database does', async (absent) => {
    const { wallet, answer, faults } = await walletWith()
    answer(() => ({ ...ROW, publicName: absent, keys: absent, isActive: absent, created_at: 'yesterday' }))
    const { body } = await wallet.sendRaw(unsigned('/alice'))
    expect(body).toEqual({ id: ALICE, assetCode: 'USD', assetScale: 2, authServer: AUTH, resourceServer: BASE })
    expect((await wallet.sendRaw(unsigned('/alice/jwks.json'))).body).toEqual({ keys: [] })
    expect(faults()).toEqual([])
  })
})

describe('a directory of wallet addresses with an answer that is none', () => {
  const NO_CODE = 'assetCode must be a string of 1 to 12 visible ASCII characters'
  const mistakes: readonly (readonly [unknown, string])[] = [
    ['alice', 'the answer must be an object, not "alice"'],
    [{ ...ROW, account: undefined }, 'account must be a string that is not empty, not undefined'],
    [{ ...ROW, account: '' }, 'account must be a string that is not empty, not ""'],
    [{ ...ROW, account: 7 }, 'account must be a string that is not empty, not 7'],
    [{ ...ROW, account: 'al\ud83d' }, 'account must hold no half of a surrogate pair, unlike "al\\ud83d"'],
    [{ ...ROW, assetCode: undefined }, `${NO_CODE}, not undefined`],
    [{ ...ROW, assetCode: 840 }, `${NO_CODE}, not 840`],
    [{ ...ROW, assetCode: '' }, `${NO_CODE}, not ""`],
    [{ ...ROW, assetCode: 'A'.repeat(13) }, `${NO_CODE}, not "AAAAAAAAAAAAA"`],
    [{ ...ROW, assetCode: 'EUR ' }, `${NO_CODE}, not "EUR "`],
    [{ ...ROW, assetCode: 'ÉUR' }, `${NO_CODE}, not "ÉUR"`],
    [{ ...ROW, assetScale: '2' }, 'assetScale must be an integer from 0 to 255, not "2"'],
    [{ ...ROW, assetScale: 0.5 }, 'assetScale must be an integer from 0 to 255, not 0.5'],
    [{ ...ROW, assetScale: -1 }, 'assetScale must be an integer from 0 to 255, not -1'],
    [{ ...ROW, assetScale: 256 }, 'assetScale must be an integer from 0 to 255, not 256'],
    [{ ...ROW, assetScale: null }, 'assetScale must be an integer from 0 to 255, not null'],
    [{ ...ROW, assetScale: true }, 'assetScale must be an integer from 0 to 255, not true'],
    [{ ...ROW, assetScale: [2] }, 'assetScale must be an integer from 0 to 255, not a list'],
    [{ ...ROW, publicName: 7 }, 'publicName must be a string, not 7'],
    [{ ...ROW, publicName: false }, 'publicName must be a string, not false'],
    [{ ...ROW, isActive: 0 }, 'isActive must be true or false, not 0'],
    [{ ...ROW, keys: '[]' }, 'keys must be a list'],
    [{ ...ROW, keys: '' }, 'keys must be a list'],
  ]

  it.each(mistakes)(
    'AMT-2 is a fault that names the wallet address and the member, and nobody is told: %j',
    async (given, why) => {
      const { wallet, answer, faults } = await walletWith()
      answer(() => given)
      const refused = await wallet.sendRaw(unsigned('/alice'))
      expect(refusalOf(refused)).toEqual(UNEXPECTED)
      expect(faults()).toMatchObject([
        {
          message: 'the directory of wallet addresses gave an invalid answer',
          cause: { message: `walletAddresses.find('${ALICE}'): ${why}` },
        },
      ])
      await expect(wallet.openPayments.owns('GET', '/alice')).rejects.toThrow()
    },
  )

  it('AMT-2 may have the longest code and the largest scale that a client can name', async () => {
    const { wallet, answer, faults } = await walletWith()
    const asset = { assetCode: '!'.repeat(12), assetScale: 255 }
    answer(() => ({ ...ROW, ...asset }))
    expect((await wallet.sendRaw(unsigned('/alice'))).body).toMatchObject(asset)
    expect(faults()).toEqual([])
  })

  it('makes nothing', async () => {
    const { wallet, answer, faults } = await walletWith()
    const request = await REQUESTS['create-incoming-payment']?.(wallet)
    answer((url) => (url === BOB ? { ...ROW, account: 'bob', assetScale: '2' } : wallet.directory.get(url)))
    expect(refusalOf(await (request?.() ?? expect.fail()))).toEqual(UNEXPECTED)
    expect(faults()).toHaveLength(1)
  })
})

describe('a directory of wallet addresses that answers', () => {
  it('WAS-2 to two spellings makes two wallet addresses, and who owns one cannot approve for the other', async () => {
    const { wallet, answer } = await walletWith()
    const upper = `${BASE}/Alice`
    const ask = () => requestConsent(wallet, [{ type: 'outgoing-payment', actions: ['read'], identifier: upper }])
    expect((await wallet.sendRaw(unsigned('/Alice'))).status).toBe(404)
    expect((await ask()).status).toBe(400)
    answer((url) => wallet.directory.get(url.toLowerCase()))
    expect((await wallet.sendRaw(unsigned('/Alice'))).body).toMatchObject({ id: upper })
    const opened = await wallet.openPayments.interactions.find(referenceOf(await ask()), OWNER)
    expect(opened).toEqual({ ok: false, reason: 'not_owner' })
  })
})
