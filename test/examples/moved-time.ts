import { afterAll, beforeAll, vi } from 'vitest'

/**
 * Lets a file of tests move the time of this whole process, timers aside: the official client signs with the system's
 * time, so a server's clock that was moved alone would refuse what it sends. It still passes by itself, too.
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
