import { unavailable } from '../errors/conditions.ts'
import type { ServiceEvent } from '../ports/events.ts'
import type { Storage } from '../ports/storage.ts'

/**
 * The host's storage with its failures made ours: a read that fails is an event and "unavailable", since nothing is
 * known and nothing has happened. What a failed commit means is for `decide` to find out.
 */
export function guardStorage(storage: Storage, now: () => number, emit: (event: ServiceEvent) => void): Storage {
  const guard = async <T>(read: Promise<T>): Promise<T> => {
    try {
      return await read
    } catch (cause) {
      emit({ type: 'fault', at: now(), operation: undefined, message: 'the storage could not be read', cause })
      throw unavailable('the storage could not be read')
    }
  }
  return {
    get: (keys) => guard(storage.get(keys)),
    list: (query) => guard(storage.list(query)),
    due: (kind, at, limit) => guard(storage.due(kind, at, limit)),
    commit: (changes) => storage.commit(changes),
  }
}
