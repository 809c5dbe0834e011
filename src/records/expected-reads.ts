import type { Context, ExpectedReads } from '../ports/context.ts'
import type { AccessToken } from '../protocol/access-token.ts'
import { latestValues } from '../protocol/latest-values.ts'

/** For how many tokens, quotes and pages each: for twice as many it takes some megabytes. */
const REMEMBERED = 4096

/** The most spending records that are expected of one token: whoever asked for a grant has chosen how many entries it has. */
const MOST_SPENDING = 4

/** Remembers what was set for the latest tokens, quotes and pages. */
export function createExpectedReads(): ExpectedReads {
  return { ofTokens: latestValues(REMEMBERED), ofQuotes: latestValues(REMEMBERED), ofPages: latestValues(REMEMBERED) }
}

/** Expects these spending records to be read by the requests with a token. */
export function expectSpending(
  { expectedReads }: Pick<Context, 'expectedReads'>,
  { id, client }: Pick<AccessToken, 'id' | 'client'>,
  spendingIds: readonly string[],
): void {
  if (spendingIds.length === 0 || spendingIds.length > MOST_SPENDING) return
  expectedReads.ofTokens.set(id, { client, spending: spendingIds.map((id) => ({ kind: 'spending', id })) })
}
