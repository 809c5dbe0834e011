import {
  ConfigurationError,
  createOpenPayments,
  isConfigurationError,
  type OpenPaymentsOptions,
} from 'open-payments-server'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { resolveSettings } from '../src/options.ts'
import { derivedSecrets } from '../src/runtime/derived-secrets.ts'
import { fakeRail } from './support/fake-rail.ts'
import { fakeRemoteReceivers } from './support/fake-remote-receivers.ts'
import { lastSegment } from './support/last-segment.ts'
import { cryptography, grantAtOnce, incomingPayment, testWallet } from './support/test-wallet.ts'

const SECRET = 'a secret of the tests, long enough to be one'

const RIGHT: OpenPaymentsOptions = {
  authServer: 'https://auth.wallet.example',
  resourceServer: 'https://wallet.example',
  secrets: [SECRET],
  storage: memoryStorage(),
  ledger: memoryLedger({ accounts: [] }),
  walletAddresses: { find: async () => undefined },
  consent: { respond: async () => ({ status: 200, headers: {} }) },
}

/** What `createOpenPayments` says of options that hold one mistake; a mistake is of no type that TypeScript admits. */
function refusalOf(change: Readonly<Record<string, unknown>>): string {
  try {
    createOpenPayments({ ...RIGHT, ...change } as OpenPaymentsOptions)
  } catch (error) {
    if (!isConfigurationError(error)) throw error
    expect(error).toMatchObject({ name: 'ConfigurationError' })
    return error.message
  }
  return 'accepted'
}

const settings = (part: string, members: unknown): Readonly<Record<string, unknown>> => ({
  settings: { [part]: members },
})
const policy = (name: string, value: unknown): Readonly<Record<string, unknown>> =>
  settings('policies', { [name]: value })

describe('the options', () => {
  it('are accepted where everything is right', () => {
    expect(refusalOf({})).toBe('accepted')
  })

  it.each(['authServer', 'resourceServer', 'walletAddressServer'])('%s is a URL written in its one way', (name) => {
    const refused: readonly (readonly [unknown, string])[] = [
      [7, 'must be an absolute URL'],
      ['', 'must be an absolute URL'],
      ['auth.wallet.example', 'must be an absolute URL'],
      ['/auth', 'must be an absolute URL'],
      ['https://wallet.example/', 'must not end with a slash'],
      ['https://WALLET.example', 'must be written as https://wallet.example'],
      ['https://wallet.example:443', 'must be written as https://wallet.example'],
      ['https://wallet.example?a=1', 'must be written as https://wallet.example'],
      ['https://wallet.example#a', 'must be written as https://wallet.example'],
      ['https://user:password@wallet.example', 'must be written as https://wallet.example'],
      ['http://wallet.example', 'must begin with https://'],
      ['http://localhost:3000', 'must begin with https://'],
      ['ftp://wallet.example', 'must begin with https://, not ftp: ('],
      ['ftp://wallet.example/', 'must begin with https://'],
      ['localhost:3000', 'must begin with https://, not localhost: ('],
      [null, 'must be an absolute URL, not null'],
    ]
    for (const [value, reason] of refused) {
      const message = refusalOf({ [name]: value })
      expect(message).toContain(name)
      expect(message).toContain(reason)
    }
  })

  it.each(['authServer', 'resourceServer'])('%s may have a path of plain segments', (name) => {
    expect(refusalOf({ [name]: 'https://wallet.example/open/payments' })).toBe('accepted')
    expect(refusalOf({ [name]: 'https://wallet.example/a/' })).toContain('must not end with a slash')
    expect(refusalOf({ [name]: 'https://wallet.example/a/../b' })).toContain(
      'must be written as https://wallet.example/b',
    )
    for (const path of [':id', 'a*', 'a+', '(a)', 'a?b']) {
      expect(refusalOf({ [name]: `https://wallet.example/${path}` })).toContain(name)
    }
  })

  it.each([
    ['authServer', 'https://wallet.example/op/incoming-payments', 'https://wallet.example/op'],
    ['authServer', 'https://auth.wallet.example/quotes/auth', 'https://wallet.example'],
    ['resourceServer', 'https://wallet.example/auth', 'https://wallet.example/auth/token'],
    ['resourceServer', 'https://wallet.example', 'https://wallet.example/interact/op'],
  ])('%s is not at an endpoint of the other server: %s, %s', (name, authServer, resourceServer) => {
    const endpoint = /incoming-payments|quotes|token|interact/
    const [segment] = endpoint.exec(name === 'authServer' ? authServer : resourceServer) ?? []
    const reason = `${name} must not be at an endpoint of the other server (${segment})`
    expect(refusalOf({ authServer, resourceServer })).toBe(reason)
    const beside = (url: string): string => url.replace(endpoint, '$&-of-ours')
    expect(refusalOf({ authServer: beside(authServer), resourceServer: beside(resourceServer) })).toBe('accepted')
  })

  it('authServer and resourceServer are required', () => {
    expect(refusalOf({ authServer: undefined })).toBe('authServer must be an absolute URL, not undefined')
    expect(refusalOf({ authServer: 'wallet.example/auth' })).toBe(
      'authServer must be an absolute URL, not "wallet.example/auth"',
    )
    expect(refusalOf({ resourceServer: undefined })).not.toBe('accepted')
  })

  it.each([
    [{ walletAddressServer: 'https://pay.wallet.example:8443' }],
    [{ walletAddressServer: 'https://pay.wallet.example.' }],
    [{ resourceServer: 'https://wallet.example:8443/op' }],
  ])('WAS-2 wallet addresses have no port and no final dot: %o', (options) => {
    expect(refusalOf(options)).toBe(
      'walletAddressServer (by default the origin of resourceServer) must have neither a port nor a final dot',
    )
    const policies = { loopbackHttp: true }
    expect(refusalOf({ walletAddressServer: 'https://localhost:8443', settings: { policies } })).toBe('accepted')
  })

  it('walletAddressServer is an origin; absent, that of resourceServer', () => {
    expect(refusalOf({ walletAddressServer: 'https://pay.wallet.example' })).toBe('accepted')
    expect(refusalOf({ walletAddressServer: 'https://wallet.example/pay' })).toContain(
      'walletAddressServer must be an origin',
    )
    expect(refusalOf({ resourceServer: 'https://wallet.example/open-payments' })).toBe('accepted')
  })

  it('WAS-2 http is for loopback names, where the policy allows it', () => {
    const allowed = policy('loopbackHttp', true)
    const at = (origin: string): string => refusalOf({ ...allowed, authServer: origin, resourceServer: origin })
    for (const origin of [
      'http://localhost:3000',
      'http://127.0.0.1:3000',
      'http://[::1]:3000',
      'http://auth.localhost',
    ])
      expect(at(origin)).toBe('accepted')
    expect(at('http://wallet.example')).toContain('must begin with https://')
    expect(at('http://127.0.0.2:3000')).toContain('must begin with https://')
  })

  it('secrets are long, different, and at least one', () => {
    const refused: readonly (readonly [unknown, string])[] = [
      [undefined, 'must be a list of at least one string'],
      [SECRET, 'must be a list of at least one string'],
      [[], 'must be a list of at least one string'],
      [['x'.repeat(31)], 'secrets[0] must be a string of at least 32 characters (31 given)'],
      [[SECRET, ''], 'secrets[1] must be a string of at least 32 characters (0 given)'],
      [[undefined], 'secrets[0] must be a string of at least 32 characters (undefined given)'],
      [[SECRET, 7], 'secrets[1] must be a string of at least 32 characters (number given)'],
      [[SECRET, SECRET], 'differ from each other'],
      [[`${SECRET}\n`], 'must not begin or end with white space'],
      [[SECRET, `\u{FEFF}${SECRET}`], 'must not begin or end with white space'],
    ]
    for (const [secrets, reason] of refused) {
      const message = refusalOf({ secrets })
      expect(message).toMatch(/^secrets/)
      expect(message).toContain(reason)
      expect(message).not.toContain(SECRET)
    }
    expect(refusalOf({ secrets: ['x'.repeat(32), SECRET] })).toBe('accepted')
  })

  it('TOK-10 secrets stay what they were, whatever becomes of the list', async () => {
    const secrets = [SECRET]
    const storage = memoryStorage()
    const wallet = await testWallet({ storage, secrets })
    // Before the first request, so that nothing has been derived yet.
    secrets.fill('')
    const granted = await grantAtOnce(wallet, [{ type: 'incoming-payment', actions: ['create'] }])
    const [grant] = await storage.get([{ kind: 'grant', id: lastSegment(granted.body.continue.uri) }])
    const { currentId } = derivedSecrets([SECRET], cryptography)
    expect(grant).toMatchObject({ value: { secretId: await currentId() } })
  })

  it('settings.policies and paymentMethods stay what they were, whatever becomes of their lists', async () => {
    const withoutInteraction: ('incoming-payment' | 'quote')[] = ['incoming-payment']
    const paymentMethods = [fakeRail()]
    const settings = { policies: { withoutInteraction } }
    const wallet = await testWallet({ paymentMethods, remoteReceivers: fakeRemoteReceivers(), settings })
    withoutInteraction.push('quote')
    paymentMethods.pop()
    const refused = await grantAtOnce(wallet, [{ type: 'quote', actions: ['create'] }])
    expect(refused.body.error.code).toBe('invalid_request')
    const { payment } = await incomingPayment(wallet)
    expect(payment.methods).toMatchObject([{ ilpAddress: expect.stringMatching(/^test\.wallet\./) }])
  })

  it.each(['storage', 'ledger', 'walletAddresses', 'consent'])('%s is required', (name) => {
    expect(refusalOf({ [name]: undefined })).toBe(`${name} is missing`)
    expect(refusalOf({ [name]: null })).toMatch(`${name} must be an object with `)
  })

  const ports: readonly (readonly [string, readonly string[]])[] = [
    ['storage', ['get', 'list', 'due', 'commit']],
    ['ledger', ['account', 'hold', 'settle', 'release', 'credit']],
    ['walletAddresses', ['find']],
    ['consent', ['respond']],
    ['pricing', ['price']],
    ['keyResolver', ['keySet', 'publicName']],
    ['remoteReceivers', ['find']],
    [
      'cryptography',
      ['randomBytes', 'sha256', 'sha512', 'hmacSha256', 'verifyEd25519', 'ed25519PublicKey', 'signEd25519'],
    ],
    ['clock', ['now', 'sleep']],
  ]
  it.each(ports)('%s has its functions', (name, methods) => {
    const whole = Object.fromEntries(methods.map((method) => [method, () => 0]))
    expect(refusalOf({ [name]: whole })).toBe('accepted')
    for (const method of methods) {
      expect(refusalOf({ [name]: { ...whole, [method]: undefined } })).toBe(`${name}.${method} must be a function`)
      expect(refusalOf({ [name]: { ...whole, [method]: 'x' } })).toBe(`${name}.${method} must be a function`)
    }
  })

  it('clock gives milliseconds', () => {
    let asked = 0
    const clockAt = (now: unknown): Readonly<Record<string, unknown>> => ({
      clock: {
        now: () => {
          asked += 1
          return now
        },
        sleep: async () => undefined,
      },
    })
    for (const now of [0, 1, 999_999_999, 100_000_000_000, Date.now()]) {
      asked = 0
      expect(refusalOf(clockAt(now))).toBe('accepted')
      expect(asked).toBe(1)
    }
    for (const now of [
      undefined,
      null,
      '1772366405000',
      new Date(),
      Promise.resolve(0),
      1.5,
      Number.NaN,
      0n,
      -1,
      2 ** 48,
    ])
      expect(refusalOf(clockAt(now))).toContain('clock.now() must give whole milliseconds since 1970')
    for (const now of [1_000_000_000, Math.floor(Date.now() / 1000), 99_999_999_999])
      expect(refusalOf(clockAt(now))).toBe('clock.now() must give milliseconds, not seconds')
  })

  it('an option that does not exist is a mistake', () => {
    expect(refusalOf({ authserver: 'https://wallet.example' })).toBe('options.authserver is not an option')
    expect(refusalOf(settings('policy', {}))).toBe('settings.policy is not an option')
    expect(refusalOf(settings('lifetimes', { tokenSeconds: 1 }))).toBe(
      'settings.lifetimes.tokenSeconds is not an option',
    )
    expect(refusalOf(settings('limits', { bytes: 1 }))).toBe('settings.limits.bytes is not an option')
    expect(refusalOf(policy('replays', 'all'))).toBe('settings.policies.replays is not an option')
  })

  const numbers: readonly (readonly [string, readonly string[]])[] = [
    [
      'lifetimes',
      [
        'accessTokenSeconds',
        'interactionSeconds',
        'quoteSeconds',
        'incomingPaymentSeconds',
        'continuationWaitSeconds',
        'signatureAgeSeconds',
        'signatureSkewSeconds',
      ],
    ],
    ['limits', ['bodyBytes', 'bodySeconds', 'holdSeconds', 'commitSeconds', 'leaseSeconds', 'createdPerHour']],
  ]
  it.each(numbers)('settings.%s are positive integers', (part, names) => {
    const least: Readonly<Record<string, number>> = { interactionSeconds: 6, leaseSeconds: 15 }
    for (const name of names) {
      expect(refusalOf(settings(part, { [name]: least[name] ?? 1 }))).toBe('accepted')
      for (const value of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, null]) {
        expect(refusalOf(settings(part, { [name]: value }))).toBe(
          `settings.${part}.${name} must be a positive integer, not ${value}`,
        )
      }
      expect(refusalOf(settings(part, { [name]: '600' }))).toBe(
        `settings.${part}.${name} must be a positive integer, not "600"`,
      )
    }
  })

  it('CON-3 GRT-17 settings.lifetimes.interactionSeconds outlasts the wait, or no grant could be continued', () => {
    const refusal = 'settings.lifetimes.interactionSeconds must be more than continuationWaitSeconds'
    expect(refusalOf(settings('lifetimes', { interactionSeconds: 5 }))).toBe(refusal)
    expect(refusalOf(settings('lifetimes', { continuationWaitSeconds: 600 }))).toBe(refusal)
    expect(refusalOf(settings('lifetimes', { continuationWaitSeconds: 599 }))).toBe('accepted')
    expect(refusalOf(settings('lifetimes', { interactionSeconds: 2, continuationWaitSeconds: 1 }))).toBe('accepted')
  })

  it('settings.limits.leaseSeconds outlasts what a worker asks the ledger under one lease', () => {
    expect(refusalOf(settings('limits', { leaseSeconds: 14 }))).toContain('at least five times holdSeconds')
    expect(refusalOf(settings('limits', { holdSeconds: 7 }))).toContain('at least five times holdSeconds')
    expect(refusalOf(settings('limits', { holdSeconds: 6 }))).toBe('accepted')
    expect(refusalOf(settings('limits', { holdSeconds: 7, leaseSeconds: 35 }))).toBe('accepted')
  })

  it('settings.limits.leaseSeconds outlasts the pauses between the records of a payment method', () => {
    const settings = (leaseSeconds: number) => ({ settings: { limits: { leaseSeconds, holdSeconds: 1 } } })
    expect(refusalOf({ ...settings(14), paymentMethods: [fakeRail()] })).toBe(
      'settings.limits.leaseSeconds must be at least 15 with a payment method',
    )
    expect(refusalOf({ ...settings(15), paymentMethods: [fakeRail()] })).toBe('accepted')
    expect(refusalOf({ ...settings(14), paymentMethods: [] })).toBe('accepted')
  })

  /** Those that are so low that nobody's milliseconds pass for seconds. */
  const MOST: Readonly<Record<string, number>> = {
    signatureAgeSeconds: 3600,
    signatureSkewSeconds: 3600,
    quoteSeconds: 86_400,
    leaseSeconds: 3600,
  }
  it.each(numbers)('settings.%s are times that a date and a timer have', (part, names) => {
    const bounded = ['holdSeconds', 'continuationWaitSeconds']
    for (const name of names.filter((one) => one.endsWith('Seconds') && !bounded.includes(one))) {
      const most = MOST[name] ?? (part === 'lifetimes' ? 3_155_760_000 : 86_400)
      expect(refusalOf(settings(part, { [name]: most }))).toBe('accepted')
      for (const value of [most + 1, Number.MAX_SAFE_INTEGER])
        expect(refusalOf(settings(part, { [name]: value }))).toBe(`settings.${part}.${name} must be at most ${most}`)
    }
    expect(refusalOf(settings('limits', { holdSeconds: 86_401 }))).toContain('holdSeconds must be at most 86400')
    expect(refusalOf(settings('lifetimes', { continuationWaitSeconds: 3_155_760_001 }))).toContain(
      'continuationWaitSeconds must be at most 3155760000',
    )
  })

  it('are an object, and none of them a promise or a function', () => {
    const others = [
      [undefined, 'undefined'],
      [null, 'null'],
      ['https://wallet.example', 'a string'],
      [[RIGHT], 'a list'],
    ] as const
    for (const [given, shown] of others)
      expect(() => createOpenPayments(...([given] as unknown as [OpenPaymentsOptions]))).toThrow(
        new ConfigurationError(`the argument of createOpenPayments must be an object, not ${shown}`),
      )
    for (const name of ['storage', 'ledger', 'walletAddresses', 'consent', 'pricing'])
      expect(refusalOf({ [name]: Promise.resolve({}) })).toBe(`${name} is a promise: await it`)
    expect(refusalOf({ walletAddresses: [] })).toBe('walletAddresses must be an object with find(), not a list')
    expect(refusalOf({ pricing: null })).toBe('pricing must be an object with price(), not null')
    const withPassword = 'postgres://wallet:secret@database/wallet'
    expect(refusalOf({ storage: withPassword })).toBe('storage must be an object with get(), not a string')
    for (const [name, method] of [
      ['storage', 'get'],
      ['walletAddresses', 'find'],
      ['pricing', 'price'],
    ] as const)
      expect(refusalOf({ [name]: () => ({}) })).toBe(
        `${name} is a function, not an object with ${method}(): if it makes one, call it`,
      )
  })

  it('settings are objects', () => {
    expect(refusalOf({ settings: null })).toBe('settings must be an object, not null')
    expect(refusalOf({ settings: { policies: null } })).toBe('settings.policies must be an object, not null')
    expect(refusalOf({ settings: { limits: [] } })).toBe('settings.limits must be an object, not a list')
  })

  it('may be read from getters and prototypes, as configuration classes have them', () => {
    class Chosen {
      get bodyBytes(): number {
        return 1000
      }
    }
    class Configuration {
      get limits(): object {
        return Object.create(new Chosen())
      }
    }
    const given = Object.create({ ...RIGHT, settings: new Configuration() })
    expect(resolveSettings(given).limits.bodyBytes).toBe(1000)
    expect(() => createOpenPayments(Object.create({ ...RIGHT, ledger: {} }))).toThrow('ledger.account must be')
  })

  it('are no promises, nor are the settings or their parts', () => {
    const promised = Promise.resolve({})
    expect(() => createOpenPayments(promised as unknown as OpenPaymentsOptions)).toThrow(
      new ConfigurationError('the argument of createOpenPayments is a promise: await it'),
    )
    expect(refusalOf({ settings: promised })).toBe('settings is a promise: await it')
    for (const part of ['lifetimes', 'limits', 'policies'])
      expect(refusalOf(settings(part, promised))).toBe(`settings.${part} is a promise: await it`)
  })

  it.each(['lifetimes', 'limits', 'policies'] as const)('undefined in settings.%s is the default', (part) => {
    const defaults = resolveSettings(RIGHT)[part]
    const names = [...Object.keys(defaults), ...(part === 'policies' ? ['clientWalletAddress'] : [])]
    const given = settings(part, Object.fromEntries(names.map((name) => [name, undefined])))
    expect(refusalOf(given)).toBe('accepted')
    expect(resolveSettings({ ...RIGHT, ...given })[part]).toStrictEqual(defaults)
  })

  it('onEvent and consent.failed are functions, and paymentMethods a list of payment methods', () => {
    expect(refusalOf({ onEvent: 'nope' })).toBe('onEvent must be a function')
    const { consent } = RIGHT
    expect(refusalOf({ consent: { ...consent, failed: 'x' } })).toBe('consent.failed must be a function')
    expect(refusalOf({ consent: { ...consent, failed: undefined } })).toBe('accepted')
    const { quote: _, ...withoutQuote } = fakeRail()
    for (const paymentMethods of ['nope', {}, [{}], null, [withoutQuote]])
      expect(refusalOf({ paymentMethods })).toBe('paymentMethods must be a list of payment methods')
    for (const type of [undefined, '', 7])
      expect(refusalOf({ paymentMethods: [{ ...fakeRail(), type }] })).toBe(
        "paymentMethods[0].type must be a string, such as 'ilp'",
      )
    expect(refusalOf({ paymentMethods: [fakeRail()] })).toBe('accepted')
    expect(refusalOf({ paymentMethods: [fakeRail(), fakeRail()] })).toBe('paymentMethods must be of one type each')
  })

  it('the endpoint of a payment method has a path of its own', () => {
    const at = (path: string, more: object = {}): string => {
      const endpoint = { path, handle: async () => ({ status: 200, headers: {} }) }
      return refusalOf({ paymentMethods: [{ ...fakeRail(), endpoint }], ...more })
    }
    for (const path of ['/ilp', '/rails/ilp', '/ilp.v4']) expect(at(path)).toBe('accepted')
    for (const path of ['', '/', 'ilp', '/ilp/', '/a b', '/ilp?a', '//ilp', '/:id'])
      expect(at(path)).toContain('invalid endpoint path')
    const taken = ['/quotes', '/incoming-payments/ilp', '/outgoing-payments', '/continue/1', '/interact/a/b', '/token']
    for (const path of taken) expect(at(path)).toContain('already in use')
    const onOneOrigin = { authServer: 'https://wallet.example/auth', resourceServer: 'https://wallet.example/op' }
    for (const path of ['/auth', '/auth/ilp', '/op/quotes/a']) expect(at(path, onOneOrigin)).toContain('already in use')
    for (const path of ['/quotes', '/op/ilp', '/authentic']) expect(at(path, onOneOrigin)).toBe('accepted')
  })

  it('settings.policies.clientWalletAddress is a wallet address of this server', () => {
    const name = 'clientWalletAddress'
    expect(refusalOf(policy(name, 'https://wallet.example/wallet'))).toBe('accepted')
    expect(refusalOf(policy(name, 'https://wallet.example/wallet/'))).toContain(
      'must be written as https://wallet.example/wallet',
    )
    for (const value of [
      '',
      7,
      null,
      'https://other.example/wallet',
      'https://wallet.example/quotes',
      'http://wallet.example/a',
    ])
      expect(refusalOf(policy(name, value))).toContain('must be a wallet address under https://wallet.example')
  })

  it('INT-6 settings.policies.finishSchemes lists app schemes, and no other', () => {
    expect(refusalOf(policy('finishSchemes', ['com.example.app']))).toBe('accepted')
    const refused = [
      'javascript',
      'JavaScript',
      'data',
      'file',
      'blob',
      'vbscript',
      'http',
      'https',
      'com.example:',
      '',
    ]
    for (const scheme of [...refused, null])
      expect(refusalOf(policy('finishSchemes', [scheme]))).toContain('finishSchemes must list app schemes')
    expect(refusalOf(policy('finishSchemes', 'com.example.app'))).toContain('finishSchemes must list app schemes')
    expect(refusalOf(policy('localIlpPrefix', null))).toContain('localIlpPrefix is not an ILP address prefix')
  })

  const choices: readonly (readonly [string, readonly unknown[]])[] = [
    ['signatureProfile', ['open-payments', 'gnap']],
    ['finishHashEncoding', ['auto', 'base64', 'base64url']],
    ['intervalCounting', ['additional', 'total']],
    ['finishOnDenial', ['result', 'gnap']],
    ['replay', ['payments', 'all']],
    ['keyBinding', ['client', 'key']],
    ['quoteBinding', ['walletAddress', 'client']],
    ['excessReceipt', ['accept', 'cap', 'refuse']],
    ['quoteAsUri', [true, false]],
    ['loopbackHttp', [true, false]],
  ]
  it.each(choices)('settings.policies.%s is one of its choices', (name, values) => {
    for (const value of values) expect(refusalOf(policy(name, value))).toBe('accepted')
    // An environment variable is always a text.
    for (const value of ['true', 1, null])
      expect(refusalOf(policy(name, value))).toBe(
        `settings.policies.${name} must be one of ${values.join(', ')}, not ${JSON.stringify(value)}`,
      )
  })

  const lists: readonly (readonly [string, readonly string[]])[] = [
    ['legacySignatureSyntax', ['php', 'rust']],
    ['withoutInteraction', ['incoming-payment', 'quote']],
  ]
  it.each(lists)('settings.policies.%s lists some of its choices', (name, members) => {
    for (const value of [[], [members[0]], members]) expect(refusalOf(policy(name, value))).toBe('accepted')
    for (const value of ['php', [...members, 'x'], [null], null]) {
      expect(refusalOf(policy(name, value))).toBe(`settings.policies.${name} may list ${members.join(', ')}`)
    }
  })

  it('settings.policies.exchangeToleranceBasisPoints is less than the whole', () => {
    const name = 'exchangeToleranceBasisPoints'
    for (const value of [0, 500, 9999]) expect(refusalOf(policy(name, value))).toBe('accepted')
    for (const value of [-1, 0.5, 10_000, Number.NaN, '500', 500n, null])
      expect(refusalOf(policy(name, value))).toBe(`settings.policies.${name} must be an integer from 0 to 9999`)
  })

  it('GRT-5 no policy lets money leave without its owner', () => {
    expect(refusalOf(policy('withoutInteraction', ['outgoing-payment']))).toContain('withoutInteraction may list')
  })

  it('settings.policies.localIlpPrefix is the beginning of an ILP address', () => {
    expect(refusalOf(policy('localIlpPrefix', 'test.wallet'))).toBe('accepted')
    for (const value of ['', 'wallet', 'test.', 'test.a b', 'test..a']) {
      expect(refusalOf(policy('localIlpPrefix', value))).toContain('localIlpPrefix is not an ILP address prefix')
    }
  })
})

describe('the settings', () => {
  it('T-37 SIG-18 EMB-1 EMB-2 GRT-17 CON-3 INC-2 default to what their documentation says', () => {
    const { lifetimes, limits } = resolveSettings(RIGHT)
    expect(lifetimes).toEqual({
      accessTokenSeconds: 600,
      interactionSeconds: 600,
      quoteSeconds: 300,
      incomingPaymentSeconds: 30 * 24 * 3600,
      continuationWaitSeconds: 5,
      signatureAgeSeconds: 300,
      signatureSkewSeconds: 60,
    })
    expect(limits).toEqual({
      bodyBytes: 65_536,
      bodySeconds: 10,
      holdSeconds: 3,
      commitSeconds: 3,
      leaseSeconds: 30,
      createdPerHour: 100_000,
    })
  })
})
