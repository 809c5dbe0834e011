/** The values that were set last, by name. */
export interface LatestValues<T> {
  get(name: string): T | undefined
  set(name: string, value: T): void
}

/**
 * Remembers the `count` names that were set last, and less than twice as many. In two maps, the older of which is dropped as a
 * whole: to find the oldest name of one map, V8 passes over all that were deleted before it, which takes microseconds.
 * `onForget` is given the values that are dropped.
 */
export function latestValues<T>(
  count: number,
  onForget: (values: Iterable<T>) => void = () => undefined,
): LatestValues<T> {
  let newer = new Map<string, T>()
  let older = new Map<string, T>()
  return {
    get: (name) => newer.get(name) ?? older.get(name),
    set: (name, value) => {
      newer.set(name, value)
      if (newer.size < count) return
      onForget(older.values())
      older = newer
      newer = new Map()
    },
  }
}
