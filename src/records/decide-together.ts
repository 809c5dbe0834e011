import type { Companion, Context } from '../ports/context.ts'
import type { Change } from '../ports/storage.ts'
import { commitKnown, idOf } from './decide.ts'

/** What a task comes to: its changes, and its answer once they are committed. */
export interface Plan<T> {
  readonly changes: readonly Change[]
  readonly answer: T
}

/** So many changes a store takes in one commit at most: see `Storage.commit`. */
const MOST_CHANGES = 100

/**
 * Decides in the turn of a key, and in one commit with the others that wait for the same turn where that can be.
 *
 * `plan` says what a task comes to after those before it, whose changes it is given; it must not write anything. One that
 * refuses, answers `undefined` or writes what another one writes has its own turn, and is decided by `alone` there. So have
 * all of them where the joint commit conflicts: it is all or nothing, and nothing of it has happened then. So no refusal
 * rests on what is not committed.
 */
export function decideTogether<T>(
  context: Context,
  key: string,
  plan: (before: Promise<readonly Change[]>) => Promise<Plan<T> | undefined>,
  alone: () => Promise<T>,
): Promise<T> {
  let joined: Plan<T> | undefined
  let tell: ((end: 'committed' | { readonly cause: unknown }, answer: T) => void) | undefined
  const shared = new Promise<T>((resolve, reject) => {
    tell = (end, answer) => (end === 'committed' ? resolve(answer) : reject(end.cause))
  })
  let isSettled = false
  const own: Companion = {
    join: async (before) => {
      const planned = await plan(before).catch(() => undefined)
      const changes = planned && joinChanges(await before, planned.changes)
      if (changes === undefined) return before
      joined = planned
      return changes
    },
    settle: (end) => {
      if (joined === undefined) return
      isSettled = true
      tell?.(end, joined.answer)
    },
  }
  const turn = context.serialize.inCompany(key, own, async (companions) => {
    if (companions.length > 1) await commitTogether(context, companions)
    return isSettled ? shared : alone()
  })
  // What is committed goes on at once, whatever those before it in the line still wait for.
  return Promise.race([shared, turn])
}

/** They read at the same time, and wait for each other only to know what those before them change. */
async function commitTogether(context: Context, companions: readonly Companion[]): Promise<void> {
  const nothing: Promise<readonly Change[]> = Promise.resolve([])
  const changes = await companions.reduce((before, companion) => companion.join(before), nothing)
  if (changes.length === 0) return
  try {
    const conflicts = await commitKnown(context, changes)
    if (conflicts.length === 0) for (const companion of companions) companion.settle('committed')
  } catch (cause) {
    for (const companion of companions) companion.settle({ cause })
  }
}

/**
 * The changes of several tasks as those of one commit, which names each record once; `undefined` where that cannot be. What
 * a grant has spent is decided on what those before leave, so its last value has all of them in it. One and the same check
 * is made once. Whatever else occurs twice belongs to two that exclude each other: one signature, one key, one quote.
 */
function joinChanges(before: readonly Change[], own: readonly Change[]): readonly Change[] | undefined {
  const joined = new Map(before.map((change) => [nameOf(change), change]))
  for (const change of own) {
    const other = joined.get(nameOf(change))
    if (other !== undefined && !isSpending(change) && !isSameCheck(change, other)) return undefined
    joined.set(nameOf(change), change)
  }
  return joined.size > MOST_CHANGES ? undefined : [...joined.values()]
}

function nameOf(change: Change): string {
  return `${change.kind} ${idOf(change)}`
}

function isSpending({ kind }: Change): boolean {
  return kind === 'spending'
}

function isSameCheck(change: Change, other: Change): boolean {
  return change.action === 'check' && other.action === 'check' && change.version === other.version
}
