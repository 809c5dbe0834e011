import type {
  Access,
  AuditedPayment,
  Change,
  CommitResult,
  DecidedInteraction,
  Decider,
  OpenPayments,
  StoredRecord,
} from 'open-payments-server'

/** A refusal has a reason, and nothing else. */
export async function narrowsInteractions(openPayments: OpenPayments, decider: Decider): Promise<string> {
  const opened = await openPayments.interactions.find('reference', decider)
  // @ts-expect-error whether it was found comes first
  const early: unknown = opened.consent
  if (!opened.ok) return `${String(early)} ${opened.reason}`
  const decided: DecidedInteraction = await openPayments.interactions.approve('reference', {
    ...decider,
    access: 'all',
  })
  if (!decided.ok) {
    // @ts-expect-error a refusal leads nowhere
    return `${decided.redirect} ${decided.reason}`
  }
  // @ts-expect-error what was approved has no reason
  return decided.redirect ?? `${opened.consent.client.origin} ${decided.reason}`
}

/** What a person approves is a part of what was asked. */
export async function approvesParts(openPayments: OpenPayments, decider: Decider): Promise<void> {
  const access: Access = {
    type: 'outgoing-payment',
    actions: ['create'],
    identifier: 'https://wallet.example/alice',
    limits: { debitAmount: { value: '1000', assetCode: 'EUR', assetScale: 2 } },
  }
  await openPayments.interactions.approve('reference', { ...decider, access: [access] })
  // @ts-expect-error all of it is granted only where that is said
  await openPayments.interactions.approve('reference', decider)
  // @ts-expect-error an approval brings the anti-CSRF value back
  await openPayments.interactions.approve('reference', { session: 's', walletAddresses: [], access: 'all' })
}

/** What came from elsewhere is an amount of an asset. */
export async function receives(openPayments: OpenPayments): Promise<bigint | string> {
  const euros = { assetCode: 'EUR', assetScale: 2 }
  const received = await openPayments.incomingPayments.received('id', { value: 100n, ...euros }, 'transfer-1')
  // @ts-expect-error a number would be a float
  await openPayments.incomingPayments.received('id', { value: 100, ...euros }, 'transfer-1')
  // @ts-expect-error it is of some asset
  await openPayments.incomingPayments.received('id', 100n, 'transfer-1')
  return received.ok ? received.accepted + received.excess : received.reason
}

/** The audit is read one payment at a time. */
export async function reads(openPayments: OpenPayments): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const payment of openPayments.audit('https://wallet.example/alice')) ids.push(payment.id)
  return ids
}

/** What was audited is a record, not something to change. */
export function isReadOnly(payment: AuditedPayment): void {
  // @ts-expect-error read only
  payment.state = 'completed'
}

/** A commit names the kind of every record, and a record is of its kind. */
export function commits(record: StoredRecord<'quote'>): readonly Change[] {
  return [
    { action: 'replace', kind: 'quote', version: record.version, value: record.value },
    { action: 'delete', kind: 'grant', id: 'id', version: 1 },
    // @ts-expect-error a quote is no grant
    { action: 'replace', kind: 'grant', version: record.version, value: record.value },
    // @ts-expect-error what is replaced has a version
    { action: 'replace', kind: 'quote', value: record.value },
  ]
}

/** It happened, or it names what did not fit. */
export function narrowsCommits(result: CommitResult): readonly number[] {
  return result === 'committed' ? [] : result.conflicts
}
