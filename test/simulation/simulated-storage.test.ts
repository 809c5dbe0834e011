import type { Storage } from 'open-payments-server'
import { storageContract } from 'open-payments-server/testing'
import { describe, it } from 'vitest'
import { simulatedStorage } from './simulated-storage.ts'

/** What is simulated must be what the library is promised: else the runs would say nothing of real stores. */
async function promised(): Promise<Storage> {
  const { get, list, due, commit } = simulatedStorage()
  return {
    get: async (keys) => get(keys),
    list: async (query) => list(query),
    due: async (kind, now, limit) => due(kind, now, limit),
    commit: async (changes) => commit(changes),
  }
}

describe('the storage of the simulation', () => {
  it.each(storageContract().filter(({ needs }) => needs === undefined))('$name', ({ run }) => run(promised))
})
