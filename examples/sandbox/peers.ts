import { isConfigurationError } from 'open-payments-server'
import { type Ilp, ilp } from 'open-payments-server/ilp'
import type { Configuration } from './configuration.ts'

/** What was sent to a peer and received from it, in the smallest unit. `owed`: by the peer; if negative, to it. */
export interface PeerDescription {
  readonly address: string
  readonly assetCode: string
  readonly assetScale: number
  readonly sent: string
  readonly received: string
  readonly owed: string
}

/** The rail to the peers, if there are any. Its errors name the options as the configuration file does. */
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
