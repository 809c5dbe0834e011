import type { JsonWebKey, KeyResolver } from 'open-payments-server'
import { createSigningKey } from 'open-payments-server/testing'
import { type Client, cryptography } from './test-wallet.ts'

/** A key resolver that answers from what a test puts into it. */
export interface KeyRegistry extends KeyResolver {
  /** Key sets by wallet address; a missing one is a host that cannot be reached. */
  readonly sets: Map<string, readonly JsonWebKey[]>
  readonly names: Map<string, string>
  /** Every wallet address that was asked about, in order. */
  readonly asked: string[]
}

export function keyRegistry(): KeyRegistry {
  const sets = new Map<string, readonly JsonWebKey[]>()
  const names = new Map<string, string>()
  const asked: string[] = []
  return {
    sets,
    names,
    asked,
    async keySet(walletAddress) {
      asked.push(walletAddress)
      const keys = sets.get(walletAddress)
      return keys === undefined ? { ok: false, reason: 'unreachable', detail: 'no such client' } : { ok: true, keys }
    },
    publicName: async (walletAddress) => names.get(walletAddress),
  }
}

/** The wallet address of a client on another server. */
export const SHOP = 'https://shop.example/pay'

/** Registers a client on another server, with one key. */
export async function remoteClient(registry: KeyRegistry, walletAddress = SHOP, keyId = 'shop-key'): Promise<Client> {
  const key = await createSigningKey(cryptography, keyId)
  registry.sets.set(walletAddress, [key.jwk])
  return { key, client: walletAddress }
}
