import type { Context, InTurn, Plan } from '../ports/context.ts'
import type { Change } from '../ports/storage.ts'
import { idOf, MOST_CHANGES, nameOf } from './change.ts'
import { type CommitContext, commitKnown } from './decide.ts'

/**
 * The most tasks that share one turn, including the one whose turn it is: a turn must not serve everybody who waits.
 */
const MOST_COMPANIONS = 16

/** The changes of a joint commit, by the record that each one writes or checks. */
type JointChanges = Map<string, Change>

/** A task that waits for its turn to commit, and whose changes may be committed in the turn of a task ahead of it. */
interface Companion {
  /**
   * Adds its changes to those of the companions before it and passes them all on; adds none if it needs its own turn.
   * Never rejects.
   */
  join(before: Promise<JointChanges>): Promise<JointChanges>
  /**
   * Tells it how the joint commit ended: committed, or failed with a cause that leaves the outcome unknown. Not called
   * after a conflict: nothing was committed then, and each task gets its own turn.
   */
  settle(end: 'committed' | { readonly cause: unknown }): void
}

/** Implements `Context.decideTogether` for tasks that wait in the queues of `inTurn`. */
export function createDecideTogether(context: CommitContext, inTurn: InTurn): Context['decideTogether'] {
  const lines: Lines = new Map()
  // Settles by the joint commit or, if the task has no part in one, by `alone`. Once committed, a task goes on at once,
  // whatever the tasks before it still wait for.
  return <T>(
    key: string,
    plan: (before: Promise<readonly Change[]>) => Promise<Plan<T> | undefined>,
    alone: () => Promise<T>,
  ): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      let joined: Plan<T> | undefined
      let isSettled = false
      const own: Companion = {
        join: async (before) => {
          const changes = before.then((joint) => [...joint.values()])
          const planned = await plan(changes).catch(() => undefined)
          const joint = await before
          if (planned !== undefined && joinChanges(joint, planned.changes)) joined = planned
          return joint
        },
        settle: (end) => {
          if (joined === undefined) return
          isSettled = true
          if (end === 'committed') resolve(joined.answer)
          else reject(end.cause)
        },
      }
      joinLine(lines, key, own)
      inTurn(key, async () => {
        const companions = takeLine(lines, key, own)
        if (companions.length > 1) await commitTogether(context, companions)
        if (!isSettled) resolve(await alone())
      }).catch(reject)
    })
}

/** The tasks whose turn has not begun, by key. */
type Lines = Map<string, Companion[]>

function joinLine(lines: Lines, key: string, own: Companion): void {
  const line = lines.get(key) ?? []
  line.push(own)
  lines.set(key, line)
}

/**
 * Takes the waiting tasks out of the line, this one first. Each is taken only once: a task that another one has already
 * taken gets none.
 */
function takeLine(lines: Lines, key: string, own: Companion): readonly Companion[] {
  const line = lines.get(key) ?? []
  if (!line.includes(own)) return []
  const taken = line.splice(0, MOST_COMPANIONS)
  if (line.length === 0) lines.delete(key)
  return taken
}

/**
 * Commits the changes of several tasks at once. The tasks read in parallel, and wait only to learn what those before
 * change.
 */
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
 * Adds the changes of a task to those of a commit, which may name each record only once. Returns whether it could; if
 * not, it adds none. A spending record is computed on top of the tasks before, so its last value replaces theirs;
 * identical checks become one. Any other record that two tasks name means that they exclude each other: the same
 * signature, key or quote.
 */
function joinChanges(joint: JointChanges, own: readonly Change[]): boolean {
  const named = own.map((change) => [nameOf(change.kind, idOf(change)), change] as const)
  const added = named.filter(([name]) => !joint.has(name))
  if (joint.size + added.length > MOST_CHANGES) return false
  for (const [name, change] of named) {
    const other = joint.get(name)
    if (other !== undefined && !isSpending(change) && !isSameCheck(change, other)) return false
  }
  for (const [name, change] of named) joint.set(name, change)
  return true
}

function isSpending({ kind }: Change): boolean {
  return kind === 'spending'
}

function isSameCheck(change: Change, other: Change): boolean {
  return change.action === 'check' && other.action === 'check' && change.version === other.version
}
