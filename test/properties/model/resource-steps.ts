import { expect } from 'vitest'
import { lastSegment } from '../../support/last-segment.ts'
import { ALICE, AUTH, BASE, BOB, CAROL } from '../../support/test-wallet.ts'
import type { Bearer, Choice, CommandOf } from './commands.ts'
import { askGrant, getConsented } from './grant-steps.ts'
import { createPayment, listPayments, readPayment, readSpent } from './payments.ts'
import {
  completeIncoming,
  createIncoming,
  createQuote,
  isActive,
  listIncomings,
  readIncoming,
  readQuote,
  receiveTransfer,
} from './resources.ts'
import type { Caller } from './rights.ts'
import {
  type Entry,
  EUR,
  type Expected,
  type IncomingModel,
  money,
  ownerOf,
  type QuoteModel,
  type TokenModel,
  USD,
} from './state.ts'
import { callerOf, choose, isAptFor, type ModelWorld, urlOf } from './world.ts'

/** Who calls; where nobody could, a client is given what it needs first. */
async function callerFor(
  world: ModelWorld,
  bearer: Bearer,
  type: string,
  action: string,
  walletAddress?: string,
): Promise<Caller> {
  const isApt = isAptFor(nowOf(world), type, action, walletAddress)
  if (bearer.kind === 'apt' && !world.model.tokens.some(isApt)) {
    const owner = walletAddress !== undefined && ownerOf(walletAddress) !== undefined ? walletAddress : ALICE
    const consent = { client: bearer.pick % 2, form: true, interact: 'poll' } as const
    const actions = ['create', 'read', 'list', ...(type === 'incoming-payment' ? ['complete'] : [])]
    if (type === 'outgoing-payment')
      await getConsented(world, { ...consent, access: [{ type, actions, identifier: owner }] })
    else {
      const access = [{ type, actions: type === 'quote' ? ['create', 'read'] : actions }]
      const client = bearer.pick % 3
      await askGrant(world, {
        name: 'grant',
        client,
        signer: undefined,
        form: true,
        interact: 'none',
        subject: undefined,
        access,
      })
    }
  }
  return callerOf(world, bearer, type, action, walletAddress)
}

const nowOf = ({ wallet }: ModelWorld): number => wallet.clock.now()
const listUrl = (collection: string, walletAddress: string): string =>
  `${BASE}/${collection}?wallet-address=${encodeURIComponent(walletAddress)}&first=100`

export async function askIncoming(world: ModelWorld, command: CommandOf<'createIncoming'>): Promise<void> {
  const { walletAddress, amount, expiresIn, metadata } = command
  const caller = await callerFor(world, command.bearer, 'incoming-payment', 'create', walletAddress)
  const own = ownerOf(walletAddress)?.asset ?? USD
  const asset = command.isWrongAsset ? (own === USD ? EUR : USD) : own
  const ask = {
    walletAddress,
    ...(amount !== undefined && { incomingAmount: money(asset, BigInt(amount)) }),
    ...(expiresIn !== undefined && { expiresAt: new Date(nowOf(world) + expiresIn).toISOString() }),
    ...(metadata !== undefined && { metadata }),
  }
  const expected = createIncoming(world.model, nowOf(world), caller, ask)
  await world.expect(expected, caller, 'POST', `${BASE}/incoming-payments`, ask)
}

/** An incoming payment; where none can be paid, one is made first. */
async function incomingFor(world: ModelWorld, choice: Choice): Promise<IncomingModel | undefined> {
  const isApt = (incoming: IncomingModel): boolean => isActive(incoming, nowOf(world))
  if (choice.kind === 'apt' && !world.model.incomings.some(isApt)) {
    const { pick } = choice
    const [walletAddress, amount] = [pick % 3 === 2 ? CAROL : BOB, pick % 2 === 0 ? undefined : 3000]
    const none = { isWrongAsset: false, expiresIn: undefined, metadata: undefined }
    await askIncoming(world, { name: 'createIncoming', bearer: { kind: 'apt', pick }, walletAddress, amount, ...none })
  }
  return choose(world.model.incomings, choice, isApt)
}

export async function askIncomingAgain(world: ModelWorld, command: CommandOf<'readIncoming'>): Promise<void> {
  const incoming = await incomingFor(world, command.incoming)
  const caller = await callerFor(world, command.bearer, 'incoming-payment', 'read', incoming?.walletAddress)
  const expected = readIncoming(world.model, nowOf(world), caller, incoming)
  await world.expect(expected, caller, 'GET', urlOf(incoming, 'incoming-payments'))
}

export async function askIncomings(
  world: ModelWorld,
  { bearer, walletAddress }: CommandOf<'listIncomings'>,
): Promise<void> {
  const caller = await callerFor(world, bearer, 'incoming-payment', 'list', walletAddress)
  const expected = listIncomings(world.model, nowOf(world), caller, walletAddress)
  await world.expect(expected, caller, 'GET', listUrl('incoming-payments', walletAddress))
}

export async function askCompletion(world: ModelWorld, command: CommandOf<'complete'>): Promise<void> {
  const incoming = await incomingFor(world, command.incoming)
  const caller = await callerFor(world, command.bearer, 'incoming-payment', 'complete', incoming?.walletAddress)
  const expected = completeIncoming(world.model, nowOf(world), caller, incoming)
  await world.expect(expected, caller, 'POST', `${urlOf(incoming, 'incoming-payments')}/complete`)
}

/** A rail of the wallet's own reports money. */
export async function reportTransfer(world: ModelWorld, command: CommandOf<'receive'>): Promise<void> {
  const { model, wallet } = world
  const incoming = await incomingFor(world, command.incoming)
  const transfer = `transfer ${command.transfer}`
  const id = lastSegment(urlOf(incoming, 'incoming-payments'))
  const amount = { ...(incoming?.walletAddress === CAROL ? EUR : USD), value: BigInt(command.amount) }
  const received = await wallet.openPayments.incomingPayments.received(id, amount, transfer)
  expect(received).toEqual(receiveTransfer(model, nowOf(world), incoming, amount.value, transfer))
  await wallet.openPayments.drain()
}

export async function askQuote(world: ModelWorld, command: CommandOf<'createQuote'>): Promise<void> {
  const { walletAddress, debit } = command
  const receiver = await incomingFor(world, command.incoming)
  const receive = debit === undefined ? command.receive : undefined
  const caller = await callerFor(world, command.bearer, 'quote', 'create')
  const expected = createQuote(world.model, nowOf(world), caller, { walletAddress, receiver, debit, receive })
  await world.expect(expected, caller, 'POST', `${BASE}/quotes`, {
    walletAddress,
    receiver: urlOf(receiver, 'incoming-payments', command.incoming),
    method: 'ilp',
    ...(debit && { debitAmount: debit }),
    ...(receive && { receiveAmount: receive }),
  })
}

/** A quote; where none is open, one is asked for first. */
async function quoteFor(world: ModelWorld, choice: Choice): Promise<QuoteModel | undefined> {
  const isOpen = ({ isUsed, expiresAt }: QuoteModel): boolean => !isUsed && nowOf(world) < expiresAt
  if (choice.kind === 'apt' && !world.model.quotes.some(isOpen)) {
    const { pick } = choice
    const debit = money(USD, 100n + 150n * BigInt(pick))
    const ask = {
      bearer: { kind: 'apt', pick },
      walletAddress: ALICE,
      incoming: choice,
      debit,
      receive: undefined,
    } as const
    await askQuote(world, { name: 'createQuote', ...ask })
  }
  return choose(world.model.quotes, choice, isOpen)
}

export async function askQuoteAgain(world: ModelWorld, command: CommandOf<'readQuote'>): Promise<void> {
  const quote = await quoteFor(world, command.quote)
  const caller = await callerFor(world, command.bearer, 'quote', 'read')
  await world.expect(readQuote(world.model, nowOf(world), caller, quote), caller, 'GET', urlOf(quote, 'quotes'))
}

/** Which of two entries was charged last is told by the millisecond: no two payments share one here. */
async function requestPayment(world: ModelWorld, expected: Expected, caller: Caller, json: object): Promise<void> {
  await world.expect(expected, caller, 'POST', `${BASE}/outgoing-payments`, json)
  world.wallet.clock.advance(1)
}

/** The wallet opens or closes an account. */
export async function permit(
  { wallet, model }: ModelWorld,
  account: string,
  canSend: boolean,
  canReceive: boolean,
): Promise<void> {
  await wallet.ledger.setPermissions(account, { canSend, canReceive })
  const booked = model.accounts[account]
  if (booked !== undefined) Object.assign(booked, { canSend, canReceive })
}

export async function payQuote(world: ModelWorld, command: CommandOf<'payQuote'>): Promise<void> {
  const quote = await quoteFor(world, command.quote)
  const walletAddress = command.walletAddress ?? quote?.walletAddress ?? ALICE
  const caller = await callerFor(world, command.bearer, 'outgoing-payment', 'create', walletAddress)
  const closed = { payee: quote?.receiver.walletAddress, payer: walletAddress, none: undefined }[
    command.closed ?? 'none'
  ]
  const account = closed === undefined ? undefined : ownerOf(closed)?.account
  const before = account === undefined ? undefined : { ...world.model.accounts[account] }
  if (account !== undefined) await permit(world, account, false, false)
  const expected = createPayment(world.model, nowOf(world), caller, { walletAddress, from: { quote } })
  const json = { walletAddress, quoteId: urlOf(quote, 'quotes', command.quote) }
  await requestPayment(world, expected, caller, json)
  if (account !== undefined) await permit(world, account, before?.canSend === true, before?.canReceive === true)
}

export async function payIncoming(world: ModelWorld, command: CommandOf<'payIncoming'>): Promise<void> {
  const { walletAddress, debit } = command
  const incoming = await incomingFor(world, command.incoming)
  const caller = await callerFor(world, command.bearer, 'outgoing-payment', 'create', walletAddress)
  const metadata = { order: 7 }
  const ask = { walletAddress, metadata, from: { incoming, debit } }
  const expected = createPayment(world.model, nowOf(world), caller, ask)
  const receiver = urlOf(incoming, 'incoming-payments', command.incoming)
  const json = { walletAddress, metadata, incomingPayment: receiver, debitAmount: debit }
  await requestPayment(world, expected, caller, json)
}

export async function askPayment(world: ModelWorld, command: CommandOf<'readPayment'>): Promise<void> {
  const payment = choose(world.model.payments, command.payment, () => true)
  const caller = await callerFor(world, command.bearer, 'outgoing-payment', 'read', payment?.walletAddress)
  const expected = readPayment(world.model, nowOf(world), caller, payment)
  await world.expect(expected, caller, 'GET', urlOf(payment, 'outgoing-payments'))
}

export async function askPayments(
  world: ModelWorld,
  { bearer, walletAddress }: CommandOf<'listPayments'>,
): Promise<void> {
  const caller = await callerFor(world, bearer, 'outgoing-payment', 'list', walletAddress)
  const expected = listPayments(world.model, nowOf(world), caller, walletAddress)
  await world.expect(expected, caller, 'GET', listUrl('outgoing-payments', walletAddress))
}

export async function askSpent(world: ModelWorld, { bearer }: CommandOf<'readSpent'>): Promise<void> {
  const caller = await callerFor(world, bearer, 'outgoing-payment', 'create')
  await world.expect(readSpent(world.model, nowOf(world), caller), caller, 'GET', `${BASE}/outgoing-payment-grant`)
}

/** What anyone may read about a wallet address, under its own name and by query. */
export async function askDocuments(world: ModelWorld, { walletAddress }: CommandOf<'documents'>): Promise<void> {
  const owner = ownerOf(walletAddress)
  const { publicName } = world.wallet.directory.get(walletAddress) ?? {}
  const unknown = { status: 404, code: 'unknown_wallet_address' }
  const servers = { authServer: AUTH, resourceServer: BASE }
  const document = { id: walletAddress, ...(publicName !== undefined && { publicName }), ...owner?.asset, ...servers }
  const anyone = { presented: undefined, signer: 0 }
  const query = `wallet-address=${encodeURIComponent(walletAddress)}`
  const address = owner === undefined ? unknown : { status: 200, body: document }
  const keys = owner === undefined ? unknown : { status: 200, body: { keys: [] } }
  await world.expect(address, anyone, 'GET', walletAddress)
  await world.expect(address, anyone, 'GET', `${BASE}/wallet-address?${query}`)
  await world.expect(keys, anyone, 'GET', `${walletAddress}/jwks.json`)
  await world.expect(keys, anyone, 'GET', `${BASE}/wallet-address/keys?${query}`)
}

/** Pays receivers of several assets with one token, after each of which it asks what the grant has spent. */
export async function payInRow(world: ModelWorld, { pick, debits }: CommandOf<'payInRow'>): Promise<void> {
  const { tokens } = world.model
  const isSpender = ({ type }: Entry): boolean => type === 'outgoing-payment'
  const isApt = (token: TokenModel): boolean =>
    isAptFor(nowOf(world), 'outgoing-payment', 'create')(token) && token.grant.access.filter(isSpender).length > 1
  if (!tokens.some(isApt)) {
    const right = { type: 'outgoing-payment', actions: ['create', 'read'], identifier: ALICE }
    const small = { ...right, debitAmount: money(USD, 900n) }
    const access = [small, { ...right, receiveAmount: money(USD, 2500n) }]
    await getConsented(world, { client: pick % 2, form: true, interact: 'poll', access })
  }
  const token = choose(tokens.filter(isApt), { kind: 'any', pick }, isApt)
  if (token === undefined) return
  const bearer = { kind: 'any', pick: tokens.length - 1 - tokens.indexOf(token), signer: undefined } as const
  const walletAddress = token.grant.owner ?? ALICE
  for (const [index, value] of debits.entries()) {
    const incoming = { kind: 'apt', pick: index % 2 } as const
    await payIncoming(world, { name: 'payIncoming', bearer, walletAddress, incoming, debit: money(USD, BigInt(value)) })
    await askSpent(world, { name: 'readSpent', bearer })
  }
}
