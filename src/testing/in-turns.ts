/**
 * Spreads calls over some ledgers, or storages, as if each were in a process of its own: every call goes to the next of
 * them, and after the last it is the first one's turn again. Make each with a connection or a pool of its own to one
 * database. The answer has the members that the first one has, all of them functions. Throws a `TypeError` if there
 * is none, or a promise among them.
 */
export function inTurns<T extends object>(twins: readonly T[]): T {
  let calls = 0
  const next = (): T => {
    const twin = twins[calls++ % twins.length]
    if (twin === undefined) throw new TypeError('there is nobody to take turns')
    return twin
  }
  if (twins.some((twin) => 'then' in Object(twin))) throw new TypeError('a promise cannot take turns: await it')
  const first = next()
  // A copy, because a proxy of the first one itself could not replace members that are frozen.
  const copy: T = Object.assign(Object.create(Object.getPrototypeOf(first)), first)
  return new Proxy(copy, {
    get: (_, name) => {
      // So that the result has no `then`: it is not a promise, even if somebody awaits it.
      if (!(name in first)) return undefined
      return (...parameters: readonly unknown[]): unknown => {
        const twin: object = next()
        return Reflect.apply(Reflect.get(twin, name), twin, parameters)
      }
    },
  })
}
