import { type Clock, type Cryptography, type KeyResolver, webCryptography } from 'open-payments-server'

/** Time and chance of a server, as a test sets them. */
export interface HeldPorts {
  readonly clock: Clock
  readonly cryptography: Cryptography
  readonly keyResolver: KeyResolver
  /** Sets the time, and what is random from now on. */
  set(now: number, seed: number): void
}

/** The runtime's own cryptography but for its randomness, a clock that stands still, and no network. */
export function heldPorts(): HeldPorts {
  let now = 0
  let state = 0
  const randomByte = (): number => {
    state = (state * 48_271) % 2_147_483_647
    return (state >> 8) & 255
  }
  return {
    set(at, seed) {
      now = at
      state = (seed * 7919 + 12_345) % 2_147_483_647
    },
    // A deadline never comes where time stands still; a pause before another try is over at once.
    clock: {
      now: () => now,
      sleep: (_, signal) =>
        signal === undefined
          ? Promise.resolve()
          : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
    },
    cryptography: {
      ...webCryptography(),
      randomBytes: (length) => Uint8Array.from({ length }, randomByte),
    },
    keyResolver: {
      keySet: async () => ({ ok: false, reason: 'unreachable' }),
      publicName: async () => undefined,
    },
  }
}
