import type { CommitResult, RecordKind, Storage } from '../../../src/ports/storage.ts'
import { gatherBatch } from '../../batches.ts'
import type { Table } from '../sql/statements.ts'
import { commitText, keyOf, misfitsIn, type Part, partOf, type Step, toStep } from './commit-statement.ts'
import type { Parameter, Statement } from './database.ts'
import { sqlState } from './retry.ts'

type Query = (statement: Statement) => Promise<unknown>

/** A commit that was asked for. */
interface Asked {
  readonly steps: readonly Step[]
  resolve(result: CommitResult): void
  reject(error: unknown): void
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}

/** The parts that make these steps, in the order of all statements. */
function partsOf(steps: readonly Step[]): readonly Part[] {
  const parts = new Map(steps.map((step) => [partOf(step), step]))
  return [...parts].sort(([a], [b]) => compare(a, b)).map(([, part]) => part)
}

const recordOf = ({ layout, id }: Step): string => `${layout.table} ${id}`

/**
 * Divides commits into groups in which no two name the same record, unless both check it at the same version: otherwise
 * whether one of them fits would depend on what becomes of the other.
 */
function divide(all: readonly Asked[]): readonly (readonly Asked[])[] {
  const groups: { readonly commits: Asked[]; readonly named: Map<string, Step> }[] = []
  for (const commit of all) {
    const isApart = (step: Step, other: Step | undefined): boolean =>
      other === undefined || (step.action === 'check' && other.action === 'check' && step.row === other.row)
    const fitting = groups.find(({ named }) => commit.steps.every((step) => isApart(step, named.get(recordOf(step)))))
    const group = fitting ?? { commits: [], named: new Map<string, Step>() }
    if (fitting === undefined) groups.push(group)
    group.commits.push(commit)
    for (const step of commit.steps) group.named.set(recordOf(step), step)
  }
  return groups.map(({ commits }) => commits)
}

/** A record that a statement changes, and the changes that ask for it: several if several commits check it. */
interface Row {
  readonly id: string
  readonly text: string
  readonly changes: { readonly commit: Asked; readonly index: number }[]
}

/** The rows of each part, each part's in the order of their ids. */
function rowsOf(parts: readonly Part[], commits: readonly Asked[]): readonly (readonly Row[])[] {
  const rows = new Map(parts.map((part) => [partOf(part), new Map<string, Row>()]))
  for (const commit of commits) {
    for (const [index, step] of commit.steps.entries()) {
      const inPart = rows.get(partOf(step))
      const row = inPart?.get(step.id) ?? { id: step.id, text: step.row, changes: [] }
      row.changes.push({ commit, index })
      inPart?.set(step.id, row)
    }
  }
  return [...rows.values()].map((inPart) => [...inPart.values()].sort((a, b) => compare(a.id, b.id)))
}

function parametersOf(rows: readonly (readonly Row[])[]): readonly Parameter[] {
  const keys = rows.flatMap((inPart, position) => inPart.map(({ id }) => keyOf(position, id)))
  return [...rows.map((inPart) => `[${inPart.map(({ text }) => text).join(',')}]`), JSON.stringify(keys)]
}

/** The indexes of the changes that did not fit, for each commit that has some. */
function conflictsOf(misfits: readonly Row[]): ReadonlyMap<Asked, readonly number[]> {
  const conflicts = new Map<Asked, number[]>()
  for (const { commit, index } of misfits.flatMap(({ changes }) => changes))
    conflicts.set(commit, [...(conflicts.get(commit) ?? []), index])
  return conflicts
}

/** The database refuses a value, which certainly undoes the statement; the error does not say whose value it is. */
const REFUSED = /^(22|23|54)/

/** Makes commits that consist of these parts; those that are asked for in one turn share a statement. */
function shareCommits(query: Query, parts: readonly Part[]): (commit: Asked) => void {
  const text = commitText(parts)

  /** Makes all in one statement. If some conflict, or the database refuses a value, it makes the others without them. */
  const makeAll = async (commits: readonly Asked[]): Promise<void> => {
    if (commits.length === 0) return
    const rows = rowsOf(parts, commits)
    try {
      await query({ text, parameters: parametersOf(rows), isRepeated: true })
      for (const { resolve } of commits) resolve('committed')
    } catch (error) {
      const flat = rows.flat()
      const conflicts = conflictsOf(misfitsIn(error).flatMap((place) => flat[place - 1] ?? []))
      for (const [commit, indexes] of conflicts) commit.resolve({ conflicts: indexes.toSorted((a, b) => a - b) })
      const others = commits.filter((commit) => !conflicts.has(commit))
      if (conflicts.size > 0) await makeAll(others)
      else if (others.length > 1 && REFUSED.test(sqlState(error) ?? ''))
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
export function createCommits(query: Query, tableOf: (kind: RecordKind) => Table): Storage['commit'] {
  const known = new Map<string, (commit: Asked) => void>()

  const shared = (steps: readonly Step[]): ((commit: Asked) => void) => {
    const parts = partsOf(steps)
    const form = parts.map(partOf).join(', ')
    const share = known.get(form) ?? shareCommits(query, parts)
    known.set(form, share)
    return share
  }

  return async (changes) => {
    if (changes.length === 0) return 'committed'
    const steps = changes.map((change) => toStep(change, tableOf))
    return new Promise((resolve, reject) => shared(steps)({ steps, resolve, reject }))
  }
}
