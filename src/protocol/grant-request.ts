import * as v from 'valibot'
import { type Access, AccessList } from './access.ts'
import { isFinishNonce } from './finish.ts'
import type { Finish } from './grant.ts'
import { UrlText } from './url-text.ts'

/** How the client takes part in an interaction. It always begins by sending the resource owner to a URL. */
export interface InteractionRequest {
  /** Absent: the client polls. Its `uri` is not checked here, since the embedder's policy says what is allowed. */
  readonly finish?: Finish
}

/**
 * What a grant request asks for: access, a subject, or both. Its `client` was read before (see `IdentifiedRequest`), to find
 * out who asks.
 */
export interface GrantRequest {
  /** Empty if only a subject is asked for. */
  readonly access: readonly Access[]
  /** The wallet address whose owner is to prove control of it, as the client wrote it. */
  readonly subject?: string
  readonly interact?: InteractionRequest
}

const SubjectIdentifier = v.strictObject({
  id: UrlText,
  format: v.literal('uri', 'must be uri'),
})

const ONE_IDENTIFIER = 'sub_ids must hold exactly one identifier'

const Subject = v.pipe(
  v.object({ sub_ids: v.pipe(v.array(SubjectIdentifier, ONE_IDENTIFIER), v.maxLength(1, ONE_IDENTIFIER)) }),
  v.transform(({ sub_ids: [identifier] }) => identifier?.id),
  v.string(ONE_IDENTIFIER),
)

const FinishRequest = v.pipe(
  v.object({
    method: v.literal('redirect', 'must be redirect'),
    uri: UrlText,
    nonce: v.pipe(v.string(), v.check(isFinishNonce, 'must be 1 to 256 printable ASCII characters')),
    hash_method: v.exactOptional(v.literal('sha-256', 'must be sha-256')),
  }),
  v.transform(
    (finish): Finish => ({
      uri: finish.uri,
      nonce: finish.nonce,
      ...(finish.hash_method !== undefined && { hashMethod: finish.hash_method }),
    }),
  ),
)

const Interact = v.object({
  start: v.pipe(v.array(v.literal('redirect', 'must be redirect')), v.minLength(1, 'must be redirect')),
  finish: v.exactOptional(FinishRequest),
})

/**
 * Reads what the body of a grant request asks for. Unknown members are ignored at the top and refused inside an access entry.
 * @spec GRT-2 @spec GRT-3 @spec GRT-11 @spec GRT-14 @spec INT-15
 */
export const GrantRequest: v.GenericSchema<unknown, GrantRequest> = v.pipe(
  v.object({
    access_token: v.exactOptional(v.object({ access: AccessList })),
    subject: v.exactOptional(Subject),
    interact: v.exactOptional(Interact),
  }),
  v.transform(
    (body): GrantRequest => ({
      access: body.access_token?.access ?? [],
      ...(body.subject !== undefined && { subject: body.subject }),
      ...(body.interact !== undefined && {
        interact: body.interact.finish === undefined ? {} : { finish: body.interact.finish },
      }),
    }),
  ),
  v.check((request) => request.access.length > 0 || request.subject !== undefined, 'ask for access or for a subject'),
)
