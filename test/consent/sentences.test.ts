import { describe, expect, it } from 'vitest'
import { rightInWords, rightsInWords } from '../../adapters/consent/sentences.ts'
import type { ConsentAccess } from '../../src/ports/consent.ts'
import type { Access, Action } from '../../src/protocol/access.ts'
import { ALICE, CONSENT } from './fake-interactions.ts'

function outgoing(actions: readonly Action[], limits: Omit<ConsentAccess, 'access'> = {}) {
  return rightInWords({ access: { type: 'outgoing-payment', actions, identifier: ALICE }, ...limits })
}

function detailsOf(limits: Omit<ConsentAccess, 'access'>): Readonly<Record<string, string>> {
  return Object.fromEntries(outgoing(['create'], limits).details.map(({ label, value }) => [label, value]))
}

describe('a right to send money', () => {
  it('without an amount warns that there is no upper limit', () => {
    expect(outgoing(['create']).warning).toContain('no upper limit')
    expect(outgoing(['create'], { receiver: 'https://shop.example/incoming-payments/1' }).warning).toContain(
      'no upper limit',
    )
  })

  it('with an amount, or without sending at all, warns of nothing', () => {
    expect(outgoing(['create'], { debitAmount: '1.00 USD' }).warning).toBeUndefined()
    expect(outgoing(['create'], { receiveAmount: '1.00 USD' }).warning).toBeUndefined()
    expect(outgoing(['read']).warning).toBeUndefined()
  })

  it('says whether an amount is meant in total or in each period', () => {
    const interval = { interval: 'R/2026-03-01T00:00:00Z/P1W', startsAt: Date.UTC(2026, 2, 1) }
    expect(detailsOf({ debitAmount: '1.00 USD' })['At most leaves your account']).toBe('1.00 USD in total')
    expect(detailsOf({ receiveAmount: '1.00 USD', interval })['At most arrives']).toBe('1.00 USD in each period')
  })

  it('says to whom, also where it may be anyone', () => {
    expect(detailsOf({})['To']).toBe('anyone it chooses')
    expect(detailsOf({ receiver: 'https://shop.example/incoming-payments/1' })['To']).toBe(
      'https://shop.example/incoming-payments/1',
    )
  })

  it('promises limits only where there are some', () => {
    expect(outgoing(['create']).sentences[0]).not.toContain('limits')
    expect(outgoing(['create'], { debitAmount: '1.00 USD' }).sentences[0]).toContain('limits')
  })
})

describe('an interval in words', () => {
  const at = { startsAt: Date.UTC(2026, 2, 1), endsAt: Date.UTC(2026, 3, 1), windows: 2 }
  it.each([
    ['R1/2026-03-01T00:00:00Z/P1M', 'every month, 2 times in all'],
    ['R1/P1Y/2026-03-01T00:00:00Z', 'every year, 2 times in all'],
    ['R1/2026-03-01T00:00:00Z/P14D', 'every 2 weeks, 2 times in all'],
    ['R1/2026-03-01T00:00:00Z/2026-04-01T00:00:00Z', 'every 31 days, 2 times in all'],
    ['R1/2026-03-01T00:00:00Z/P18M', 'every 1 year and 6 months, 2 times in all'],
    ['R1/2026-03-01T00:00:00Z/PT36H', 'every 1 day and 12 hours, 2 times in all'],
    ['R1/2026-03-01T00:00:00Z/PT90S', 'every 1 minute and 30 seconds, 2 times in all'],
  ])('%s', (interval, words) => {
    expect(detailsOf({ interval: { interval, ...at } })['Period']).toBe(words)
  })

  it('D4 of a single window is once', () => {
    expect(detailsOf({ interval: { interval: 'R0/2026-03-01T00:00:00Z/P1M', ...at, windows: 1 } })).toMatchObject({
      Period: 'once',
      'First period begins': '1 March 2026 at 00:00 UTC',
      'Last period ends': '1 April 2026 at 00:00 UTC',
    })
  })

  it('with an end and no number of periods says when it ends', () => {
    const interval = {
      interval: 'R/P1D/2026-04-01T00:00:00Z',
      startsAt: Date.UTC(2026, 2, 1),
      endsAt: Date.UTC(2026, 3, 1),
    }
    expect(detailsOf({ interval })).toMatchObject({
      Period: 'every day, again and again',
      'Last period ends': '1 April 2026 at 00:00 UTC',
    })
  })

  it('without an end says that it never ends', () => {
    const interval = { interval: 'R/2026-03-01T00:00:00Z/P1D', startsAt: Date.UTC(2026, 2, 1) }
    expect(detailsOf({ interval })).toMatchObject({
      Period: 'every day, again and again',
      'Present period began': '1 March 2026 at 00:00 UTC',
      'Last period ends': 'never, until you take it back',
    })
  })
})

describe('every action', () => {
  const all: readonly Access[] = [
    { type: 'outgoing-payment', actions: ['create', 'read', 'read-all', 'list', 'list-all'], identifier: ALICE },
    {
      type: 'incoming-payment',
      actions: ['create', 'complete', 'read', 'read-all', 'list', 'list-all'],
      identifier: ALICE,
    },
    { type: 'quote', actions: ['create', 'read', 'read-all'] },
  ]
  const single = all.flatMap((access) => access.actions.map((action): Access => ({ ...access, actions: [action] })))

  it.each(single.map((access) => [`${access.type} ${access.actions[0]}`, access] as const))(
    '%s has a sentence of its own',
    (_, access) => {
      expect(rightInWords({ access }).sentences).toHaveLength(1)
    },
  )

  it('RS-6 RS-7 tells what the client sees of its own from what it sees of others', () => {
    expect(outgoing(['read']).sentences).not.toEqual(outgoing(['read-all']).sentences)
    expect(outgoing(['list-all']).sentences[0]).toContain('whoever asked')
  })

  it('RS-5 says where a right without a wallet address holds', () => {
    expect(rightInWords({ access: { type: 'incoming-payment', actions: ['create'] } }).sentences[0]).toContain(
      'any account of this wallet',
    )
  })
})

it('a client that asks who you are is said to', () => {
  expect(rightsInWords({ ...CONSENT, subject: true }).at(-1)?.sentences).toEqual([
    `Learn that you are the owner of ${ALICE}.`,
  ])
  expect(rightsInWords(CONSENT)).toHaveLength(1)
})
