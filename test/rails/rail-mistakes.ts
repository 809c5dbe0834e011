import type { Edit } from '../crashes/broken-packages.ts'

/** Mistakes in the code that carries money between wallets, each by its name; nobody notices as long as no process is killed. */
export const RAIL_MISTAKES: Readonly<Record<string, readonly Edit[]>> = {
  'a packet without an answer counts as refused': [
    {
      file: 'adapters/ilp/send-money-flights.ts',
      from: "const isFinal = outcome.outcome === 'rejected' && outcome.isFinal",
      to: 'const isFinal = true',
    },
  ],
  'a payment that is resumed forgets what is in flight': [
    {
      file: 'src/payments/rail/deliver-by-rail.ts',
      from: 'const progress = progressOf(payment)\n  const receiver',
      to: "const progress = { ...progressOf(payment), inFlight: { sent: 0n, received: 0n }, notes: '' }\n  const receiver",
    },
  ],
  'a repeated packet is another transfer': [
    {
      file: 'adapters/ilp/receive-packet.ts',
      from: `return {
    id: toHex(digest.subarray(0, 16)),
    incomingPayment: payment.id,
    account: peer.account,
    accountAmount: amountOf(peer.asset, prepare.amount),
  }`,
      to: `const terms = {
    id: toHex(digest.subarray(0, 16)),
    incomingPayment: payment.id,
    account: peer.account,
    accountAmount: amountOf(peer.asset, prepare.amount),
  }
  const isRepeated = (await server.findReceived(terms)) !== undefined
  return isRepeated ? { ...terms, id: toHex(server.cryptography.randomBytes(16)) } : terms`,
    },
  ],
  'a packet is fulfilled before its money is durable': [
    {
      file: 'adapters/ilp/receive-packet.ts',
      from: 'const rejection = await takeMoney(arrival, refusal)',
      to: `if (refusal === undefined) (globalThis.late ??= []).push(() => takeMoney(arrival, refusal))
  const rejection = refusal`,
    },
    {
      file: 'src/payments/recover.ts',
      from: '  // If one kind of record cannot be read',
      to: `  for (const write of globalThis.late?.splice(0) ?? []) await write()
  // If one kind of record cannot be read`,
    },
  ],
  'credits that were interrupted are forgotten': [
    {
      file: 'src/payments/recover.ts',
      from: 'await creditReceipts(context, waits, money)',
      to: '[]',
    },
  ],
  'the account of the rail is written before the payment': [
    {
      file: 'src/payments/rail/commit-delivery.ts',
      from: ': write(next, moved)',
      to: ': (await context.storage.commit(moved), write(next, []))',
    },
  ],
}
