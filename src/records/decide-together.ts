import type { Companion, Context, JointChanges } from '../ports/context.ts'
import type { Change } from '../ports/storage.ts'
import { commitKnown } from './decide.ts'
import { idOf } from './id-of.ts'

/** The result of a task: its changes, and its answer once they are committed. */
export interface Plan<T> {
  readonly changes: readonly Change[]
  readonly answer: T
}

/** The most changes that a store takes in one commit: see `Storage`. */
const MOST_CHANGES = 100

/**
 * Decides in the turn of a key and, if possible, in one commit with the others that wait for the same turn.
 *
 * `plan` says what a task does after those before it, whose changes it is given; it must not write anything. A task that
 * refuses, answers `undefined` or writes what another one writes gets its own turn, and is decided by `alone` there. So do
 * all of them if the joint commit conflicts: it is all or nothing, and then nothing of it has happened. So no refusal is
 * based on something that is not committed.
 */
export function decideTogether<T>(
  context: Context,
  key: string,
  plan: (before: Promise<ReadonlyMap<string, Change>>) => Promise<Plan<T> | undefined>,
  alone: () => Promise<T>,
): Promise<T> {
  let joined: Plan<T> | undefined
  let isSettled = false
  let settle: Companion['settle'] = () => undefined
  // How the joint commit ended for this task; never settled if the task is decided alone.
  const shared = new Promise<T>((resolve, reject) => {
    settle = (end) => {
      if (joined === undefined) return
      isSettled = true
      if (end === 'committed') resolve(joined.answer)
      else reject(end.cause)
    }
  })
  const own: Companion = {
    join: async (before) => {
      const planned = await plan(before).catch(() => undefined)
      const joint = await before
      if (planned !== undefined && joinChanges(joint, planned.changes)) joined = planned
      return joint
    },
    settle: (end) => settle(end),
  }
  const turn = context.serialize.inCompany(key, own, async (companions) => {
    if (companions.length > 1) await commitTogether(context, companions)
    return isSettled ? shared : alone()
  })
  // A committed task goes on at once, whatever those before it in the line still wait for.
  return Promise.race([shared, turn])
}

/** The tasks read at the same time, and wait for each other only to learn what those before them change. */
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
 * Adds the changes of a task to those of a commit, which names each record once. Returns whether it could; if not, it adds
 * none. What a grant has spent is computed on top of the tasks before, so its last value includes all of them. The same check
 * is made only once. Anything else that occurs twice means that two tasks exclude each other: one signature, one key, one
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
