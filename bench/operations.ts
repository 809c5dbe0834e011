import { spendingOf, usd } from './grant-all.ts'
import { pick, plainBytes, signedBytes, type Target } from './requests.ts'
import { AUTH, BASE, PAYERS, type Tokens } from './wallet.ts'

/** The bodies of what was asked before a request, the latest first. */
type Answers = readonly string[]

/** An operation of the server, as the load sends it. */
export interface Operation {
  readonly name: string
  readonly status: number
  /** Whether it makes something durable; the floor stores a row then. */
  readonly stores: boolean
  /** How many are sent in a pass, 32 at a time. */
  readonly requests: number
  /** The operation that is asked first, once for each request; its answers are used up. It may have one before it, too. */
  readonly after?: string
  /** How long a client has to wait after that. */
  readonly waitMilliseconds?: number
  /** The bytes of one request. */
  request(target: Target, index: number, answers: Answers): Promise<Buffer>
}

const create = (path: string, token: string, target: Target, json: unknown): Promise<Buffer> =>
  signedBytes(target, { method: 'POST', url: `${BASE}/${path}`, token, json })

const pay = (tokens: readonly string[], payer: number, target: Target, index: number): Promise<Buffer> =>
  create('outgoing-payments', pick(tokens, payer), target, {
    walletAddress: `${BASE}/p${payer}`,
    incomingPayment: pick(target.incoming, index),
    debitAmount: usd('1'),
    metadata: { order: String(target.next()) },
  })

const requestGrant = (target: Target, client: unknown, access: object, interact?: object): Promise<Buffer> =>
  signedBytes(target, {
    method: 'POST',
    url: `${AUTH}/`,
    json: { access_token: { access: [access] }, client, ...(interact && { interact }) },
  })

const list = (path: string, { tokens }: Target, token: (tokens: Tokens) => string, owner: string): Asked => ({
  method: 'GET',
  url: `${BASE}/${path}?wallet-address=${encodeURIComponent(`${BASE}/${owner}`)}&first=10`,
  token: token(tokens),
})

type Asked = Parameters<typeof signedBytes>[1]

const idOf = ([answer = '']: Answers): string => JSON.parse(answer).id

const manageToken = (method: 'POST' | 'DELETE', target: Target, [answer = '']: Answers): Promise<Buffer> => {
  const { manage, value } = JSON.parse(answer).access_token
  return signedBytes(target, { method, url: manage, token: value })
}

const continueGrant = (method: 'POST' | 'DELETE', target: Target, answer = '', json?: object): Promise<Buffer> => {
  const { uri, access_token } = JSON.parse(answer).continue
  return signedBytes(target, { method, url: uri, token: access_token.value, ...(json && { json }) })
}

const read = { status: 200, stores: false, requests: 4000 } as const
const write = { status: 201, stores: true, requests: 2800 } as const

/** What is measured. */
export const OPERATIONS: readonly Operation[] = [
  { name: 'get-wallet-address', ...read, requests: 8000, request: async () => plainBytes(`${BASE}/shop`) },
  {
    name: 'get-wallet-address-keys',
    ...read,
    requests: 8000,
    request: async () => plainBytes(`${BASE}/shop/jwks.json`),
  },
  {
    name: 'get-incoming-payment, public',
    ...read,
    requests: 8000,
    request: async ({ incoming }, index) => plainBytes(pick(incoming, index)),
  },
  {
    name: 'post-request, by wallet address',
    ...write,
    status: 200,
    request: (target) =>
      requestGrant(target, `${BASE}/shop`, { type: 'incoming-payment', actions: ['create', 'read'] }),
  },
  {
    name: 'post-request, by key',
    ...write,
    status: 200,
    request: (target) =>
      requestGrant(target, { jwk: target.key.jwk }, { type: 'incoming-payment', actions: ['create', 'read'] }),
  },
  {
    name: 'post-token',
    ...write,
    status: 200,
    after: 'post-request, by wallet address',
    request: (target, _index, answers) => manageToken('POST', target, answers),
  },
  {
    name: 'delete-token',
    ...write,
    status: 204,
    after: 'post-request, by wallet address',
    request: (target, _index, answers) => manageToken('DELETE', target, answers),
  },
  {
    name: 'post-request, with interaction',
    ...write,
    status: 200,
    request: (target, index) => {
      const finish = { method: 'redirect', uri: `${BASE}/shop/thanks`, nonce: String(target.next()) }
      const limits = { limits: { debitAmount: usd('1000') } }
      return requestGrant(target, `${BASE}/shop`, spendingOf(index % PAYERS, limits), { start: ['redirect'], finish })
    },
  },
  {
    name: 'interact, approved',
    ...write,
    status: 200,
    after: 'post-request, with interaction',
    request: async (_target, _index, [answer = '']) => plainBytes(JSON.parse(answer).interact.redirect),
  },
  {
    name: 'post-continue',
    ...write,
    status: 200,
    after: 'interact, approved',
    waitMilliseconds: 1000,
    request: (target, _index, [redirect = '', answer]) => {
      const reference = new URL(redirect).searchParams.get('interact_ref')
      return continueGrant('POST', target, answer, { interact_ref: reference })
    },
  },
  {
    name: 'delete-continue',
    ...write,
    status: 204,
    after: 'post-request, with interaction',
    request: (target, _index, [answer]) => continueGrant('DELETE', target, answer),
  },
  {
    name: 'create-incoming-payment',
    ...write,
    request: (target) =>
      create('incoming-payments', target.tokens.receiving, target, {
        walletAddress: `${BASE}/shop`,
        incomingAmount: usd('1000000'),
        metadata: { order: String(target.next()) },
      }),
  },
  {
    name: 'get-incoming-payment',
    ...read,
    request: (target, index) =>
      signedBytes(target, { method: 'GET', url: pick(target.incoming, index), token: target.tokens.receiving }),
  },
  {
    name: 'list-incoming-payments, 10',
    ...read,
    requests: 2800,
    request: (target) =>
      signedBytes(
        target,
        list('incoming-payments', target, ({ receiving }) => receiving, 'shop'),
      ),
  },
  {
    name: 'complete-incoming-payment',
    ...write,
    status: 200,
    after: 'create-incoming-payment',
    request: (target, _index, answers) => {
      const url = `${idOf(answers)}/complete`
      return signedBytes(target, { method: 'POST', url, token: target.tokens.receiving })
    },
  },
  {
    name: 'create-quote',
    ...write,
    request: (target, index) =>
      create('quotes', target.tokens.quoting, target, {
        walletAddress: `${BASE}/p${index % PAYERS}`,
        receiver: pick(target.incoming, index),
        method: 'ilp',
        debitAmount: usd('1'),
      }),
  },
  {
    name: 'get-quote',
    ...read,
    after: 'create-quote',
    request: (target, _index, answers) =>
      signedBytes(target, { method: 'GET', url: idOf(answers), token: target.tokens.quoting }),
  },
  {
    name: 'create-outgoing-payment, no limits',
    ...write,
    request: (target, index) => pay(target.tokens.spending, index % PAYERS, target, index),
  },
  {
    name: 'create-outgoing-payment, debit limit, many grants',
    ...write,
    request: (target, index) => pay(target.tokens.limited, index % PAYERS, target, index),
  },
  {
    name: 'create-outgoing-payment, debit limit, one grant',
    ...write,
    request: (target, index) => pay(target.tokens.limited, 0, target, index),
  },
  {
    name: 'get-outgoing-payment',
    ...read,
    after: 'create-outgoing-payment, no limits',
    request: (target, index, answers) =>
      signedBytes(target, { method: 'GET', url: idOf(answers), token: pick(target.tokens.spending, index % PAYERS) }),
  },
  {
    name: 'list-outgoing-payments, 10',
    ...read,
    requests: 2800,
    request: (target) =>
      signedBytes(
        target,
        list('outgoing-payments', target, ({ limited }) => pick(limited, 0), 'p0'),
      ),
  },
  {
    name: 'get-outgoing-payment-grant',
    ...read,
    request: (target) =>
      signedBytes(target, {
        method: 'GET',
        url: `${BASE}/outgoing-payment-grant`,
        token: pick(target.tokens.limited, 0),
      }),
  },
]

/** The operations that a command line names: by parts of names, with `;` between them. Nothing names all. */
export function operationsNamed(only: string): readonly Operation[] {
  return OPERATIONS.filter(({ name }) => only.split(';').some((part) => name.includes(part)))
}

/** An operation by its name. */
export function operationOf(name: string): Operation {
  const found = OPERATIONS.find((operation) => operation.name === name)
  if (found === undefined) throw new Error(`there is no operation ${name}`)
  return found
}
