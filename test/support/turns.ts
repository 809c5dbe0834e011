/** Lets everybody else go on: what waits for it takes a while, like a call to a database. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** The same, so many times. */
export async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left--) await turn()
}

/** Spreads calls over some stores, or ledgers, in turn: each in a process of its own, all of one wallet. */
export function inTurns<T extends object>(twins: readonly T[]): T {
  let calls = 0
  const next = (): T => {
    const twin = twins[calls++ % twins.length]
    if (twin === undefined) throw new TypeError('there is nobody to take turns')
    return twin
  }
  return new Proxy(next(), {
    get: (first, name) => {
      // It is no promise, whoever waits for it.
      if (!(name in first)) return undefined
      return (...parameters: readonly unknown[]): unknown => {
        const twin: object = next()
        return Reflect.apply(Reflect.get(twin, name), twin, parameters)
      }
    },
  })
}
