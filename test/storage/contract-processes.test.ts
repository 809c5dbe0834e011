import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CommitResult, Storage, StoredRecord } from '../../src/ports/storage.ts'
import { inTurns } from '../../src/testing/in-turns.ts'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { type BundledProgram, bundleProgram } from '../flows/races/bundled-program.ts'
import { callerOf, type RemoteProcess } from '../flows/races/remote-process.ts'
import type { StorageCall } from './contract-process.ts'

let program: BundledProgram
let processes: readonly RemoteProcess<StorageCall>[]
let files = 0

beforeAll(async () => {
  program = await bundleProgram('test/storage/contract-process.ts')
  processes = [callerOf(program.start({})), callerOf(program.start({}))]
})

afterAll(async () => {
  for (const one of processes) await one.stop()
  program.remove()
})

/** A storage whose calls two processes take in turn, both on one SQLite file. */
async function onTwoProcesses(): Promise<Storage> {
  const file = join(program.folder, `${++files}.db`)
  return inTurns(processes.map((one) => storageIn(one, file)))
}

/** A storage whose calls a process takes. */
function storageIn(process: RemoteProcess<StorageCall>, file: string): Storage {
  const ask = async <T>(call: Omit<StorageCall, 'file'>): Promise<T> =>
    (await process.ask({ file, ...call } as StorageCall)) as T
  return {
    get: (...parameters) => ask<readonly (StoredRecord | undefined)[]>({ method: 'get', parameters }),
    list: (...parameters) => ask<readonly StoredRecord[]>({ method: 'list', parameters }),
    due: (...parameters) => ask<readonly StoredRecord[]>({ method: 'due', parameters }),
    commit: (...parameters) => ask<CommitResult>({ method: 'commit', parameters }),
  }
}

describe('the storage contract on one SQLite file in two processes', () => {
  const cases = storageContract().filter(({ needs }) => needs === undefined)
  it.each(cases.map((contractCase) => [contractCase.name, contractCase] as const))('%s', (_case, { run }) =>
    expect(run(onTwoProcesses)).resolves.toBeUndefined(),
  )
})
