import type { Change } from '../ports/storage.ts'
import { assertSame } from './assertions.ts'
import { MOMENT } from './sample-records.ts'
import {
  assertConflicts,
  checkClaim,
  claim,
  deleteClaim,
  insertClaim,
  insertEveryKind,
  KINDS,
  kindsWith,
  mustCommit,
  readValues,
  readVersions,
  replaceClaim,
  type StorageCase,
} from './storage-case.ts'

/** What the store promises of `commit`, if nobody else commits. */
export const COMMIT_CASES: readonly StorageCase[] = [
  {
    name: 'versions start at 1 and grow by 1 with each write, and a check is none',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, insertClaim('a'))
      await mustCommit(storage, replaceClaim('a', 1, 5))
      await mustCommit(storage, checkClaim('a', 2))
      await mustCommit(storage, replaceClaim('a', 2, 6))
      const [record] = await storage.get([claim('a')])
      assertSame([record?.version, record?.value], [3, { id: 'a', expiresAt: 6 }], 'the record')
    },
  },
  {
    name: 'an insert of an id that exists is refused and changes nothing',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, insertClaim('a'))
      const value = { id: 'a', expiresAt: 9 }
      const again = await storage.commit([{ action: 'insert', kind: 'replay-claim', value }])
      assertConflicts(again, [0], 'the second insert')
      assertSame(await readValues(storage, claim('a')), [{ id: 'a', expiresAt: MOMENT }], 'the value')
    },
  },
  {
    name: 'one id in every kind names as many records',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, ...insertEveryKind('a'))
      for (const [index, kind] of KINDS.entries()) {
        await mustCommit(storage, { action: 'delete', kind, id: 'a', version: 1 })
        assertSame(await kindsWith(storage, 'a'), KINDS.slice(index + 1), `the kinds that are left without ${kind}`)
      }
    },
  },
  {
    name: 'a change at another version, older or newer, or of a record that is not there, is refused',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, insertClaim('a'))
      await mustCommit(storage, replaceClaim('a', 1, 5))
      for (const version of [1, 3]) {
        assertConflicts(await storage.commit([replaceClaim('a', version, 7)]), [0], `replace at ${version}`)
        assertConflicts(await storage.commit([deleteClaim('a', version)]), [0], `delete at ${version}`)
        assertConflicts(await storage.commit([checkClaim('a', version)]), [0], `check at ${version}`)
      }
      assertConflicts(await storage.commit([replaceClaim('none', 1, 7)]), [0], 'replace of nothing')
      assertConflicts(await storage.commit([deleteClaim('none', 1)]), [0], 'delete of nothing')
      assertConflicts(await storage.commit([checkClaim('none', 1)]), [0], 'check of nothing')
      assertSame(await readValues(storage, claim('a')), [{ id: 'a', expiresAt: 5 }], 'the value')
      assertSame(await readVersions(storage, claim('a'), claim('none')), [2, undefined], 'the versions')
    },
  },
  {
    name: 'all changes of a commit happen or none, wherever the conflict is',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, insertClaim('replaced'), insertClaim('deleted'), insertClaim('taken'))
      const good = [insertClaim('new'), replaceClaim('replaced', 1, 5), deleteClaim('deleted', 1)]
      const bad = [insertClaim('taken'), replaceClaim('taken', 2, 5), deleteClaim('taken', 2), checkClaim('taken', 2)]
      for (const conflict of bad) {
        for (const at of [0, 1, 2, 3]) {
          const result = await storage.commit([...good.slice(0, at), conflict, ...good.slice(at)])
          assertConflicts(result, [at], `${conflict.action} at ${at}`)
        }
      }
      const keys = ['new', 'replaced', 'deleted', 'taken'].map(claim)
      assertSame(await readVersions(storage, ...keys), [undefined, 1, 1, 1], 'the versions')
      await mustCommit(storage, ...good)
      assertSame(await readVersions(storage, ...keys), [1, 2, undefined, 1], 'the versions after a commit that fits')
    },
  },
  {
    name: 'all changes of a commit happen or none, whatever the change that conflicts and the kind of its record',
    async run(makeStorage) {
      const storage = await makeStorage()
      const inserts = insertEveryKind('a')
      const replacements = inserts.map((insert): Change => ({ ...insert, action: 'replace', version: 1 }))
      await mustCommit(storage, ...inserts)
      await mustCommit(storage, ...replacements)
      const fitting = inserts.map((insert, index): Change => {
        if (index % 3 === 0) return { ...insert, action: 'replace', version: 2 }
        const at = { kind: insert.kind, id: 'a', version: 2 }
        return index % 3 === 1 ? { action: 'delete', ...at } : { action: 'check', ...at }
      })
      for (const [index, insert] of inserts.entries()) {
        const at = { kind: insert.kind, id: 'a', version: 1 }
        for (const change of [
          insert,
          { ...insert, action: 'replace', version: 1 },
          { action: 'delete', ...at },
          { action: 'check', ...at },
        ] as const) {
          const result = await storage.commit(fitting.with(index, change))
          assertConflicts(result, [index], `${change.action} of a record of the kind ${insert.kind}, at version 1 of 2`)
        }
      }
      const keys = KINDS.map((kind) => ({ kind, id: 'a' }))
      const before = KINDS.map(() => 2)
      assertSame(await readVersions(storage, ...keys), before, 'the versions')
      await mustCommit(storage, ...fitting)
      const after = KINDS.map((_kind, index) => [3, undefined, 2][index % 3])
      assertSame(await readVersions(storage, ...keys), after, 'the versions after a commit that fits')
    },
  },
  {
    name: 'a commit of a hundred changes happens or not, and names conflicts where they are',
    async run(makeStorage) {
      const storage = await makeStorage()
      const ids = Array.from({ length: 100 }, (_, index) => `a${index}`)
      await mustCommit(storage, ...ids.map((id) => insertClaim(id)))
      const conflicting = [17, 64, 99]
      const changes = ids.map((id, index) => replaceClaim(id, conflicting.includes(index) ? 3 : 1, index))
      assertConflicts(await storage.commit(changes), conflicting, 'a commit with three conflicts')
      const one = ids.map((id, index) => (index === 99 ? insertClaim('a0') : replaceClaim(id, 1, index)))
      assertConflicts(await storage.commit(one.slice(1)), [98], 'a commit whose last change conflicts')
      const keys = ids.map(claim)
      const before = ids.map(() => 1)
      assertSame(await readVersions(storage, ...keys), before, 'the versions')
      await mustCommit(storage, ...ids.map((id, index) => replaceClaim(id, 1, index)))
      const expected = ids.map((id, index) => ({ id, expiresAt: index }))
      assertSame(await readValues(storage, ...keys), expected, 'the values')
    },
  },
  {
    name: 'a deleted id can be inserted again, at version 1',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, insertClaim('a'))
      await mustCommit(storage, replaceClaim('a', 1, 5))
      await mustCommit(storage, deleteClaim('a', 2))
      await mustCommit(storage, insertClaim('a'))
      assertSame(await readVersions(storage, claim('a')), [1], 'the version')
    },
  },
  {
    name: 'an insert that names a version starts there, and no change fits at a version that its id had before',
    async run(makeStorage) {
      const storage = await makeStorage()
      const start = 2 ** 49 - 1
      const inserts = insertEveryKind('a')
      const keys = KINDS.map((kind) => ({ kind, id: 'a' }))
      await mustCommit(storage, ...inserts)
      await mustCommit(storage, ...keys.map((key): Change => ({ action: 'delete', ...key, version: 1 })))
      await mustCommit(storage, ...inserts.map((insert): Change => ({ ...insert, version: start })))
      const started = KINDS.map(() => start)
      assertSame(await readVersions(storage, ...keys), started, 'the versions')
      for (const insert of inserts) {
        const { kind, value } = insert
        for (const version of [1, start - 1]) {
          for (const change of [
            { ...insert, action: 'replace', version },
            { action: 'delete', kind, id: value.id, version },
            { action: 'check', kind, id: value.id, version },
          ] as const) {
            const result = await storage.commit([change])
            assertConflicts(result, [0], `${change.action} of a record of the kind ${kind}, at ${version} of ${start}`)
          }
        }
      }
      await mustCommit(storage, ...inserts.map((insert): Change => ({ ...insert, action: 'replace', version: start })))
      const replaced = KINDS.map(() => start + 1)
      assertSame(await readVersions(storage, ...keys), replaced, 'the versions once replaced')
      await mustCommit(storage, ...keys.map((key): Change => ({ action: 'check', ...key, version: start + 1 })))
      await mustCommit(storage, ...keys.map((key): Change => ({ action: 'delete', ...key, version: start + 1 })))
      assertSame(await kindsWith(storage, 'a'), [], 'the kinds that are left')
    },
  },
]
