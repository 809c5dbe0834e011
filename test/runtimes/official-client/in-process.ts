import { startLines } from '../line-process.ts'
import type { PaymentParties } from '../paying-flow.ts'
import { addressOf } from '../paying-flow.ts'
import type { ClientProcessOptions } from './main.ts'

/** Has the official client play its flow in a process of its own; resolves with what came of it. */
export async function playInProcess(command: readonly string[], parties: PaymentParties): Promise<unknown> {
  const { server, shop } = parties
  const client = startLines(command, {
    client: {
      walletAddress: addressOf(parties, 'shop'),
      keyId: shop.jwk.kid,
      privateKeyPem: String(shop.privateKey.export({ type: 'pkcs8', format: 'pem' })),
    },
    payer: addressOf(parties, 'alice'),
    payee: addressOf(parties, 'bob'),
    credentials: { password: 'alice' },
  } satisfies ClientProcessOptions)
  try {
    for (;;) {
      const said = (await client.read()) as { readonly advance: number } | { readonly outcome: unknown }
      if ('outcome' in said) return said.outcome
      await server.advance(said.advance)
      client.write('advanced')
    }
  } finally {
    await client.stop()
  }
}
