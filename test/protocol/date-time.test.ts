import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { DateTime, parseDateTime } from '../../src/protocol/date-time.ts'

describe('date-times', () => {
  it.each([
    ['2025-03-31T12:00:00Z', '2025-03-31T12:00:00.000Z'],
    ['2025-03-31t12:00:00z', '2025-03-31T12:00:00.000Z'],
    ['2025-03-31T12:00:00.5Z', '2025-03-31T12:00:00.500Z'],
    ['2025-03-31T12:00:00.05-00:30', '2025-03-31T12:30:00.050Z'],
    ['1969-12-31T23:59:59.9999Z', '1969-12-31T23:59:59.999Z'],
    ['2025-03-31T12:00:00.123456789Z', '2025-03-31T12:00:00.123Z'],
    ['2025-03-31T12:00:00.999999999+02:00', '2025-03-31T10:00:00.999Z'],
    ['2025-03-31T23:30:00-01:00', '2025-04-01T00:30:00.000Z'],
    ['2025-03-31T12:00:00.99999999999999999999Z', '2025-03-31T12:00:00.999Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['2016-12-31T23:59:60.25Z', '2017-01-01T00:00:00.250Z'],
    ['2016-12-31T18:29:60-05:30', '2017-01-01T00:00:00.000Z'],
    ['1969-12-31T23:59:60Z', '1970-01-01T00:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ])('reads %s', (text, expected) => expect(new Date(parseDateTime(text) ?? 0).toISOString()).toBe(expected))

  it.each([
    '',
    '2025-03-31',
    '2025-03-31T12:00Z',
    '2025-03-31T12:00:00',
    '2025-03-31 12:00:00Z',
    '2025-02-29T00:00:00Z',
    '2025-02-31T00:00:00Z',
    '2025-04-31T00:00:00Z',
    '2025-13-01T00:00:00Z',
    '2025-00-01T00:00:00Z',
    '2025-01-00T00:00:00Z',
    '2025-01-01T24:00:00Z',
    '2025-01-01T00:60:00Z',
    '2025-01-01T00:00:60Z',
    '2025-01-01T23:59:60+01:00',
    '2025-01-01T23:59:61Z',
    '2025-02-29T23:59:60Z',
    '2025-01-01T00:00:00+24:00',
    '2025-01-01T00:00:00+02:60',
    '2025-01-01T00:00:00.Z',
    '2025-01-01T00:00:00Z\n',
    '+002025-01-01T00:00:00Z',
    '12025-01-01T00:00:00Z',
    ' 2025-01-01T00:00:00Z',
    '2025-01-01T00:00:00+0200',
    '2025-01-01T00:00:00ZZ',
  ])('refuses %j', (text) => expect(parseDateTime(text)).toBeUndefined())

  it('reads back every moment that is written', () => {
    fc.assert(
      fc.property(
        fc.date({
          min: new Date('0000-03-01T00:00:00Z'),
          max: new Date('9999-12-31T23:59:59.999Z'),
          noInvalidDate: true,
        }),
        (date) => {
          expect(parseDateTime(date.toISOString())).toBe(date.getTime())
        },
      ),
      { seed: 2, numRuns: 300 },
    )
  })

  it('reads a member of a body to milliseconds and refuses what is no text', () => {
    expect(v.parse(DateTime, '1970-01-01T00:00:01Z')).toBe(1000)
    expect(v.is(DateTime, 1000)).toBe(false)
    expect(v.safeParse(DateTime, 'tomorrow').issues?.map(({ message }) => message)).toEqual(['invalid date-time'])
  })
})
