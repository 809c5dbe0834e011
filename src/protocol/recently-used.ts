/** Remembers a limited number of values by name, which begins with a URL; the one unused for longest makes room. */
export interface RecentlyUsed<T> {
  get(name: string): T | undefined
  set(name: string, value: T): void
  delete(name: string): void
}

/** The most values, so that strangers cannot fill the memory. */
const MAXIMUM = 1000

/** If there is no room, a host that has more values than this loses one of its own. */
const SHARE_OF_HOST = 100

/** Remembers values that other servers have a part in. @spec T-5 */
export function recentlyUsed<T>(): RecentlyUsed<T> {
  const entries = new Map<string, { readonly value: T; readonly host: string }>()
  const set = (name: string, value: T): void => {
    const { host } = new URL(name)
    entries.delete(name)
    entries.set(name, { value, host })
    if (entries.size <= MAXIMUM) return
    const ofHost = [...entries].filter(([, entry]) => entry.host === host).map(([other]) => other)
    const [oldest] = ofHost.length > SHARE_OF_HOST ? ofHost : entries.keys()
    if (oldest !== undefined) entries.delete(oldest)
  }
  return {
    get(name) {
      const found = entries.get(name)
      if (found === undefined) return undefined
      entries.delete(name)
      entries.set(name, found)
      return found.value
    },
    set,
    delete: (name) => void entries.delete(name),
  }
}
