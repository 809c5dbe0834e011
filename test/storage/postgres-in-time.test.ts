import { afterEach, expect, it, vi } from 'vitest'
import { inTime } from '../../adapters/storage/postgres/in-time.ts'

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
