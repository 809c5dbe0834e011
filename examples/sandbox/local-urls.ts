import type { Storage } from 'open-payments-server'

/** What the records have in place of this server's origin. */
const STORED_ORIGIN = 'http://sandbox.invalid'

function mapTexts<T>(value: T, map: (text: string) => string): T
function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((member) => mapTexts(member, map))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapTexts(member, map)]))
}

function replaceOrigin(from: string, to: string): (text: string) => string {
  return (text) => (text === from || text.startsWith(`${from}/`) ? to + text.slice(from.length) : text)
}

/**
 * A storage whose records do not depend on the server's origin: in its own URLs a placeholder stands for it, so that a
 * database serves the same accounts and payments on another port.
 */
export function storageWithLocalUrls(storage: Storage, origin: string): Storage {
  const store = replaceOrigin(origin, STORED_ORIGIN)
  const restore = replaceOrigin(STORED_ORIGIN, origin)
  return {
    get: async (keys) => mapTexts(await storage.get(keys), restore),
    list: async (query) => mapTexts(await storage.list(mapTexts(query, store)), restore),
    due: async (...query) => mapTexts(await storage.due(...query), restore),
    commit: (changes) => storage.commit(mapTexts(changes, store)),
  }
}
