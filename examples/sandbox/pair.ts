import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { Configuration } from './configuration.ts'
import { listen, type Sandbox, startSandbox } from './server.ts'

const PEERING = { assetCode: 'USD', assetScale: 2 }
const ADDRESSES = ['test.first', 'test.second'] as const

/**
 * Starts two sandboxes that are peers of each other over Interledger, each with a database in memory, on free ports.
 * They count what they owe each other in dollars.
 */
export async function startPair(
  configuration: Configuration,
  warn: (line: string) => void,
): Promise<readonly [Sandbox, Sandbox]> {
  const servers = [createServer(), createServer()] as const
  const ports = [await listen(servers[0], 0), await listen(servers[1], 0)] as const
  // The token that each sends with its packets to the other.
  const tokens = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')] as const
  const start = (self: 0 | 1, other: 0 | 1): Promise<Sandbox> =>
    startSandbox({
      port: ports[self],
      server: servers[self],
      database: ':memory:',
      configuration: {
        ...configuration,
        ilpAddress: ADDRESSES[self],
        peers: [
          {
            address: ADDRESSES[other],
            url: `http://localhost:${ports[other]}/ilp`,
            outgoingToken: tokens[self],
            incomingTokens: [tokens[other]],
            asset: PEERING,
            maxPacketAmount: 500n,
            isIdempotent: true,
          },
        ],
      },
      warn,
    })
  return [await start(0, 1), await start(1, 0)]
}
