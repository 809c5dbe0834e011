import type { Context, Plan, Serializer } from '../ports/context.ts'
import type { Change } from '../ports/storage.ts'
import { type CommitContext, commitKnown } from './decide.ts'
import { idOf } from './id-of.ts'

/** The most changes that a store takes in one commit: see `Storage`. */
const MOST_CHANGES = 100

/** How many tasks are done in one turn at most, including the one whose turn it is: no turn serves everybody who waits. */
const MOST_COMPANIONS = 16

/** The changes of a joint commit, by the record that each concerns. */
type JointChanges = Map<string, Change>

/** A task that waits for a turn to commit changes, which may be committed in the turn of a task that waits before it. */
interface Companion {
  /**
   * Adds its changes to those of the companions before it, and passes all of them on; leaves them as they are if it needs a
   * turn of its own. Never rejects.
   */
  join(before: Promise<JointChanges>): Promise<JointChanges>
  /**
   * Tells it that the joint commit is over: it has happened, or it has failed with a cause that leaves its outcome
   * unknown.
   */
  settle(end: 'committed' | { readonly cause: unknown }): void
}

/** What `Context` says of `decideTogether`, for tasks that wait in the queues of `serialize`. */
export function createDecideTogether(context: CommitContext, serialize: Serializer): Context['decideTogether'] {
  /** Those whose turn has not begun, by key. */
  const lines = new Map<string, Companion[]>()
  const joinLine = (key: string, own: Companion): void => {
    const line = lines.get(key) ?? []
    line.push(own)
    lines.set(key, line)
  }
  /** Those that wait, itself first, each for one task only: a task that was itself taken by another one gets none. */
  const takeLine = (key: string, own: Companion): readonly Companion[] => {
    const line = lines.get(key) ?? []
    if (!line.includes(own)) return []
    const taken = line.splice(0, MOST_COMPANIONS)
    if (line.length === 0) lines.delete(key)
    return taken
  }
  return <T>(
    key: string,
    plan: (before: Promise<ReadonlyMap<string, Change>>) => Promise<Plan<T> | undefined>,
    alone: () => Promise<T>,
  ): Promise<T> => {
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
    joinLine(key, own)
    const turn = serialize(key, async () => {
      const companions = takeLine(key, own)
      if (companions.length > 1) await commitTogether(context, companions)
      return isSettled ? shared : alone()
    })
    // A committed task goes on at once, whatever those before it in the line still wait for.
    return Promise.race([shared, turn])
  }
}

/** The tasks read at the same time, and wait for each other only to learn what those before them change. */
async function commitTogether(context: CommitContext, companions: readonly Companion[]): Promise<void> {
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
