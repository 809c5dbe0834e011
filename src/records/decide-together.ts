import type { Companion, Context, JointChanges } from '../ports/context.ts'
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
  plan: (before: Promise<ReadonlyMap<string, Change>>) => Promise<Plan<T> | undefined>,
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
      const joint = await before
      if (planned !== undefined && joinChanges(joint, planned.changes)) joined = planned
      return joint
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
  const nothing: Promise<JointChanges> = Promise.resolve(new Map())
  const changes = await companions.reduce((before, companion) => companion.join(before), nothing)
  if (changes.size === 0) return
  try {
    const conflicts = await commitKnown(context, [...changes.values()])
    if (conflicts.length === 0) for (const companion of companions) companion.settle('committed')
  } catch (cause) {
    for (const companion of companions) companion.settle({ cause })
  }
}

/**
 * Adds the changes of a task to those of a commit, which names each record once; answers whether it could, and adds none where
 * not. What a grant has spent is decided on what those before leave, so its last value has all of them in it. One and the
 * same check is made once. Whatever else occurs twice belongs to two that exclude each other: one signature, one key, one
 * quote.
 */
function joinChanges(joint: JointChanges, own: readonly Change[]): boolean {
  const named = own.map((change) => [nameOf(change), change] as const)
  const added = named.filter(([name]) => !joint.has(name))
  if (joint.size + added.length > MOST_CHANGES) return false
  for (const [name, change] of named) {
    const other = joint.get(name)
    if (other !== undefined && !isSpending(change) && !isSameCheck(change, other)) return false
  }
  for (const [name, change] of named) joint.set(name, change)
  return true
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
