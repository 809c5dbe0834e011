import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../src/runtime/system-clock.ts'

/** Whether a promise has settled by now, with every timer as it stands. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending')
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending
}

describe('systemClock', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 1_700_000_000_123 })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('tells milliseconds since 1970', () => {
    expect(systemClock().now()).toBe(1_700_000_000_123)
  })

  it('sleeps as long as it is told', async () => {
    const sleep = systemClock().sleep(1000)
    await vi.advanceTimersByTimeAsync(999)
    expect(await isSettled(sleep)).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(await isSettled(sleep)).toBe(true)
  })

  it('wakes up when it is aborted, and leaves no timer and no listener', async () => {
    const controller = new AbortController()
    const removed = vi.spyOn(controller.signal, 'removeEventListener')
    const sleep = systemClock().sleep(1000, controller.signal)
    expect(vi.getTimerCount()).toBe(1)
    controller.abort()
    await expect(sleep).resolves.toBeUndefined()
    expect(vi.getTimerCount()).toBe(0)
    expect(removed).toHaveBeenCalledOnce()
  })

  it('leaves no listener when it slept to the end', async () => {
    const controller = new AbortController()
    const added = vi.spyOn(controller.signal, 'addEventListener')
    const removed = vi.spyOn(controller.signal, 'removeEventListener')
    const sleep = systemClock().sleep(10, controller.signal)
    await vi.advanceTimersByTimeAsync(10)
    await sleep
    expect(removed.mock.calls[0]?.[1]).toBe(added.mock.calls[0]?.[1])
  })

  it('does not sleep at all on a signal that is aborted already', async () => {
    await expect(systemClock().sleep(1000, AbortSignal.abort())).resolves.toBeUndefined()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('lets the process end while it sleeps', async () => {
    vi.useRealTimers()
    const set = vi.spyOn(globalThis, 'setTimeout')
    const controller = new AbortController()
    const sleep = systemClock().sleep(60_000, controller.signal)
    const timer = set.mock.results[0]?.value
    set.mockRestore()
    expect(timer.hasRef()).toBe(false)
    controller.abort()
    await sleep
  })
})
