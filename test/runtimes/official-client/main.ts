import { createPrivateKey } from 'node:crypto'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { type OfficialFlow, playOfficialFlow } from './flow.ts'

// A process in which the official client plays its flow, whatever it runs on. It asks in lines of JSON for the time of
// the server to be moved on, and is answered with a line; the last line is what came of it.

/** What the process is started with. */
export interface ClientProcessOptions extends Omit<OfficialFlow, 'client' | 'advance'> {
  readonly client: { readonly walletAddress: string; readonly keyId: string; readonly privateKeyPem: string }
}

const { client, ...options }: ClientProcessOptions = JSON.parse(process.argv[2] ?? '')
const { privateKeyPem, ...identity } = client
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const print = (value: unknown): boolean => process.stdout.write(`${JSON.stringify(value)}\n`)
const outcome = await playOfficialFlow({
  ...options,
  client: { ...identity, privateKey: createPrivateKey(privateKeyPem) },
  async advance(milliseconds) {
    print({ advance: milliseconds })
    await lines.next()
  },
})
print({ outcome })
