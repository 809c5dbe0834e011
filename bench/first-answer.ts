import type { Runtime } from '../test/runtimes/runtimes.ts'
import { runLoad } from './load.ts'
import { plainBytes, signedBytes } from './requests.ts'
import { median } from './statistics.ts'
import { startServer } from './subject.ts'
import { AUTH, BASE, type ClientKey, signingKeyOf } from './wallet.ts'

/** Milliseconds of CPU from the start of a process until its first answers are out; medians. */
export interface FirstAnswer {
  readonly listening: number
  /** A wallet address was read, too. */
  readonly read: number
  /** And a grant was requested, signed and stored. */
  readonly granted: number
}

const STARTS = 5

/** Starts a server on a SQLite file several times, and asks it as soon as it listens. The file is there but the first time. */
export async function measureFirstAnswer(runtime: Runtime, key: ClientKey, place: string): Promise<FirstAnswer> {
  const runs: FirstAnswer[] = []
  for (let run = 0; run < STARTS; run++) {
    const child = await startServer(runtime, { host: 'node', storage: 'sqlite', place, key, hasGrants: false })
    const used = async (): Promise<number> => (await child.usage()).cpuMicroseconds / 1000
    const { port } = child.hello
    const listening = await used()
    await runLoad(port, [plainBytes(`${BASE}/shop`)], 1, 200)
    const read = await used()
    const access = [{ type: 'incoming-payment', actions: ['create'] }]
    const json = { access_token: { access }, client: `${BASE}/shop` }
    const request = { method: 'POST', url: `${AUTH}/`, json }
    await runLoad(port, [await signedBytes({ key: signingKeyOf(key), ahead: 0 }, request)], 1, 200)
    runs.push({ listening, read, granted: await used() })
    await child.end()
  }
  const middle = (of: (run: FirstAnswer) => number): number => median(runs.slice(1).map(of))
  return {
    listening: middle((run) => run.listening),
    read: middle((run) => run.read),
    granted: middle((run) => run.granted),
  }
}
