import { afterAll, beforeAll, vi } from 'vitest'

/**
 * Lets a file of tests move the time of this whole process, timers aside: the official client signs with the system's
 * time, so a server's clock that was moved alone would refuse what it sends. The date still passes by itself, too: a deadline that
 * looks at a date which stands still would never end.
 */
export function useMovedTime(): { readonly advance: (milliseconds: number) => void } {
  beforeAll(() => {
    vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true })
  })
  afterAll(() => {
    vi.useRealTimers()
  })
  return {
    advance: (milliseconds) => {
      vi.setSystemTime(Date.now() + milliseconds)
    },
  }
}
