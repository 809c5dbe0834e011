import type {
  Approver,
  DecidedInteraction,
  Decider,
  InteractionRefusal,
  Interactions,
  OpenedInteraction,
  ResourceOwner,
} from '../ports/consent.ts'
import type { Context } from '../ports/context.ts'
import type { StoredRecord } from '../ports/storage.ts'
import type { WalletAddress } from '../ports/wallet-addresses.ts'
import { type Access, refuseLimits } from '../protocol/access.ts'
import { isEqualDigest, toUtf8 } from '../protocol/bytes.ts'
import { encodeFinishHash, finishHashInput, finishRedirect } from '../protocol/finish.ts'
import { type Finish, finaliseGrant, type Grant } from '../protocol/grant.ts'
import { parseGrantedAccess } from '../protocol/granted-access.ts'
import type { Interaction } from '../protocol/interaction.ts'
import { shownValue } from '../protocol/shown-value.ts'
import { parseUrl } from '../protocol/url.ts'
import { canonicalWalletAddress } from '../protocol/wallet-address.ts'
import { decide } from '../records/decide.ts'
import { endGrantChange } from '../records/end-grant.ts'
import { readRecord } from '../records/read-record.ts'
import { tellOtherAccount } from '../records/tell-other-account.ts'
import { consentData } from './consent-data.ts'

/** The interactions of a server, for the wallet's consent screen. */
export function createInteractions(context: Context): Interactions {
  return {
    find: (reference, owner) => openInteraction(context, reference, owner),
    approve: (reference, approver) =>
      decideInteraction(context, reference, approver, (grant, owned) => approveGrant(context, grant, owned, approver)),
    deny: (reference, decider) => decideInteraction(context, reference, decider, (grant) => denyGrant(context, grant)),
  }
}

/** Says *of a person*, since there is an option called `walletAddresses`, too. */
const NO_LIST = 'the walletAddresses of a person must be a list of URLs'

interface Found {
  readonly ok: true
  readonly interaction: StoredRecord<'interaction'>
  readonly grant: StoredRecord<'grant'>
  readonly walletAddress: string
  readonly sessionHash: string
}

/**
 * Reads an interaction that can still be decided, by its owner, and in this session unless none is bound to it yet.
 * @spec INT-3 @spec INT-4
 */
async function findOpen(
  context: Context,
  reference: string,
  owner: ResourceOwner,
): Promise<Found | { readonly ok: false; readonly reason: InteractionRefusal }> {
  requireText('reference', reference)
  // A string has `includes`, too: it would count as owning every address that it contains.
  if (!Array.isArray(owner?.walletAddresses)) throw new TypeError(NO_LIST)
  const { session, walletAddresses } = owner
  const owned = walletAddresses.map((text) => readOwned(context, text))
  if (typeof session !== 'string' || session === '')
    throw new TypeError('the session of a person must be a non-empty string: it binds the decision to one browser')
  const interaction = await readRecord(context.storage, 'interaction', await context.secrets.digest(reference))
  if (interaction === undefined) return { ok: false, reason: 'unknown' }
  const { state, expiresAt, grantId, sessionHash: bound } = interaction.value
  if (state === 'approved' || state === 'denied') return { ok: false, reason: 'used' }
  if (context.clock.now() >= expiresAt) return { ok: false, reason: 'expired' }
  const grant = await readRecord(context.storage, 'grant', grantId)
  const walletAddress = grant?.value.walletAddress
  if (grant === undefined || walletAddress === undefined) return { ok: false, reason: 'unknown' }
  if (grant.value.state !== 'pending') return { ok: false, reason: isDecided(grant.value) ? 'used' : 'unknown' }
  // Checked before the session is bound: somebody who is logged in to the wrong account must not lock the owner out.
  if (!owned.includes(walletAddress)) return { ok: false, reason: 'not_owner' }
  const sessionHash = await context.secrets.digest(session)
  if (bound !== undefined && !isEqualDigest(bound, sessionHash)) return { ok: false, reason: 'other_session' }
  return { ok: true, interaction, grant, walletAddress, sessionHash }
}

/**
 * A person's wallet address in its canonical form; `undefined` if no server of this library can have it. Throws if it is no
 * URL: the name of an account, say, would make its owner look like a stranger.
 */
function readOwned({ policies }: Context, text: unknown): string | undefined {
  if (typeof text !== 'string') throw new TypeError(NO_LIST)
  if (parseUrl(text) === undefined) throw new TypeError(`${NO_LIST}, not ${text}`)
  return canonicalWalletAddress(text, policies)
}

/** Requires a text of a wallet in plain JavaScript, where a misspelt member gives undefined. */
function requireText(name: string, value: unknown): void {
  if (typeof value !== 'string') throw new TypeError(`${name} must be a string, not ${shownValue(value)}`)
}

/** Whether a decision was taken, perhaps since the interaction was read; if not, the grant was cancelled. */
function isDecided({ state, finalisation }: Grant): boolean {
  return state !== 'finalised' || finalisation === 'rejected'
}

/** Opens an interaction. Only the first session that opens it may decide it. @spec INT-10 @spec INT-12 */
async function openInteraction(context: Context, reference: string, owner: ResourceOwner): Promise<OpenedInteraction> {
  return decide<OpenedInteraction>(context, async () => {
    const found = await findOpen(context, reference, owner)
    if (!found.ok) return { answer: found }
    const { interaction, grant, sessionHash } = found
    const consent = consentData(context, grant.value, interaction.value, found.walletAddress)
    const consentHash = await context.secrets.digest(JSON.stringify(consent))
    const opened: Interaction = { ...interaction.value, state: 'opened', sessionHash, consentHash }
    const answer: OpenedInteraction = { ok: true, consent, csrf: await csrfOf(context, grant.value, opened) }
    if (interaction.value.consentHash === consentHash) return { answer }
    return { changes: [{ ...interaction, action: 'replace', value: opened }], answer }
  })
}

/** The anti-CSRF value. Bound to what was shown, too: a page whose content is out of date decides nothing. @spec INT-12 */
async function csrfOf({ secrets }: Context, { secretId }: Grant, opened: Interaction): Promise<string> {
  const { id, sessionHash, consentHash } = opened
  return secrets.derive(secretId, 'csrf', `${id}:${sessionHash}:${consentHash}`)
}

/** What a decision does to the grant, and where it sends the browser. */
interface DecidedGrant {
  readonly grant: Grant
  readonly redirect?: string
}

async function decideInteraction(
  context: Context,
  reference: string,
  decider: Decider,
  apply: (grant: Grant, walletAddress: string) => Promise<DecidedGrant | InteractionRefusal>,
): Promise<DecidedInteraction> {
  return decide<DecidedInteraction>(context, async () => {
    const found = await findOpen(context, reference, decider)
    requireText('csrf', decider.csrf)
    if (!found.ok) return { answer: found }
    const { interaction, grant } = found
    const { digest } = context.secrets
    const { consentHash } = interaction.value
    const expected = await csrfOf(context, grant.value, interaction.value)
    const isBound = isEqualDigest(await digest(decider.csrf), await digest(expected))
    if (!isBound || consentHash === undefined) return { answer: { ok: false, reason: 'bad_csrf' } }
    const shown = { ...grant.value, decidedAt: context.clock.now(), consentHash }
    const decided = await apply(shown, found.walletAddress)
    if (typeof decided === 'string') return { answer: { ok: false, reason: decided } }
    const state = decided.grant.state === 'approved' ? 'approved' : 'denied'
    return {
      changes: [
        // An approved grant expires unless it is continued; a denied one is over.
        state === 'approved'
          ? { ...grant, action: 'replace', value: forgetNonce(decided.grant) }
          : endGrantChange(context, grant, decided.grant),
        { ...interaction, action: 'replace', value: { ...interaction.value, state } },
      ],
      answer: { ok: true, ...(decided.redirect !== undefined && { redirect: decided.redirect }) },
    }
  })
}

/** The client's nonce is no longer needed once the finish redirect has been made. @spec T-14 */
function forgetNonce(grant: Grant): Grant {
  if (grant.finish === undefined) return grant
  const { nonce: _, ...finish } = grant.finish
  return { ...grant, finish }
}

/** @spec GRT-13 */
function grantedAccess(
  context: Context,
  { access: asked, subject }: Grant,
  account: WalletAddress,
  given: unknown,
): readonly Access[] | undefined {
  const granted = parseGrantedAccess(asked, given)
  if (granted === undefined || (granted.length === 0 && !subject)) return undefined
  const fits = (entry: Access): boolean => refuseLimits(entry, account, context.policies.intervalCounting) === undefined
  return granted.every(fits) ? granted : undefined
}

/**
 * Refuses what goes beyond what was asked. Also refuses if the directory has no active account for the wallet address, or
 * another one than when the client asked: the next owner must not answer what was asked of the last. @spec RS-13 @spec T-52
 */
async function approveGrant(
  context: Context,
  asked: Grant,
  walletAddress: string,
  approver: Approver,
): Promise<DecidedGrant | InteractionRefusal> {
  const owned = await context.walletAddresses.find(walletAddress)
  if (owned === undefined) return 'wider_access'
  if (asked.account !== owned.account) {
    tellOtherAccount(context, asked, owned.account)
    return 'not_owner'
  }
  if (!owned.isActive) return 'wider_access'
  const isAll = approver.access === 'all'
  const access = isAll ? asked.access : grantedAccess(context, asked, owned, approver.access)
  if (access === undefined) return 'wider_access'
  const reference = await referenceOf(context, asked)
  const interactRefHash = await context.secrets.digest(reference)
  const grant: Grant = { ...asked, access, state: 'approved', interactRefHash }
  return asked.finish === undefined
    ? { grant }
    : { grant, redirect: await finishWith(context, asked, asked.finish, reference) }
}

/** @spec D7 */
async function denyGrant(context: Context, grant: Grant): Promise<DecidedGrant> {
  const rejected = finaliseGrant(grant, 'rejected')
  if (grant.finish === undefined) return { grant: rejected }
  const redirect =
    context.policies.finishOnDenial === 'result'
      ? finishRedirect(grant.finish.uri, { result: 'grant_rejected' })
      : await finishWith(context, grant, grant.finish, await referenceOf(context, grant))
  return { grant: rejected, redirect }
}

/** What a client continues with, once the owner has decided: derived, so that only its digest is stored. @spec INT-14 */
function referenceOf({ secrets }: Context, { secretId, id }: Grant): Promise<string> {
  return secrets.derive(secretId, 'interaction-reference', id)
}

/** The URL that leads back to the client, with the reference and the finish hash. @spec INT-13 @spec D3 */
async function finishWith(context: Context, grant: Grant, finish: Finish, reference: string): Promise<string> {
  const { secrets, cryptography, policies, authServer } = context
  const nonce = await secrets.derive(grant.secretId, 'interaction-nonce', grant.id)
  const input = finishHashInput(finish.nonce ?? '', nonce, reference, authServer)
  const digest = await cryptography.sha256(toUtf8(input))
  const named = finish.hashMethod === undefined ? 'base64' : 'base64url'
  const encoding = policies.finishHashEncoding === 'auto' ? named : policies.finishHashEncoding
  return finishRedirect(finish.uri, { hash: encodeFinishHash(digest, encoding), interact_ref: reference })
}
