import { expect } from 'vitest'
import { ALICE } from '../../support/test-wallet.ts'
import type { Bearer, CommandOf } from './commands.ts'
import {
  callCancel,
  callContinue,
  callRevoke,
  callRotate,
  getApproved,
  getConsented,
  isConsented,
  openInteraction,
  revokeAsOwner,
} from './grant-steps.ts'
import { endGrant, INTERACTION_MILLISECONDS } from './grants.ts'
import {
  askCompletion,
  askIncomingAgain,
  askQuoteAgain,
  askSpent,
  payIncoming,
  payQuote,
  reportTransfer,
} from './resource-steps.ts'
import { type GrantModel, type IncomingModel, money, type QuoteModel, type TokenModel, USD, windowOf } from './state.ts'
import { choose, isAptFor, type ModelWorld } from './world.ts'

const DAY = 86_400_000
const MINUTE = 60_000

/** Goes to a moment, unless it has passed. */
function goTo({ wallet }: ModelWorld, at: number | undefined): void {
  if (at !== undefined) wallet.clock.advance(Math.max(0, at - wallet.clock.now()))
}

/** The newest of those that are not over yet, after something has been done that there is one. */
async function present<T>(
  items: readonly T[],
  isApt: (item: T) => boolean,
  make: () => Promise<unknown>,
): Promise<T | undefined> {
  if (!items.some(isApt)) await make()
  return items.findLast(isApt)
}

/** Chooses one of a list, whatever it is fit for. */
const theOne = <T>(items: readonly T[], item: T) =>
  ({ kind: 'any', pick: items.length - 1 - items.indexOf(item), signer: undefined }) as const

const APT: Bearer = { kind: 'apt', pick: 0 }
const CALL = { signer: undefined, presented: 'own', reference: 'right', isPatient: false } as const
const ROTATION = { signer: undefined, isOther: false, hasBody: false } as const

/** Goes to where something ends, or almost, and asks what depends on it. */
export async function lookAtEnd(world: ModelWorld, { what, interact, late }: CommandOf<'atEndOf'>): Promise<void> {
  const { grants, tokens, quotes, incomings } = world.model
  const now = world.wallet.clock.now()
  const end = (at: number | undefined): void => goTo(world, at === undefined ? undefined : at + late)
  const access = [{ type: 'outgoing-payment', actions: ['create', 'read', 'list'], identifier: ALICE }]
  const consented = { client: 0, form: true, interact, access }
  switch (what) {
    case 'token': {
      const isUsed = ({ state, expiresAt }: TokenModel): boolean => state === 'active' && now < expiresAt
      const token = await present(tokens, isUsed, () => getConsented(world, consented))
      if (token === undefined) return
      end(token.expiresAt)
      return askSpent(world, { name: 'readSpent', bearer: theOne(tokens, token) })
    }
    case 'quote': {
      const isOpen = ({ isUsed, expiresAt }: QuoteModel): boolean => !isUsed && now < expiresAt
      const quote = await present(quotes, isOpen, () =>
        askQuoteAgain(world, { name: 'readQuote', bearer: APT, quote: { kind: 'apt', pick: 0 } }),
      )
      if (quote === undefined) return
      const { walletAddress, expiresAt } = quote
      if (!tokens.some(isAptFor(expiresAt + 1, 'outgoing-payment', 'create', walletAddress)))
        await getConsented(world, consented)
      end(expiresAt)
      return payQuote(world, {
        name: 'payQuote',
        bearer: APT,
        walletAddress: undefined,
        closed: undefined,
        quote: theOne(quotes, quote),
      })
    }
    case 'incoming': {
      const isOpen = ({ isCompleted, expiresAt }: IncomingModel): boolean => !isCompleted && now < expiresAt
      const incoming = await present(incomings, isOpen, () =>
        askIncomingAgain(world, { name: 'readIncoming', bearer: APT, incoming: { kind: 'apt', pick: 0 } }),
      )
      if (incoming === undefined) return
      end(incoming.expiresAt)
      const transfer = 100 + world.model.transfers.size
      await reportTransfer(world, { name: 'receive', incoming: theOne(incomings, incoming), amount: 1, transfer })
      return askCompletion(world, { name: 'complete', bearer: APT, incoming: theOne(incomings, incoming) })
    }
    case 'interaction':
    case 'continuation': {
      const isWaiting = ({ state, expiresAt }: GrantModel): boolean =>
        (state === 'approved' || state === 'pending') && now < expiresAt
      const grant = await present(grants, isWaiting, () => getApproved(world, consented))
      if (grant === undefined) return
      end(what === 'interaction' ? grant.expiresAt : grant.continueAfter)
      await openInteraction(world, {
        name: 'open',
        grant: theOne(grants.filter(isConsented), grant),
        session: 'session-1',
        isOwner: true,
      })
      return callContinue(world, { name: 'continue', grant: theOne(grants, grant), ...CALL })
    }
    case 'repeat': {
      const isFresh = ({ issuedAt = 0, owner }: GrantModel): boolean => owner !== undefined && now < issuedAt + MINUTE
      const grant = await present(grants, isFresh, () => getConsented(world, consented))
      if (grant === undefined) return
      end((grant.issuedAt ?? now) + MINUTE)
      return callContinue(world, { name: 'continue', grant: theOne(grants, grant), ...CALL })
    }
    case 'rotation': {
      await callRotate(world, { name: 'rotate', token: { kind: 'apt', pick: 0 }, ...ROTATION })
      const before = tokens.findLast(({ successor }) => successor !== undefined)
      if (before === undefined) return
      end(before.rotatedAt + MINUTE)
      return callRotate(world, { name: 'rotate', token: theOne(tokens, before), ...ROTATION })
    }
    case 'window':
      return payOverWindow(world, late)
  }
}

/** Ends a token or its grant, and then asks for everything that depends on them. */
export async function tryAfterEnd(world: ModelWorld, { token: choice, how }: CommandOf<'afterEnd'>): Promise<void> {
  const { tokens, grants } = world.model
  const token = choose(tokens, choice, ({ state }) => state === 'active')
  if (token === undefined) return
  const grant = theOne(grants, token.grant)
  const consented = theOne(grants.filter(isConsented), token.grant)
  for (const one of how) {
    if (one === 'rotate') await callRotate(world, { name: 'rotate', token: theOne(tokens, token), ...ROTATION })
    if (one === 'revoke')
      await callRevoke(world, { name: 'revoke', token: theOne(tokens, token), signer: undefined, isOther: false })
    if (one === 'cancel') await callCancel(world, { name: 'cancel', grant, signer: undefined, presented: 'own' })
    if (one === 'ownerRevokes' && isConsented(token.grant))
      await revokeAsOwner(world, { name: 'ownerRevokes', grant: consented, isOwner: true })
  }
  await askSpent(world, { name: 'readSpent', bearer: theOne(tokens, token) })
  await callContinue(world, { name: 'continue', grant, ...CALL })
  await callRotate(world, { name: 'rotate', token: theOne(tokens, token), ...ROTATION })
}

const INTERVAL = 'R/2026-03-01T12:00:00Z/PT10M'

/** Pays in one window of a limit and around its end. */
async function payOverWindow(world: ModelWorld, late: number): Promise<void> {
  const { tokens } = world.model
  const isWindowed = (token: TokenModel): boolean =>
    token.state === 'active' && token.grant.access.some((entry) => windowOf(entry, world.wallet.clock.now()))
  if (!tokens.some(isWindowed)) {
    const limits = { debitAmount: money(USD, 1000n), interval: INTERVAL }
    const access = [{ type: 'outgoing-payment', actions: ['create', 'read'], identifier: ALICE, ...limits }]
    await getConsented(world, { client: 0, form: true, interact: 'poll', access })
  }
  const token = tokens.findLast(isWindowed)
  if (token === undefined) return
  const bearer = { kind: 'any', pick: tokens.length - 1 - tokens.indexOf(token), signer: undefined } as const
  const incoming = { kind: 'apt', pick: 0 } as const
  const payment = { walletAddress: token.grant.owner ?? ALICE, incoming, debit: money(USD, 600n) }
  await payIncoming(world, { name: 'payIncoming', bearer, ...payment })
  const end = windowEnd(token, world.wallet.clock.now())
  goTo(world, end === undefined ? undefined : end + late)
  await askSpent(world, { name: 'readSpent', bearer })
  await payIncoming(world, { name: 'payIncoming', bearer, ...payment })
  await askSpent(world, { name: 'readSpent', bearer })
}

/** The next moment at which an entry of a token has another window, or none. */
function windowEnd({ grant }: TokenModel, now: number): number | undefined {
  const ends = grant.access.flatMap((entry) => {
    const here = windowOf(entry, now)
    const later = [...Array(60).keys()].map((minute) => (Math.floor(now / MINUTE) + minute + 1) * MINUTE)
    return later.find((at) => windowOf(entry, at) !== here) ?? []
  })
  return ends.length === 0 ? undefined : Math.min(...ends)
}

/** Forgets and ends what is over; what an answer says changes only where something is forgotten. */
export async function sweep({ model, wallet }: ModelWorld): Promise<void> {
  const now = wallet.clock.now()
  await wallet.openPayments.sweep()
  for (const quote of model.quotes) if (!quote.isUsed && quote.expiresAt + DAY <= now) quote.isForgotten = true
  for (const token of model.tokens) if (token.keptUntil <= now) token.isForgotten = true
  for (const grant of model.grants) {
    if (grant.createdAt + INTERACTION_MILLISECONDS + DAY <= now) grant.interaction = undefined
    if (grant.keptUntil <= now) grant.isForgotten = true
    else if ((grant.state === 'pending' || grant.state === 'approved') && grant.expiresAt <= now)
      endGrant(grant, now, 'over')
  }
}

/** Nothing is left to recover in a wallet whose ports never fail. */
export async function recover({ wallet }: ModelWorld): Promise<void> {
  expect(await wallet.openPayments.recover()).toBe(0)
}
