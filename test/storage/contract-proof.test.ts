import { describe, expect, it } from 'vitest'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { AssertionError } from '../../src/testing/assertions.ts'
import type { StorageUnderTest } from '../../src/testing/storage-case.ts'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { type BrokenStore, reading } from './contract-broken.ts'
import { BROKEN_COMMITS } from './contract-broken-commits.ts'
import { BROKEN_FAILURES } from './contract-broken-failures.ts'
import { BROKEN_IDS } from './contract-broken-ids.ts'
import { BROKEN_LISTS } from './contract-broken-lists.ts'
import { BROKEN_RACES } from './contract-broken-races.ts'
import { BROKEN_READERS } from './contract-broken-readers.ts'
import { BROKEN_READS } from './contract-broken-reads.ts'
import { BROKEN_TEXTS } from './contract-broken-texts.ts'
import { BROKEN_VALUES } from './contract-broken-values.ts'

const BROKEN: readonly BrokenStore[] = [
  ...BROKEN_VALUES,
  ...BROKEN_TEXTS,
  ...BROKEN_IDS,
  ...BROKEN_READS,
  ...BROKEN_LISTS,
  ...BROKEN_COMMITS,
  ...BROKEN_RACES,
  ...BROKEN_READERS,
  ...BROKEN_FAILURES,
]

/** What a case says of a store: nothing where it keeps its promise. */
async function verdictOf(name: string, makeStorage: () => StorageUnderTest): Promise<unknown> {
  const found = storageContract().find((one) => one.name === name)
  if (found === undefined) throw new TypeError(`there is no case "${name}"`)
  return found.run(async () => makeStorage()).catch((error: unknown) => error)
}

describe('the storage contract finds a store that', () => {
  it.each(BROKEN.flatMap((store) => store.breaks.map((name) => [store.does, name, store] as const)))(
    '%s: %s',
    async (_does, name, { breakStore, rejects }) => {
      const verdict = await verdictOf(name, () => breakStore(memoryStorage()))
      // A case that stumbles over what a broken store answers says nothing of it.
      if (rejects === undefined) expect(verdict).toBeInstanceOf(AssertionError)
      else expect(verdict).toEqual(new Error(rejects))
    },
  )
})

describe('the storage contract', () => {
  it('EMB-7 has no case that no broken store breaks', () => {
    const proved = new Set(BROKEN.flatMap(({ breaks }) => breaks))
    expect(storageContract().filter(({ name }) => !proved.has(name))).toEqual([])
  })

  it('tells a bigint from a text that looks like one, in what it says came', async () => {
    const texts = (value: object) =>
      JSON.parse(
        JSON.stringify(value, (_name, member: unknown) => (typeof member === 'bigint' ? `${member}n` : member)),
      )
    const name = 'every kind of record comes back as it was written: exact amounts, absent members absent, its marks'
    const verdict = await verdictOf(name, () =>
      reading(memoryStorage(), (record) => ({ ...record, value: texts(record.value) })),
    )
    const [, expected, got] = /: expected (.*), got (.*); they differ at/.exec(String(verdict)) ?? []
    expect(expected).toMatch(/"value":\d+n/)
    expect(got).toMatch(/"value":"\d+n"/)
  })

  it('has no two cases of one name', () => {
    const names = storageContract().map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })

  it.each(storageContract().map(({ name }) => name))(
    'is sound itself, on a store that is only wrapped: %s',
    async (name) => {
      expect(await verdictOf(name, () => ({ ...memoryStorage() }))).toBeUndefined()
    },
  )
})
