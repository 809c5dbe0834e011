import type { Exchange } from '../http/exchange.ts'
import type { Result } from '../http/respond.ts'
import type { Secrets } from '../ports/secrets.ts'

/**
 * How many documents are remembered with their entity tags, and the longest of them in characters: a few megabytes in
 * all.
 */
const KEPT_DOCUMENTS = 1000
const LONGEST_KEPT = 4096

/**
 * Answers with documents that anyone may cache, as `caching` says; whoever already has the current one gets a 304. The
 * entity tag is a digest of the document and is remembered by the document's whole text, so a changed document gets a
 * new tag.
 * @spec WAS-5 @spec WAS-8
 */
export function createPublisher(): (exchange: Exchange, document: unknown, caching: string) => Promise<Result> {
  const tags = new Map<string, string>()
  const tagOf = async (secrets: Secrets, raw: string): Promise<string> => {
    const tag = `"${await secrets.digest(raw)}"`
    if (raw.length > LONGEST_KEPT) return tag
    if (tags.size >= KEPT_DOCUMENTS) tags.clear()
    tags.set(raw, tag)
    return tag
  }
  return async ({ context, request }, document, caching) => {
    const raw = JSON.stringify(document)
    const etag = tags.get(raw) ?? (await tagOf(context.secrets, raw))
    const headers = {
      'cache-control': caching,
      etag,
      vary: 'Accept',
      'access-control-allow-origin': '*',
    }
    const held = request.headerLines('if-none-match').flatMap((line) => line.split(',').map((tag) => tag.trim()))
    const isHeld = held.some((tag) => tag === '*' || tag === etag || tag === `W/${etag}`)
    return isHeld
      ? { status: 304, headers }
      : { status: 200, raw, headers: { 'content-type': 'application/json', ...headers } }
  }
}
