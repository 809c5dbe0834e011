import type { Change, Key, RecordTypes } from '../ports/storage.ts'
import { assertSame } from './assertions.ts'
import { ACCESS_TOKEN, MOMENT, sampleGrant, WALLET_ADDRESS } from './sample-records.ts'
import {
  assertConflicts,
  mustCommit,
  ROUNDS,
  race,
  readValues,
  readVersions,
  type StorageCase,
} from './storage-case.ts'

type Grant = RecordTypes['grant']

/** A grant that its owner has given: it is listed, so it has a wallet address. */
function grantOf(round: number, members: Partial<Grant>): Grant {
  return sampleGrant(`grant${round}`, { walletAddress: WALLET_ADDRESS, account: 'alice', ...members })
}

function tokenOf(round: number, name: string): RecordTypes['access-token'] {
  return { ...ACCESS_TOKEN, id: `${name}${round}`, grantId: `grant${round}` }
}

function insertToken(round: number, name: string): Change {
  return { action: 'insert', kind: 'access-token', value: tokenOf(round, name) }
}

/** A grant whose token is the one of that name. */
function issued(round: number, name: string): Grant {
  return grantOf(round, { state: 'issued', issuedAt: MOMENT, tokenId: `${name}${round}` })
}

/** A token that took the place of the one named `old`. */
function rotated(round: number, name: string): RecordTypes['access-token'] {
  return { ...tokenOf(round, 'old'), state: 'rotated', rotatedAt: MOMENT, successorId: `${name}${round}` }
}

/** A grant, and its token, which is the one named `old`. */
function inserts(round: number): readonly Change[] {
  return [insertToken(round, 'old'), { action: 'insert', kind: 'grant', value: issued(round, 'old') }]
}

/** The commit of a rotation of the token named `old`. */
function rotation(round: number, name: string): readonly Change[] {
  return [
    insertToken(round, name),
    { action: 'replace', kind: 'access-token', version: 1, value: rotated(round, name), dueAt: MOMENT },
    { action: 'replace', kind: 'grant', version: 1, value: issued(round, name), isListed: true },
  ]
}

/** A grant that has ended; its token, named `old`, with it. */
const ENDED = { state: 'finalised', finalisation: 'revoked', issuedAt: MOMENT } as const

function cancellation(round: number): readonly Change[] {
  const token = { ...tokenOf(round, 'old'), state: 'revoked' } as const
  return [
    { action: 'replace', kind: 'grant', version: 1, value: grantOf(round, { ...ENDED, tokenId: `old${round}` }) },
    { action: 'replace', kind: 'access-token', version: 1, value: token, dueAt: MOMENT },
  ]
}

/** The keys of the grant and of tokens by their names. */
function keysOf(round: number, ...names: readonly string[]): readonly Key[] {
  const tokens = names.map((name): Key => ({ kind: 'access-token', id: `${name}${round}` }))
  return [{ kind: 'grant', id: `grant${round}` }, ...tokens]
}

/** What the store promises of the commits that give, rotate and end tokens. */
export const TOKEN_CASES: readonly StorageCase[] = [
  {
    name: 'of two continuations of one grant one gives a token, and the grant names it',
    async run(makeStorage) {
      const storage = await makeStorage()
      for (let round = 0; round < ROUNDS; round++) {
        await mustCommit(storage, { action: 'insert', kind: 'grant', value: grantOf(round, { state: 'approved' }) })
        const names = ['one', 'other']
        const won = await race(
          storage,
          ...names.map((name): readonly Change[] => [
            insertToken(round, name),
            { action: 'replace', kind: 'grant', version: 1, value: issued(round, name), isListed: true },
          ]),
        )
        assertSame([...won].sort(), [false, true], 'which continuations succeeded')
        const winner = won[0] ? 'one' : 'other'
        const expected = [
          issued(round, winner),
          ...names.map((name) => (name === winner ? tokenOf(round, name) : undefined)),
        ]
        assertSame(await readValues(storage, ...keysOf(round, ...names)), expected, 'the grant and its tokens')
      }
    },
  },
  {
    name: 'of two rotations of one token one succeeds, and token and grant name its successor',
    async run(makeStorage) {
      const storage = await makeStorage()
      for (let round = 0; round < ROUNDS; round++) {
        await mustCommit(storage, ...inserts(round))
        const won = await race(storage, rotation(round, 'one'), rotation(round, 'other'))
        assertSame([...won].sort(), [false, true], 'which rotations succeeded')
        const [winner, loser] = won[0] ? (['one', 'other'] as const) : (['other', 'one'] as const)
        const expected = [issued(round, winner), rotated(round, winner), tokenOf(round, winner), undefined]
        assertSame(
          await readValues(storage, ...keysOf(round, 'old', winner, loser)),
          expected,
          'the grant and its tokens',
        )
        assertConflicts(await storage.commit(rotation(round, loser)), [1, 2], 'the rotation that lost, again')
      }
    },
  },
  {
    name: 'of a rotation and a cancellation one succeeds, and no token outlives its grant',
    async run(makeStorage) {
      const storage = await makeStorage()
      for (let round = 0; round < ROUNDS; round++) {
        await mustCommit(storage, ...inserts(round))
        const commits = [rotation(round, 'new'), cancellation(round)]
        const won = await race(storage, ...(round % 2 === 0 ? commits : commits.toReversed()))
        assertSame([...won].sort(), [false, true], 'which of both succeeded')
        const isRotated = won[0] === (round % 2 === 0)
        const states = (await storage.get(keysOf(round, 'old', 'new'))).map(
          (record) => record !== undefined && 'state' in record.value && record.value.state,
        )
        const expected = isRotated ? ['issued', 'rotated', 'active'] : ['finalised', 'revoked', false]
        assertSame(states, expected, 'the states of the grant and its tokens')
        const versions = await readVersions(storage, ...keysOf(round, 'old', 'new'))
        assertSame(versions, [2, 2, isRotated ? 1 : undefined], 'the versions')
      }
    },
  },
]
