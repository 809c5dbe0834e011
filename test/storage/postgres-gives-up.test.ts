import { afterEach, expect, it, vi } from 'vitest'
import { inTime } from '../../adapters/storage/postgres/in-time.ts'
import { migrate } from '../../adapters/storage/postgres/migrate.ts'
import { STORAGE_MIGRATIONS, STORAGE_READABLE_FROM } from '../../adapters/storage/sql/schema.ts'

afterEach(() => {
  vi.useRealTimers()
})

// One of each statement would stay for `answerSeconds`, and would keep a process alive that has nothing else to do.
it.each([
  ['an answer', async () => 'a row'],
  ['a failure', () => Promise.reject(new Error('the connection is lost'))],
])('no timer stays behind after %s of the database', async (_what, ask) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const [expected] = await Promise.allSettled([ask()])
  expect(await Promise.allSettled([inTime(ask(), 30)])).toEqual([expected])
  expect(vi.getTimerCount()).toBe(0)
})

it('a start gives up where what looks like a race with another one never ends, and rejects with what the database said', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let tries = 0
  const script = async (): Promise<void> => {
    tries += 1
    throw Object.assign(new Error('duplicate key'), { code: '23505' })
  }
  const start = migrate({ query: async () => [], script }, 'storage', STORAGE_MIGRATIONS, STORAGE_READABLE_FROM)
  const outcome = start.catch((error: unknown) => error)
  for (let pause = 0; pause < 40; pause++) await vi.advanceTimersByTimeAsync(200)
  expect(tries).toBe(20)
  expect(await outcome).toMatchObject({ message: 'duplicate key' })
})
