import { openSqlite, sqliteStorage } from '../../adapters/storage/sqlite.ts'
import type { Storage } from '../../src/ports/storage.ts'
import { answerCalls } from '../flows/races/remote-process.ts'

/** A call of the storage in a file. */
export type StorageCall = { readonly file: string } & {
  readonly [M in keyof Storage]: { readonly method: M; readonly parameters: Parameters<Storage[M]> }
}[keyof Storage]

const storages = new Map<string, Storage>()

async function storageIn(file: string): Promise<Storage> {
  const known = storages.get(file) ?? sqliteStorage(await openSqlite(file))
  storages.set(file, known)
  return known
}

answerCalls(async (call: StorageCall) => {
  const storage = await storageIn(call.file)
  switch (call.method) {
    case 'get':
      return storage.get(...call.parameters)
    case 'list':
      return storage.list(...call.parameters)
    case 'due':
      return storage.due(...call.parameters)
    case 'commit':
      return storage.commit(...call.parameters)
  }
})
