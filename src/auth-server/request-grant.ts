import { answerWithin } from '../deadline/answer-within.ts'
import { invalidRequest, unknownClient } from '../errors/conditions.ts'
import type { Input } from '../http/endpoint.ts'
import { findLocalWalletAddress, isLocalWalletAddress, type LocalWalletAddress } from '../http/local-wallet-address.ts'
import type { Result } from '../http/respond.ts'
import type { Context } from '../ports/context.ts'
import type { Change } from '../ports/storage.ts'
import { type Access, needsConsent, refuseLimits, repeatsEntry } from '../protocol/access.ts'
import { type ClientId, clientWalletAddress, plainName } from '../protocol/client.ts'
import { parseFinishUri } from '../protocol/finish.ts'
import type { Finish, Grant } from '../protocol/grant.ts'
import type { GrantRequest } from '../protocol/grant-request.ts'
import type { Interaction } from '../protocol/interaction.ts'
import { decide } from '../records/decide.ts'
import { freshId } from '../records/fresh-id.ts'
import { EXPIRED_KEPT_MILLISECONDS } from '../records/retention.ts'
import type { ClientCaller } from './identify-client.ts'
import {
  continuationToken,
  continuationToWire,
  insertToken,
  keptWithToken,
  newAccessToken,
  tokenToWire,
} from './issue-access-token.ts'

/**
 * `post-request`: a grant that needs nobody's consent is issued at once, any other begins with an interaction.
 * @spec GRT-3 @spec GRT-5 @spec GRT-8
 */
export async function requestGrant({ exchange, caller, body }: Input<ClientCaller, GrantRequest>): Promise<Result> {
  const { context } = exchange
  if (body.interact?.finish !== undefined) checkFinish(context, body.interact.finish)
  const isInteractive = body.subject !== undefined || body.access.some((entry) => needsInteraction(context, entry))
  if (isInteractive && clientWalletAddress(caller.holder.client) === undefined)
    throw unknownClient('a client named by its key alone gets only what needs no consent: name its wallet address')
  const checked = await Promise.all(body.access.map((entry) => checkAccess(context, entry)))
  const access = checked.map((entry) => entry.access)
  // Checked again: two spellings of a wallet address have become one.
  if (repeatsEntry(access)) throw invalidRequest('access repeats an entry')
  const asked = checked.filter((entry) => needsInteraction(context, entry.access))
  const owned = isInteractive ? await walletAddressOf(context, asked, body.subject) : undefined
  const pending = await newGrant(context, caller, access, owned, body)
  if (owned === undefined) return issueAtOnce(context, caller, pending)
  if (body.interact === undefined) throw invalidRequest('interact with start "redirect" is required for this access')
  return startInteraction(context, caller, pending)
}

/** @spec INT-5 @spec INT-6 */
function checkFinish(context: Context, finish: Finish): void {
  const uri = parseFinishUri(finish.uri, context.policies)
  if (uri === undefined)
    throw invalidRequest(
      'interact.finish.uri must be an absolute https URL in ASCII, without fragment and userinfo, or of a scheme that this wallet allows',
    )
  // Who denies one question would be led to the next one, as if the wallet asked.
  if (isInteraction(context, uri)) throw invalidRequest('interact.finish.uri must not be an interaction of this server')
}

/** Requests are routed by path alone, under each name of this server; a final dot makes the same name. */
function isInteraction({ authServer, resourceServer, walletAddressServer }: Context, { host, pathname }: URL): boolean {
  const isOurs = [authServer, resourceServer, walletAddressServer].some(
    (base) => new URL(base).host === host.replace(/\.(?=:|$)/, ''),
  )
  return isOurs && pathname.startsWith(`${new URL(authServer).pathname.replace(/\/$/, '')}/interact/`)
}

function needsInteraction(context: Context, access: Access): boolean {
  return access.actions.includes('list-all') || needsConsent(access.type, context.policies.withoutInteraction)
}

/** An entry in its canonical form, and the wallet address that it names. */
interface CheckedAccess {
  readonly access: Access
  readonly named?: LocalWalletAddress
}

/** Checks an entry against this server and gives it its canonical form. @spec GRT-7 @spec GRT-10 */
async function checkAccess(context: Context, access: Access): Promise<CheckedAccess> {
  if (access.type === 'quote') return { access }
  if (access.identifier === undefined) {
    if (needsInteraction(context, access))
      throw invalidRequest(`access of type ${access.type} needs an identifier here`)
    return { access }
  }
  const found = await requireActive(context, 'identifier', access.identifier)
  const refusal = refuseLimits(access, found, context.policies.intervalCounting)
  if (refusal !== undefined) throw invalidRequest(refusal)
  return { access: { ...access, identifier: found.url }, named: found }
}

async function requireActive(context: Context, member: string, text: string): Promise<LocalWalletAddress> {
  const found = await findLocalWalletAddress(context, text)
  if (!found?.isActive) throw invalidRequest(`${member} is not a wallet address of this server`)
  return found
}

/** The one wallet address whose owner is asked about these entries: an approval is given by one person. */
async function walletAddressOf(
  context: Context,
  access: readonly CheckedAccess[],
  subject: string | undefined,
): Promise<LocalWalletAddress> {
  const owned = access.flatMap(({ named }) => named ?? [])
  if (subject !== undefined) owned.push(await requireActive(context, 'subject', subject))
  const [first, ...others] = owned
  if (first === undefined) throw invalidRequest('an identifier is required if the resource owner is asked')
  if (others.some(({ url }) => url !== first.url)) throw invalidRequest('a grant must be about a single wallet address')
  return first
}

/** A grant, and its continuation token, which is sent to the client and never stored. */
interface NewGrant {
  readonly grant: Grant
  readonly token: string
}

async function newGrant(
  context: Context,
  { holder, proof }: ClientCaller,
  access: readonly Access[],
  owned: LocalWalletAddress | undefined,
  body: GrantRequest,
): Promise<NewGrant> {
  const { secrets, clock, lifetimes } = context
  const createdAt = clock.now()
  const id = freshId(secrets, createdAt)
  const secretId = await secrets.currentId()
  const token = await continuationToken(context, { secretId, id })
  const grant: Grant = {
    id,
    state: 'pending',
    createdAt,
    expiresAt: createdAt + lifetimes.interactionSeconds * 1000,
    client: holder.client,
    ...(holder.clientKey && { clientKey: holder.clientKey }),
    keys: proof.keys,
    access,
    ...(owned && { walletAddress: owned.url, account: owned.account }),
    // Without an interaction there is no browser to send back.
    ...(owned && body.interact?.finish && { finish: body.interact.finish }),
    subject: body.subject !== undefined,
    secretId,
    continuationHash: await secrets.digest(token),
    continueAfter: createdAt + lifetimes.continuationWaitSeconds * 1000,
    wrongReferences: 0,
  }
  return { grant, token }
}

async function issueAtOnce(context: Context, { proof }: ClientCaller, pending: NewGrant): Promise<Result> {
  const issued = await newAccessToken(context, pending.grant)
  const { token } = issued
  const grant: Grant = { ...pending.grant, state: 'issued', issuedAt: token.issuedAt, tokenId: token.id }
  const changes: readonly Change[] = [
    { action: 'insert', kind: 'grant', value: grant, ...keptWithToken(token, grant) },
    insertToken(token, grant),
  ]
  await decide(context, async () => ({ changes, answer: undefined }), { claims: proof.claims })
  return {
    status: 200,
    body: { access_token: tokenToWire(context, issued), continue: continuationToWire(context, grant, pending.token) },
  }
}

async function startInteraction(
  context: Context,
  { proof }: ClientCaller,
  { grant, token }: NewGrant,
): Promise<Result> {
  const { secrets, authServer } = context
  const reference = secrets.randomId()
  const name = await nameInTime(context, grant.client)
  const interaction: Interaction = {
    id: await secrets.digest(reference),
    grantId: grant.id,
    state: 'created',
    createdAt: grant.createdAt,
    expiresAt: grant.expiresAt,
    ...(name !== undefined && { clientName: name }),
  }
  const dueAt = grant.expiresAt + EXPIRED_KEPT_MILLISECONDS
  const changes: readonly Change[] = [
    { action: 'insert', kind: 'grant', value: grant, dueAt: grant.expiresAt },
    { action: 'insert', kind: 'interaction', value: interaction, dueAt },
  ]
  await decide(context, async () => ({ changes, answer: undefined }), { claims: proof.claims })
  return {
    status: 200,
    body: {
      interact: {
        redirect: `${authServer}/interact/${reference}`,
        finish: await secrets.derive(grant.secretId, 'interaction-nonce', grant.id),
      },
      continue: continuationToWire(context, grant, token),
    },
  }
}

/** How long to wait for the client's name: the grant request must be answered before the client gives up. @spec D17 */
const NAME_SECONDS = 1

async function nameInTime(context: Context, client: ClientId): Promise<string | undefined> {
  // In an object, since a client may call itself `late`.
  const answer = await answerWithin(context.clock, NAME_SECONDS * 1000, async () => ({
    name: await clientName(context, client),
  }))
  return answer === 'late' ? undefined : answer.name
}

/**
 * The name that a client gives itself in its wallet address document; rejects only if the wallet's own directory fails.
 * @spec INT-2
 */
async function clientName(context: Context, client: ClientId): Promise<string | undefined> {
  const walletAddress = clientWalletAddress(client)
  if (walletAddress === undefined) return undefined
  const name = isLocalWalletAddress(context, walletAddress)
    ? (await context.walletAddresses.find(walletAddress))?.publicName
    : await context.keyResolver.publicName(walletAddress, { source: context.source })
  return name === undefined ? undefined : plainName(name)
}
