import { expect } from 'vitest'
import { lastSegment } from '../../support/last-segment.ts'
import { ALICE, AUTH, BASE, BOB, CAROL, FINISH } from '../../support/test-wallet.ts'
import type { CommandOf, EntryChoice } from './commands.ts'
import { type Browser, decideGrant, learnRedirect, refuseBrowser } from './consent.ts'
import { cancelGrant, continueGrant, endGrant, requestGrant, revokeToken, rotateToken } from './grants.ts'
import type { Entry, GrantModel, TokenModel } from './state.ts'
import { choose, type ModelWorld } from './world.ts'

const NOBODY = '0'.repeat(32)
const HERE = [ALICE, BOB, CAROL]
/** Whether somebody's consent was asked for. */
export const isConsented = ({ redirect }: GrantModel): boolean => redirect !== ''

function entryOf(
  { model }: ModelWorld,
  { receiver, interval, debitAmount, receiveAmount, ...entry }: EntryChoice,
): Entry {
  const incoming = receiver === undefined ? undefined : model.incomings.at(-1 - receiver)
  const limits = {
    ...(incoming && { receiver: incoming.url }),
    ...(interval !== undefined && { interval }),
    ...(debitAmount && { debitAmount }),
    ...(receiveAmount && { receiveAmount }),
  }
  const { type, actions, identifier } = entry
  return {
    type,
    actions,
    ...(identifier !== undefined && { identifier }),
    ...(Object.keys(limits).length > 0 && { limits }),
  }
}

export async function askGrant(world: ModelWorld, ask: CommandOf<'grant'>): Promise<void> {
  const { model, wallet, clients } = world
  const { client, form, interact, subject } = ask
  const access = ask.access.map((entry) => entryOf(world, entry))
  const signer = ask.signer ?? client
  const expected = requestGrant(model, wallet.clock.now(), { client, signer, access, interact, subject })
  const named = clients[client]?.client
  await world.expect(expected, { presented: undefined, signer }, 'POST', `${AUTH}/`, {
    client: form && typeof named === 'string' ? { walletAddress: named } : named,
    ...((access.length > 0 || subject === undefined) && { access_token: { access } }),
    ...(subject !== undefined && { subject: { sub_ids: [{ id: subject, format: 'uri' }] } }),
    ...(interact !== 'none' && { interact: { start: ['redirect'], ...(interact === 'finish' && { finish: FINISH }) } }),
  })
}

type Consented = Omit<CommandOf<'consented'>, 'name'>

/** Asks for a grant with consent, which its owner gives; a refusal of any step ends it there. */
export async function getApproved(world: ModelWorld, { client, form, access, interact }: Consented): Promise<boolean> {
  const { length } = world.model.grants
  const ask = { client, signer: undefined, form, access, interact, subject: undefined }
  await askGrant(world, { name: 'grant', ...ask })
  if (world.model.grants.length === length) return false
  const browser = { grant: NEWEST, session: 'session-1', isOwner: true } as const
  await openInteraction(world, { name: 'open', ...browser })
  await decideInteraction(world, { name: 'decide', ...browser, isBound: true, isApproved: true })
  return true
}

const NEWEST = { kind: 'any', pick: 0 } as const

/** The same, and the client comes back for its token. */
export async function getConsented(world: ModelWorld, consented: Consented): Promise<void> {
  if (!(await getApproved(world, consented))) return
  const call = { signer: undefined, presented: 'own', reference: 'right', isPatient: true } as const
  await callContinue(world, { name: 'continue', grant: NEWEST, ...call })
}

/** Guesses the reference of a finish redirect, again and again. */
export async function guessReference(world: ModelWorld, { grant: choice, times }: CommandOf<'guess'>): Promise<void> {
  const grant = choose(world.model.grants, choice, ({ state, hasFinish }) => hasFinish && isWaiting({ state }))
  if (grant === undefined) return
  const at = { kind: 'any', pick: world.model.grants.length - 1 - world.model.grants.indexOf(grant) } as const
  const call = { signer: undefined, presented: 'own', isPatient: true } as const
  for (let time = 0; time < times; time++)
    await callContinue(world, { name: 'continue', grant: at, ...call, reference: 'wrong' })
  await callContinue(world, { name: 'continue', grant: at, ...call, reference: 'right' })
}

function browserOf({ owner = '' }: GrantModel, session: string, isOwner: boolean): Browser {
  return { session, walletAddresses: isOwner ? [owner] : HERE.filter((one) => one !== owner) }
}

const referenceOf = (grant: GrantModel | undefined): string => grant?.redirect.split('/').at(-1) ?? NOBODY

export async function openInteraction(
  world: ModelWorld,
  { grant: choice, session, isOwner }: CommandOf<'open'>,
): Promise<void> {
  const { model, wallet } = world
  const grant = choose(model.grants.filter(isConsented), choice, ({ state }) => state === 'pending')
  const browser = grant === undefined ? { session, walletAddresses: HERE } : browserOf(grant, session, isOwner)
  const opened = await wallet.openPayments.interactions.find(referenceOf(grant), browser)
  const reason = grant === undefined ? 'unknown' : refuseBrowser(grant, wallet.clock.now(), browser)
  if (grant === undefined || reason !== undefined) {
    expect(opened).toEqual({ ok: false, reason })
    return
  }
  expect(opened.ok && opened.consent).toMatchObject({
    walletAddress: grant.owner,
    access: grant.asked.map((access) => ({ access })),
    subject: grant.subject,
    ...(grant.hasFinish && { finishHost: 'shop.example' }),
  })
  grant.interaction = 'opened'
  grant.session = session
  grant.csrf = opened.ok ? opened.csrf : undefined
}

export async function decideInteraction(world: ModelWorld, command: CommandOf<'decide'>): Promise<void> {
  const { model, wallet } = world
  const { session, isOwner, isApproved } = command
  const grant = choose(model.grants.filter(isConsented), command.grant, ({ interaction }) => interaction === 'opened')
  const browser = grant === undefined ? { session, walletAddresses: HERE } : browserOf(grant, session, isOwner)
  const decider = { ...browser, csrf: (command.isBound ? grant?.csrf : undefined) ?? 'guessed', access: 'all' } as const
  const decided = await wallet.openPayments.interactions[isApproved ? 'approve' : 'deny'](referenceOf(grant), decider)
  const reason = grant === undefined ? 'unknown' : decideGrant(grant, wallet.clock.now(), { ...decider, isApproved })
  if (grant === undefined || reason !== undefined) expect(decided).toEqual({ ok: false, reason })
  else {
    expect(decided.ok).toBe(true)
    learnRedirect(grant, decided, isApproved)
  }
}

const isWaiting = ({ state }: Pick<GrantModel, 'state'>): boolean => state === 'pending' || state === 'approved'
const continueUri = (grant: GrantModel | undefined): string => grant?.continueUri ?? `${AUTH}/continue/${NOBODY}`

export async function callContinue(world: ModelWorld, command: CommandOf<'continue'>): Promise<void> {
  const { model, wallet } = world
  const grant = choose(model.grants, command.grant, isWaiting)
  const other = model.grants.findLast((one) => one !== grant)
  if (command.isPatient && grant !== undefined && isWaiting(grant))
    wallet.clock.advance(Math.max(0, grant.continueAfter - wallet.clock.now()))
  const presented = {
    own: grant?.continueToken,
    other: other?.continueToken,
    'access token': model.tokens.at(-1)?.value,
  }[command.presented]
  const reference = {
    none: undefined,
    right: grant?.hasFinish ? (grant.interactRef ?? 'guessed') : undefined,
    wrong: 'guessed',
    other: other?.interactRef ?? 'guessed',
  }[command.reference]
  const call = { presented: presented ?? 'guessed', signer: command.signer ?? grant?.client ?? 0 }
  const expected = continueGrant(model, wallet.clock.now(), grant, { ...call, reference })
  const json = reference === undefined ? undefined : { interact_ref: reference }
  await world.expect(expected, call, 'POST', continueUri(grant), json)
}

export async function callCancel(world: ModelWorld, command: CommandOf<'cancel'>): Promise<void> {
  const { model, wallet } = world
  const grant = choose(model.grants, command.grant, ({ state }) => state !== 'over')
  const other = model.grants.findLast((one) => one !== grant)
  const presented = (command.presented === 'own' ? grant : other)?.continueToken ?? 'guessed'
  const call = { presented, signer: command.signer ?? grant?.client ?? 0 }
  await world.expect(cancelGrant(wallet.clock.now(), grant, call), call, 'DELETE', continueUri(grant))
}

const manageUri = (token: TokenModel | undefined): string => token?.manage ?? `${AUTH}/token/${NOBODY}`

function managedBy({ model }: ModelWorld, command: CommandOf<'rotate'> | CommandOf<'revoke'>) {
  const token = choose(
    model.tokens,
    command.token,
    ({ state, grant }) => state === 'active' && grant.state === 'issued',
  )
  const other = model.tokens.findLast((one) => one !== token)
  const presented = (command.isOther ? other : token)?.value ?? 'guessed'
  return { token, call: { presented, signer: command.signer ?? token?.grant.client ?? 0 } }
}

export async function callRotate(world: ModelWorld, command: CommandOf<'rotate'>): Promise<void> {
  const { token, call } = managedBy(world, command)
  const { hasBody } = command
  const expected = rotateToken(world.model, world.wallet.clock.now(), token, { ...call, hasBody })
  await world.expect(expected, call, 'POST', manageUri(token), hasBody ? { key: 'another' } : undefined)
}

export async function callRevoke(world: ModelWorld, command: CommandOf<'revoke'>): Promise<void> {
  const { token, call } = managedBy(world, command)
  await world.expect(revokeToken(world.wallet.clock.now(), token, call), call, 'DELETE', manageUri(token))
}

const grantId = ({ continueUri: uri }: GrantModel): string => lastSegment(uri)

/** The owner of a wallet address, or of another one, ends a grant. */
export async function revokeAsOwner({ model, wallet }: ModelWorld, command: CommandOf<'ownerRevokes'>): Promise<void> {
  const grant = choose(model.grants.filter(isConsented), command.grant, ({ state }) => state === 'issued')
  const owner = command.isOwner ? (grant?.owner ?? ALICE) : `${BASE}/client`
  const revoked = await wallet.openPayments.grants.revoke(owner, grant === undefined ? NOBODY : grantId(grant))
  const isLive = grant !== undefined && !grant.isForgotten && grant.state !== 'over' && grant.state !== 'rejected'
  expect(revoked).toBe(isLive && command.isOwner)
  if (isLive && command.isOwner) endGrant(grant, wallet.clock.now(), 'over')
}

/** What the owner of a wallet address has granted and is still live. */
export async function listAsOwner(
  { model, wallet, clients }: ModelWorld,
  { walletAddress }: CommandOf<'ownerLists'>,
): Promise<void> {
  const listed = await wallet.openPayments.grants.list(walletAddress)
  const live = model.grants
    .filter(({ owner, state, access }) => owner === walletAddress && state === 'issued' && access.length > 0)
    .sort((a, b) => b.createdAt - a.createdAt || (grantId(a) < grantId(b) ? 1 : -1))
    .map((grant) => ({
      id: grantId(grant),
      client: clients[grant.client]?.client,
      access: grant.access,
      issuedAt: grant.issuedAt,
    }))
  expect(listed).toEqual(live)
}
