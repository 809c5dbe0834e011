/** How often something happened, by the name of what is counted. */
export type Counts = Readonly<Record<string, number>>

/** Counts. */
export interface Counter {
  add(name: string, times?: number): void
  /** What was counted since the last time; it begins anew. */
  take(): Counts
}

export function createCounter(): Counter {
  let counts: Record<string, number> = {}
  return {
    add(name, times = 1) {
      counts[name] = (counts[name] ?? 0) + times
    },
    take() {
      const taken = counts
      counts = {}
      return taken
    },
  }
}

/** Hands an object on, and counts the calls of its methods under the names that `nameOf` gives; `undefined`: not counted. */
export function countCalls<T extends object>(
  target: T,
  { add }: Counter,
  nameOf: (method: string) => string | undefined,
): T {
  return new Proxy(target, {
    get: (object, property) => {
      const value: unknown = Reflect.get(object, property)
      const name = nameOf(String(property))
      if (typeof value !== 'function' || name === undefined) return value
      return (...values: unknown[]) => {
        add(name)
        return Reflect.apply(value, object, values)
      }
    },
  })
}
