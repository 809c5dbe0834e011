import { isConfigurationError } from 'open-payments-server'
import { type Ilp, ilp } from 'open-payments-server/ilp'
import type { Configuration } from './configuration.ts'

/** What has gone to a peer and come from it, in the smallest unit; `owed` by it, or to it where that is below zero. */
export interface PeerDescription {
  readonly address: string
  readonly assetCode: string
  readonly assetScale: number
  readonly sent: string
  readonly received: string
  readonly owed: string
}

/** The way to the peers, where there are any; what is wrong with it is named as the configuration names it. */
export function createRail({ ilpAddress, peers = [] }: Configuration): Ilp | undefined {
  if (ilpAddress === undefined || peers.length === 0) return undefined
  try {
    return ilp({ address: ilpAddress, peers })
  } catch (error) {
    if (!isConfigurationError(error)) throw error
    throw new Error(error.message.replace(/^address /, 'ilpAddress '))
  }
}

/** Where the sandbox stands with each peer. */
export async function describePeers(
  rail: Ilp | undefined,
  { peers = [] }: Configuration,
): Promise<readonly PeerDescription[]> {
  if (rail === undefined) return []
  const described = peers.map(async ({ address, asset }) => {
    const { sent, received, owed } = await rail.balance(address, asset)
    return { address, ...asset, sent: String(sent), received: String(received), owed: String(owed) }
  })
  return Promise.all(described)
}
