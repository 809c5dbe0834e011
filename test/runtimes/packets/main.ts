import process from 'node:process'
import { systemClock } from 'open-payments-server'
import { askOverHttp, sendOverFetch } from '../../../adapters/ilp/send-packet.ts'

// A process that sends packets of one octet, 1 and then 2, to the peer at a URL, whatever it runs on. It prints what
// became of both, as a line of JSON.

const url: string = JSON.parse(process.argv[2] ?? '')
const ask = askOverHttp(sendOverFetch, { url, outgoingToken: 'token-of-the-test' }, systemClock())
const outcomes: string[] = []
for (const octet of [1, 2]) outcomes.push((await ask(Uint8Array.of(octet), 10_000)).outcome)
process.stdout.write(`${JSON.stringify(outcomes)}\n`)
