import type { Change } from '../ports/storage.ts'
import { assertSame } from './assertions.ts'
import {
  checkClaim,
  claim,
  deleteClaim,
  insertClaim,
  mustCommit,
  readVersions,
  replaceClaim,
  type StorageCase,
  type StorageUnderTest,
} from './storage-case.ts'

type Moment = 'before commit' | 'after commit'

const REJECTION = 'a rejection'

/** Lets the database fail once in each of some commits, and looks what is there. */
async function failCommits(makeStorage: () => Promise<StorageUnderTest>, moment: Moment): Promise<void> {
  const storage = await makeStorage()
  if (storage.failNext === undefined) return
  await mustCommit(storage, insertClaim('a'), insertClaim('b'), insertClaim('c'))
  const happens = moment === 'after commit'
  const commits: readonly (readonly [what: string, changes: readonly Change[], versions: readonly unknown[]])[] = [
    ['one insert', [insertClaim('d')], happens ? [1, 1, 1, 1] : [1, 1, 1, undefined]],
    ['one replacement', [replaceClaim('a', 1, 5)], happens ? [2, 1, 1, 1] : [1, 1, 1, undefined]],
    [
      'several changes',
      [checkClaim('b', 1), deleteClaim('c', 1), insertClaim('e')],
      happens ? [2, 1, undefined, 1, 1] : [1, 1, 1, undefined, undefined],
    ],
  ]
  for (const [what, changes, versions] of commits) {
    await storage.failNext(moment)
    const answer = await storage.commit(changes).catch(() => REJECTION)
    assertSame(
      answer,
      REJECTION,
      `the answer to a commit of ${what} whose database fails ${moment} (by an error that is not tried again)`,
    )
    const keys = ['a', 'b', 'c', 'd', 'e'].slice(0, versions.length).map(claim)
    assertSame(await readVersions(storage, ...keys), versions, `the versions after a commit of ${what} that failed so`)
  }
  await mustCommit(storage, insertClaim('f'))
}

/** What the store promises of a commit whose database fails: it rejects, and is not made again. */
export const FAILURE_CASES: readonly StorageCase[] = [
  {
    name: 'if failNext is given: a commit that fails before it is made rejects, and nothing of it is there',
    needs: 'failNext',
    run: (makeStorage) => failCommits(makeStorage, 'before commit'),
  },
  {
    name: 'if failNext is given: a commit that fails after it was made rejects, and is there once',
    needs: 'failNext',
    run: (makeStorage) => failCommits(makeStorage, 'after commit'),
  },
]
