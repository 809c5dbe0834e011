import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { command } from './model/commands.ts'
import { runCommands } from './model/run-commands.ts'
import type { ModelWorld } from './model/world.ts'
import { checkProperty, PROPERTY_MILLISECONDS } from './property-parameters.ts'
import { clientKeys } from './seeded-cryptography.ts'

const keys = clientKeys()

/** What some run must have met: else the model has never said what follows from it. */
const MET = [
  'post-request 200',
  'post-continue 200',
  'post-continue request_denied',
  'post-continue invalid_continuation',
  'delete-continue 204',
  'post-token 200',
  'delete-token 204',
  'create-incoming-payment 201',
  'get-incoming-payment 200',
  'list-incoming-payments 200',
  'complete-incoming-payment 200',
  'create-quote 201',
  'get-quote 200',
  'create-outgoing-payment 201',
  'create-outgoing-payment grant_limit_exceeded',
  'create-outgoing-payment insufficient_funds',
  'create-outgoing-payment invalid_quote',
  'create-outgoing-payment not_allowed',
  'get-outgoing-payment 200',
  'get-outgoing-payment unknown_resource',
  'list-outgoing-payments 200',
  'get-outgoing-payment-grant 200',
  'get-wallet-address 200',
  'get-wallet-address-keys 200',
  'a payment of the first entry',
  'a payment of the second entry',
  'a payment in a window',
  'a payment of a quote in another asset',
  'a failed payment',
]

function metIn({ wallet, model }: ModelWorld): readonly string[] {
  const answers = wallet.events.flatMap((event) =>
    event.type === 'request' ? [`${event.operation} ${event.condition ?? event.status}`] : [],
  )
  const payments = model.payments.flatMap(({ entry, window, quote, receive, isFailed }) => [
    `a payment of the ${['first', 'second'][entry] ?? 'third'} entry`,
    ...(window > 0 ? ['a payment in a window'] : []),
    ...(quote !== undefined && receive.assetCode === 'EUR' ? ['a payment of a quote in another asset'] : []),
    ...(isFailed ? ['a failed payment'] : []),
  ])
  return [...answers, ...payments]
}

describe('any sequence of requests', () => {
  it('is answered as the specification says, and keeps every invariant', {
    timeout: PROPERTY_MILLISECONDS,
  }, async () => {
    const met = new Set<string>()
    await checkProperty(100, fc.array(command, { minLength: 10, maxLength: 60, size: 'max' }), async (commands) => {
      for (const one of metIn(await runCommands(await keys, commands))) met.add(one)
    })
    expect(MET.filter((one) => !met.has(one))).toEqual([])
  })
})
