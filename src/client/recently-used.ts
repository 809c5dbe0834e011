/** Remembers values by name, so many of them; the one unused for longest makes room. */
export interface RecentlyUsed<T> {
  get(name: string): T | undefined
  set(name: string, value: T): void
  delete(name: string): void
}

/** Remembers at most `maximum` values. What strangers can fill is bounded by this. @spec T-5 */
export function recentlyUsed<T>(maximum: number): RecentlyUsed<T> {
  const entries = new Map<string, T>()
  const set = (name: string, value: T): void => {
    entries.delete(name)
    entries.set(name, value)
    const [oldest] = entries.keys()
    if (entries.size > maximum && oldest !== undefined) entries.delete(oldest)
  }
  return {
    get(name) {
      const value = entries.get(name)
      if (value !== undefined) set(name, value)
      return value
    },
    set,
    delete: (name) => void entries.delete(name),
  }
}
