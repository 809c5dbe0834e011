import type { Change, RecordTypes } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import type { Context } from '../../src/ports/context.ts'
import { createDecideTogether } from '../../src/records/decide-together.ts'
import { createTurns } from '../../src/records/in-turn.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { gate } from '../support/gate.ts'

const KEY = 'grant:1'

/** What decides together, over a storage whose commits are noted. */
function bench() {
  const storage = memoryStorage()
  const commits: (readonly Change[])[] = []
  const commit: typeof storage.commit = (changes) => {
    commits.push(changes)
    return storage.commit(changes)
  }
  const inTurn = createTurns()
  const own = { storage: { ...storage, commit }, clock: fakeClock(), emit: () => undefined }
  return { inTurn, decideTogether: createDecideTogether(own, inTurn), commits }
}

/** What is decided: its changes, or `undefined` where it must be decided alone. */
type Planned = readonly Change[] | undefined

/** Decides these while a task before them has the turn, so that they wait for it together; answers how each was decided. */
async function decideBehind(
  { inTurn, decideTogether }: Pick<Context, 'inTurn' | 'decideTogether'>,
  planned: readonly Planned[],
): Promise<readonly string[]> {
  const { open, opened } = gate()
  const held = inTurn(KEY, () => opened)
  const decided = planned.map((changes) =>
    decideTogether(
      KEY,
      async () => changes && { changes, answer: 'together' },
      async () => 'alone',
    ),
  )
  open()
  await held
  return Promise.all(decided)
}

const claim = (id: string): Change => ({
  action: 'insert',
  kind: 'replay-claim',
  value: { id, expiresAt: 9 },
  dueAt: 9,
})

const checkToken = (version: number): Change => ({ action: 'check', kind: 'access-token', id: 'token', version })

describe('decideTogether', () => {
  it('names no more in one commit than a store takes, and those beyond are decided alone', async () => {
    const { commits, ...parts } = bench()
    const planned = Array.from({ length: 16 }, (_, order) =>
      Array.from({ length: 8 }, (_unused, index) => claim(`${order}-${index}`)),
    )
    const decided = await decideBehind(parts, planned)
    const alone = Array.from({ length: 4 }, () => 'alone')
    expect(decided).toEqual([...Array.from({ length: 12 }, () => 'together'), ...alone])
    expect(commits).toEqual([planned.slice(0, 12).flat()])
  })

  it('a plan that would still fit after one that does not is committed with those before', async () => {
    const { commits, ...parts } = bench()
    const many = Array.from({ length: 98 }, (_, index) => claim(`many-${index}`))
    const three = ['a', 'b', 'c'].map((id) => claim(id))
    const two = ['d', 'e'].map((id) => claim(id))
    expect(await decideBehind(parts, [many, three, two])).toEqual(['together', 'alone', 'together'])
    expect(commits).toEqual([[...many, ...two]])
  })

  it('TOK-9 makes one and the same check of a token once', async () => {
    const { commits, ...parts } = bench()
    const planned = ['a', 'b'].map((id) => [claim(id), checkToken(1)])
    await decideBehind(parts, planned)
    expect(commits).toEqual([[claim('a'), checkToken(1), claim('b')]])
  })

  it('TOK-9 a check of a token that is in the commit already takes no room there', async () => {
    const { commits, ...parts } = bench()
    const many = Array.from({ length: 98 }, (_, index) => claim(`many-${index}`))
    const planned = [
      [...many, checkToken(1)],
      [claim('a'), checkToken(1)],
    ]
    await decideBehind(parts, planned)
    expect(commits).toEqual([[...many, checkToken(1), claim('a')]])
  })

  it('TOK-9 who knows a token in another version than those before is decided alone', async () => {
    const { commits, ...parts } = bench()
    const planned = [
      [claim('a'), checkToken(1)],
      [claim('b'), checkToken(2)],
    ]
    await decideBehind(parts, planned)
    expect(commits).toEqual([[claim('a'), checkToken(1)]])
  })

  it.each(['who checks a token that one before writes', 'who writes a token that one before checks'])(
    'TOK-9 %s is decided alone: neither change may stand for the other',
    async (who) => {
      const { commits, ...parts } = bench()
      const value = { id: 'token' } as unknown as RecordTypes['access-token']
      const write: Change = { action: 'replace', kind: 'access-token', version: 1, value }
      const token = who.startsWith('who checks') ? [write, checkToken(1)] : [checkToken(1), write]
      const planned = token.map((change, order) => [claim(`${order}`), change])
      await decideBehind(parts, planned)
      expect(commits).toEqual([planned[0]])
    },
  )

  it('takes up to 16 along in one turn, each of them once', async () => {
    const { commits, ...parts } = bench()
    const planned = Array.from({ length: 17 }, (_, order) => [claim(`${order}`)])
    const together = Array.from({ length: 16 }, () => 'together')
    expect(await decideBehind(parts, planned)).toEqual([...together, 'alone'])
    expect(commits).toEqual([planned.slice(0, 16).flat()])
    expect(await decideBehind(parts, [[claim('later')]])).toEqual(['alone'])
  })

  it('a task that nobody can take along is decided before those that are too many for the turn ahead of it', async () => {
    const { commits, inTurn, decideTogether } = bench()
    const { open, opened } = gate()
    const held = inTurn(KEY, () => opened)
    const before: number[] = []
    const decided = Array.from({ length: 18 }, (_, order) =>
      decideTogether(
        KEY,
        async () => (order === 1 ? undefined : { changes: [claim(`${order}`)], answer: undefined }),
        async () => void before.push(commits.length),
      ),
    )
    open()
    await Promise.all([held, ...decided])
    expect(before).toEqual([1])
    expect(commits.map(({ length }) => length)).toEqual([15, 2])
  })

  it('commits nothing where none has a plan, and each is decided alone', async () => {
    const { commits, ...parts } = bench()
    expect(await decideBehind(parts, [undefined, undefined, undefined])).toEqual(['alone', 'alone', 'alone'])
    expect(commits).toEqual([])
  })
})
