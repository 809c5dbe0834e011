import { describe, expect, it } from 'vitest'
import { additionInWords, requestInWords, rightInWords, rightsInWords } from '../../adapters/consent/sentences.ts'
import type { ConsentAccess } from '../../src/ports/consent.ts'
import type { Access, Action } from '../../src/protocol/access.ts'
import { ALICE, CONSENT } from './fake-interactions.ts'

function outgoing(actions: readonly Action[], limits: Omit<ConsentAccess, 'access'> = {}) {
  return rightInWords({ access: { type: 'outgoing-payment', actions, identifier: ALICE }, ...limits }, true)
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

  it('INT-11 without an amount says that it is no limit that a period ends', () => {
    const interval = { interval: 'R/2026-03-01T00:00:00Z/P1W', phase: 'current', startsAt: 0 } as const
    expect(outgoing(['create']).warning).toMatch(/ could send all the money in this account\.$/)
    expect(outgoing(['create'], { interval }).warning).toMatch(/ all the money in this account in any one period\.$/)
  })

  it('names a receiver whom a right is limited to, also where it only sees', () => {
    const receiver = 'https://shop.example/incoming-payments/1'
    expect(outgoing(['read'], { receiver }).details).toContainEqual({ label: 'To', value: receiver })
    expect(outgoing(['read']).details.map(({ label }) => label)).toEqual(['From'])
  })

  it('with an amount, or without sending at all, warns of nothing', () => {
    expect(outgoing(['create'], { debitAmount: '1.00 USD' }).warning).toBeUndefined()
    expect(outgoing(['create'], { receiveAmount: '1.00 USD' }).warning).toBeUndefined()
    expect(outgoing(['read']).warning).toBeUndefined()
  })

  it('says whether an amount is meant in total or in each period', () => {
    const interval = {
      interval: 'R/2026-03-01T00:00:00Z/P1W',
      phase: 'current',
      startsAt: Date.UTC(2026, 2, 1),
    } as const
    expect(outgoing(['create'], { debitAmount: '1.00 USD' }).ceilings).toEqual([
      { label: 'Leaves your account, at most', amount: '1.00 USD', scope: 'in total' },
    ])
    expect(outgoing(['create'], { receiveAmount: '1.00 USD', interval }).ceilings).toEqual([
      { label: 'Arrives, at most', amount: '1.00 USD', scope: 'every week' },
    ])
  })

  it('LIM-10 says of one of several that its amount is for it alone, and of all that they add up', () => {
    const interval = {
      interval: 'R/2026-03-01T00:00:00Z/P1W',
      phase: 'current',
      startsAt: Date.UTC(2026, 2, 1),
    } as const
    const right = (limits: Omit<ConsentAccess, 'access'>, action: Action = 'create'): ConsentAccess => ({
      access: { type: 'outgoing-payment', actions: [action], identifier: ALICE },
      ...limits,
    })
    const scopes = (...access: readonly ConsentAccess[]) =>
      rightsInWords({ ...CONSENT, access }).flatMap(({ ceilings }) => ceilings.map(({ scope }) => scope))
    const once = right({ debitAmount: '10.00 USD' })
    const weekly = right({ debitAmount: '10.00 USD', interval })
    const seeing = right({}, 'read')
    expect(scopes(once, weekly)).toEqual(['for this right alone', 'every week, for this right alone'])
    expect(scopes(once, seeing)).toEqual(['in total'])
    expect(additionInWords({ ...CONSENT, access: [once, seeing, weekly] })).toContain('2 rights to send money')
    expect(additionInWords({ ...CONSENT, access: [once, seeing] })).toBeUndefined()
  })

  it('says that more may leave the account than arrives, where only that is limited', () => {
    const text = 'Fees and exchange may come on top of what arrives, for each payment.'
    expect(outgoing(['create'], { receiveAmount: '1.00 USD' }).sentences).toContain(text)
    expect(outgoing(['create'], { debitAmount: '1.00 USD' }).sentences).not.toContain(text)
    expect(outgoing(['create'], { debitAmount: '1.00 USD', receiveAmount: '1.00 EUR' }).sentences).not.toContain(text)
    expect(outgoing(['read'], { receiveAmount: '1.00 USD' }).sentences).not.toContain(text)
  })

  it.each([
    ['999.00 USD', '999.00 USD'],
    ['1000.00 USD', '1,000.00 USD'],
    ['123456.7890 USD', '123,456.7890 USD'],
    ['18446744073709551615 JPY', '18,446,744,073,709,551,615 JPY'],
    ['0.0000000001 USD', '0.0000000001 USD'],
    ['1000.00 X1000', '1,000.00 X1000'],
  ])('shows %s as %s', (debitAmount, shown) => {
    expect(outgoing(['create'], { debitAmount }).ceilings[0]?.amount).toBe(shown)
  })

  it('says from which account', () => {
    expect(detailsOf({})['From']).toBe(ALICE)
  })

  it('says to whom, also where it may be anyone', () => {
    expect(detailsOf({})['To']).toBe('Anyone it chooses')
    expect(detailsOf({ receiver: 'https://shop.example/incoming-payments/1' })['To']).toBe(
      'https://shop.example/incoming-payments/1',
    )
  })

  it('promises limits only where there are some', () => {
    const interval = { interval: 'R/2026-03-01T00:00:00Z/P1W', phase: 'current', startsAt: 0 } as const
    const receiver = 'https://shop.example/incoming-payments/1'
    expect(outgoing(['create']).sentences[0]).not.toContain('limits')
    for (const limits of [{ debitAmount: '1.00 USD' }, { receiveAmount: '1.00 USD' }, { receiver }, { interval }])
      expect(outgoing(['create'], limits).sentences[0]).toContain('within these limits')
  })
})

describe('an interval in words', () => {
  const at = { phase: 'ahead', startsAt: Date.UTC(2026, 2, 1), endsAt: Date.UTC(2026, 3, 1), windows: 2 } as const
  it.each([
    ['R1/2026-03-01T00:00:00Z/P1M', 'Every month, 2 times in all'],
    ['R1/P1Y/2026-03-01T00:00:00Z', 'Every year, 2 times in all'],
    ['R1/2026-03-01T00:00:00Z/P14D', 'Every 2 weeks, 2 times in all'],
    ['R1/2026-03-01T00:00:00Z/2026-04-01T00:00:00Z', 'Every 31 days, 2 times in all'],
    ['R1/2026-03-01T00:00:00Z/P18M', 'Every 1 year and 6 months, 2 times in all'],
    ['R1/2026-03-01T00:00:00Z/PT36H', 'Every 1 day and 12 hours, 2 times in all'],
    ['R1/2026-03-01T00:00:00Z/PT90S', 'Every 1 minute and 30 seconds, 2 times in all'],
  ])('%s', (interval, words) => {
    expect(detailsOf({ interval: { interval, ...at } })['How often']).toBe(words)
  })

  it('D4 of a single window has a beginning and an end, and nothing that repeats', () => {
    const interval = { interval: 'R0/2026-03-01T00:00:00Z/P1M', ...at, windows: 1 }
    const right = outgoing(['create'], { debitAmount: '1.00 USD', interval })
    expect(right.ceilings[0]?.scope).toBe('in total')
    expect(right.details).toEqual([
      { label: 'From', value: ALICE },
      { label: 'To', value: 'Anyone it chooses' },
      { label: 'Begins', value: '1 March 2026 at 00:00 UTC' },
      { label: 'Ends', value: '1 April 2026 at 00:00 UTC' },
    ])
  })

  it('with an end and no number of periods says when it ends', () => {
    const interval = {
      interval: 'R/P1D/2026-04-01T00:00:00Z',
      phase: 'current',
      startsAt: Date.UTC(2026, 2, 1),
      endsAt: Date.UTC(2026, 3, 1),
    } as const
    expect(detailsOf({ interval })).toMatchObject({
      'How often': 'Every day, again and again',
      Ends: '1 April 2026 at 00:00 UTC',
    })
  })

  it('without an end says that it never ends', () => {
    const interval = {
      interval: 'R/2026-03-01T00:00:00Z/P1D',
      phase: 'current',
      startsAt: Date.UTC(2026, 2, 1),
    } as const
    expect(detailsOf({ interval })).toMatchObject({
      'How often': 'Every day, until you take it back',
      'Present period began': '1 March 2026 at 00:00 UTC',
      Ends: 'Never',
    })
  })

  const MARCH = '1 March 2026 at 00:00 UTC'
  const APRIL = '1 April 2026 at 00:00 UTC'
  const ONCE = { windows: 2, endsAt: Date.UTC(2026, 3, 1) }
  it.each([
    ['is still to come', 'ahead', ONCE, { Begins: MARCH, Ends: APRIL }],
    ['is still to come and never ends', 'ahead', {}, { Begins: MARCH, Ends: 'Never' }],
    ['has begun', 'current', ONCE, { Began: MARCH, Ends: APRIL }],
    ['is over', 'over', ONCE, { Ended: APRIL }],
    [
      'began in no year that one would name',
      'current',
      { ...ONCE, startsAt: -8.64e15 },
      { Began: 'Before 1970', Ends: APRIL },
    ],
    ['began as 1970 did', 'current', { ...ONCE, startsAt: 0 }, { Began: '1 January 1970 at 00:00 UTC', Ends: APRIL }],
  ] as const)('INT-11 says of one that %s just that', (_name, phase, members, said) => {
    const interval = { interval: 'R1/2026-03-01T00:00:00Z/P1M', phase, startsAt: Date.UTC(2026, 2, 1), ...members }
    const { 'How often': _, From: _from, To: _to, ...times } = detailsOf({ interval })
    expect(times).toEqual(said)
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
      expect(rightInWords({ access }, true).sentences).toHaveLength(1)
    },
  )

  it('RS-6 RS-7 tells what the client sees of its own from what it sees of others', () => {
    expect(outgoing(['read']).sentences).not.toEqual(outgoing(['read-all']).sentences)
    expect(outgoing(['list-all']).sentences[0]).toContain('whoever asked')
  })

  it.each([
    ['outgoing-payment', 'create', 'Send money', 'Send payments from this account without asking you again.'],
    ['outgoing-payment', 'read', 'See your payments', 'See the payments that it has sent itself.'],
    [
      'outgoing-payment',
      'list-all',
      'See your payments',
      'See every payment sent from this account, whoever asked for it.',
    ],
    ['incoming-payment', 'create', 'Receive money', `Set up payments to be received on ${ALICE}.`],
    [
      'incoming-payment',
      'complete',
      'Receive money',
      'Close the payments that it set up, so that they receive nothing more.',
    ],
    ['incoming-payment', 'list', 'Receive money', 'See the payments to be received that it has set up itself.'],
    [
      'incoming-payment',
      'read-all',
      'Receive money',
      `See every payment to be received on ${ALICE}, whoever set it up.`,
    ],
    ['quote', 'create', 'Ask for prices', 'Ask what a payment would cost before it is sent.'],
    ['quote', 'read', 'Ask for prices', 'See the prices that it has asked for itself.'],
    ['quote', 'read-all', 'Ask for prices', 'See every price that was asked for, whoever asked.'],
  ] as const)('INT-11 says of %s %s just what it allows', (type, action, title, sentence) => {
    const access: Access =
      type === 'quote' ? { type, actions: [action] } : { type, actions: [action], identifier: ALICE }
    expect(rightInWords({ access }, true)).toMatchObject({ title, sentences: [sentence] })
  })

  it('RS-5 says where a right without a wallet address holds', () => {
    expect(rightInWords({ access: { type: 'incoming-payment', actions: ['create'] } }, true).sentences[0]).toContain(
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

describe('a request', () => {
  const right = (access: Access): ConsentAccess => ({ access })
  const quote = right({ type: 'quote', actions: ['create'] })
  const incoming = right({ type: 'incoming-payment', actions: ['list-all'], identifier: ALICE })
  const sending = right({ type: 'outgoing-payment', actions: ['create'], identifier: ALICE })
  const reading = right({ type: 'outgoing-payment', actions: ['read'], identifier: ALICE })

  it.each([
    ['money wherever it stands among the rights', [quote, sending], true, 'asks to send money from your account'],
    ['no money where nothing is sent', [reading, incoming], false, 'asks to use your account'],
    ['who you are, where that is all', [], true, 'asks to know who you are'],
    ['more than who you are, where there is more', [quote], true, 'asks to use your account'],
  ] as const)('asks for %s', (_, access, subject, words) => {
    expect(requestInWords({ ...CONSENT, access, subject })).toBe(words)
  })

  it('LIM-10 numbers rights of one title', () => {
    const titles = rightsInWords({ ...CONSENT, access: [sending, quote, sending] }).map(({ title }) => title)
    expect(titles).toEqual(['Send money (1 of 2)', 'Send money (2 of 2)', 'Ask for prices'])
  })

  it('tells what leaves the account first', () => {
    const titles = rightsInWords({ ...CONSENT, access: [quote, incoming, sending], subject: true }).map(
      ({ title }) => title,
    )
    expect(titles).toEqual(['Send money', 'Ask for prices', 'Receive money', 'Know who you are'])
  })
})
