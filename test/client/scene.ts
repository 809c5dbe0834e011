import type { OpenPaymentsEvent, OpenPaymentsOptions } from 'open-payments-server'
import { createRemoteReceivers } from '../../src/client/remote-receivers.ts'
import { derivedServerKeys } from '../../src/http-signatures/server-keys.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { SendOutbound } from '../../src/ports/outbound-requests.ts'
import type { RemoteReceivers } from '../../src/ports/remote-receivers.ts'
import { derivedSecrets } from '../../src/runtime/derived-secrets.ts'
import { outboundRequests } from '../../src/runtime/outbound-requests.ts'
import { lookupsBudget } from '../../src/runtime/request-budget.ts'
import { AUTH, BASE, cryptography, type TestWallet, testWallet } from '../support/test-wallet.ts'
import { hosting, type Internet, internet } from './internet.ts'

export const OUR_SECRETS = ['the secret of the server that reads, long enough'] as const

/** A server that reads receivers over a network. */
export function readerOn(
  world: Internet,
  clock: Clock,
  options: {
    readonly clientWalletAddress?: string
    readonly secrets?: readonly string[]
    readonly events?: OpenPaymentsEvent[]
    readonly loopbackHttp?: boolean
    /** Which requests do not go out, as if their budget were spent. */
    readonly refuses?: (...given: Parameters<SendOutbound>) => boolean | Promise<boolean>
  } = {},
): RemoteReceivers {
  const { secrets = OUR_SECRETS, clientWalletAddress, events = [], loopbackHttp = false, refuses } = options
  const derived = derivedSecrets(secrets, cryptography)
  const send = outboundRequests({ clock, loopbackHttp, network: world.network })
  return createRemoteReceivers({
    clock,
    cryptography,
    secrets: derived,
    serverKeys: derivedServerKeys(derived, cryptography),
    send: async (...given) =>
      (await refuses?.(...given)) ? { ok: false, reason: 'unreachable', detail: 'no budget' } : send(...given),
    charge: lookupsBudget(clock),
    loopbackHttp,
    ...(clientWalletAddress !== undefined && { clientWalletAddress }),
    emit: (event) => void events.push(event),
  })
}

/** A wallet of this library, at its two hosts, and a server that reads receivers there. */
export interface Scene {
  readonly wallet: TestWallet
  readonly world: Internet
  readonly receivers: RemoteReceivers
}

export async function scene(
  overrides: Partial<OpenPaymentsOptions> = {},
  options: Parameters<typeof readerOn>[2] = {},
): Promise<Scene> {
  const wallet = await testWallet(overrides)
  const world = internet()
  for (const base of [AUTH, BASE]) world.hosts.set(new URL(base).host, hosting(wallet))
  return { wallet, world, receivers: readerOn(world, wallet.clock, options) }
}
