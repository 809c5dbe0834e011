import type { CommitResult, RecordKind, Storage } from '../../../src/ports/storage.ts'
import { gatherBatch } from '../../batches.ts'
import { makeOnce } from '../make-once.ts'
import type { Table } from '../sql/statements.ts'
import { commitText, keyOf, misfitsIn, nameOf, type Part, type Step, toStep } from './commit-statement.ts'
import type { Connections, Parameter } from './database.ts'
import { sqlState } from './retry.ts'

/** A commit that was asked for. */
interface Asked {
  readonly steps: readonly Step[]
  resolve(result: CommitResult): void
  reject(error: unknown): void
}

/** The parts that make these steps, in the order of all statements. */
function partsOf(steps: readonly Step[]): readonly Part[] {
  const parts = new Map(steps.map((step) => [nameOf(step), step]))
  return [...parts.keys()].sort().flatMap((name) => parts.get(name) ?? [])
}

const recordOf = ({ layout, id }: Step): string => `${layout.table} ${id}`

/** Whether two commits may name one record in one statement: only if both check it, at the same version. */
function isShareable(step: Step, other: Step): boolean {
  return step.action === 'check' && other.action === 'check' && step.row === other.row
}

/**
 * Once their rows are longer than so many characters together, the next commits get another statement: it would hold up others
 * for longer than it saves.
 */
const MOST_TEXT = 1_000_000

/**
 * Divides commits into those that share a statement. One that names a record which another one changes gets a statement of
 * its own: whether it fits depends on what becomes of the other.
 */
function divide(all: readonly Asked[]): readonly (readonly Asked[])[] {
  const alone: Asked[][] = []
  const groups: Asked[][] = []
  const named = new Map<string, Step>()
  let length = 0
  for (const commit of all) {
    const isRival = commit.steps.some((step) => {
      const other = named.get(recordOf(step))
      return other !== undefined && !isShareable(step, other)
    })
    if (isRival) {
      alone.push([commit])
      continue
    }
    let group = groups.at(-1)
    if (group === undefined || length > MOST_TEXT) {
      group = []
      groups.push(group)
      length = 0
    }
    group.push(commit)
    for (const step of commit.steps) {
      named.set(recordOf(step), step)
      length += step.row.length
    }
  }
  return [...groups, ...alone]
}

/** A record that a statement is asked for, and the changes that ask for it: several if several commits check it. */
interface Asking {
  readonly step: Step
  readonly changes: { readonly commit: Asked; readonly index: number }[]
}

/** What each part is asked for. */
function askingsOf(parts: readonly Part[], commits: readonly Asked[]): readonly (readonly Asking[])[] {
  const askings = new Map(parts.map((part) => [nameOf(part), new Map<string, Asking>()]))
  for (const commit of commits) {
    for (const [index, step] of commit.steps.entries()) {
      const ofPart = askings.get(nameOf(step))
      const asking = ofPart?.get(step.id) ?? { step, changes: [] }
      asking.changes.push({ commit, index })
      ofPart?.set(step.id, asking)
    }
  }
  return [...askings.values()].map((ofPart) => [...ofPart.values()])
}

function parametersOf(askings: readonly (readonly Asking[])[]): readonly Parameter[] {
  const rows = askings.map((ofPart) => `[${ofPart.map(({ step }) => step.row).join(',')}]`)
  const keys = askings.flatMap((ofPart, position) => ofPart.map(({ step }) => keyOf(position, step.id)))
  return [...rows, JSON.stringify(keys)]
}

/** The indexes of the changes that did not fit, for each commit that has some. */
function conflictsOf(misfits: readonly Asking[]): ReadonlyMap<Asked, readonly number[]> {
  const conflicts = new Map<Asked, number[]>()
  for (const { commit, index } of misfits.flatMap(({ changes }) => changes))
    conflicts.set(commit, [...(conflicts.get(commit) ?? []), index])
  return conflicts
}

/**
 * Errors that certainly undo a statement, and that one commit alone may have caused: a value that the database refuses, an
 * exception of a trigger, and other transactions that were in the way every time.
 */
const UNDOES = /^(22|23|54|P0001|40001|40P01)/

/** Makes commits that consist of these parts; those that are asked for in one turn share a statement. */
function shareCommits(query: Connections['query'], parts: readonly Part[]): (commit: Asked) => void {
  const text = commitText(parts)

  /** Makes all in one statement. If some conflict, it makes the others without them; if one may be to blame, each alone. */
  const makeAll = async (commits: readonly Asked[]): Promise<void> => {
    if (commits.length === 0) return
    const askings = askingsOf(parts, commits)
    try {
      await query({ text, parameters: parametersOf(askings), isRepeated: true })
      for (const { resolve } of commits) resolve('committed')
    } catch (error) {
      const inOrder = askings.flat()
      const conflicts = conflictsOf(misfitsIn(error).flatMap((place) => inOrder[place - 1] ?? []))
      for (const [commit, indexes] of conflicts) commit.resolve({ conflicts: indexes.toSorted((a, b) => a - b) })
      const others = commits.filter((commit) => !conflicts.has(commit))
      if (conflicts.size > 0) await makeAll(others)
      else if (others.length > 1 && UNDOES.test(sqlState(error) ?? ''))
        await Promise.all(others.map((commit) => makeAll([commit])))
      else for (const { reject } of others) reject(error)
    }
  }

  return gatherBatch((all) => {
    for (const commits of divide(all)) void makeAll(commits)
  })
}

/**
 * Makes commits, each at once or not at all. Those of one form, the same actions in the same tables, share a statement if
 * they are asked for in one turn of the event loop: hence a transaction and a round trip. No commit waits for a statement
 * that is under way.
 */
export function createCommits(query: Connections['query'], tableOf: (kind: RecordKind) => Table): Storage['commit'] {
  const shared = makeOnce(
    (parts: readonly Part[]) => shareCommits(query, parts),
    (parts) => parts.map(nameOf).join(', '),
  )

  return async (changes) => {
    if (changes.length === 0) return 'committed'
    const steps = changes.map((change) => toStep(change, tableOf))
    if (new Set(steps.map(recordOf)).size < steps.length) throw new TypeError('a commit names a record twice')
    return new Promise((resolve, reject) => shared(partsOf(steps))({ steps, resolve, reject }))
  }
}
