import type { DeliveryProgress, DeliveryResult } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { inFlight, progress } from '../support/fake-rail.ts'
import { type Deliver, faultsOf, onlyPayment, outcomeOf, paidBy } from './rail-world.ts'

describe('a rail that says what cannot be', () => {
  const odd = (result: DeliveryResult): Deliver => {
    return async () => result
  }

  /** What a rail in plain JavaScript may say. */
  const untyped = (members: object): DeliveryProgress => Object.assign(progress(4n, 4n), members)
  const ended = (progress: DeliveryProgress): Deliver => odd({ outcome: 'ended', progress, reason: '' })
  const NO_PROGRESS = 'a payment method reported invalid progress'
  const TOO_MUCH = 'a payment method sent more than it may'
  const NO_NOTES = 'the notes of a payment method must be text of at most 16384 characters'

  it.each<readonly [string, Deliver, string]>([
    ['more has left than may', ended(progress(14n, 1n)), TOO_MUCH],
    [
      'more has left than may, with what is in flight',
      odd({ outcome: 'unknown', progress: inFlight(progress(10n, 0n), 4n, 1n) }),
      TOO_MUCH,
    ],
    [
      'it has delivered, and nothing has left',
      odd({ outcome: 'delivered', progress: progress(0n, 11n) }),
      'a payment method reported a payment as delivered of which nothing had left',
    ],
    ['less than nothing has left', ended(progress(-1n, 0n)), NO_PROGRESS],
    ['less than nothing has arrived', ended(progress(0n, -1n)), NO_PROGRESS],
    [
      'less than nothing is on its way',
      odd({ outcome: 'unknown', progress: inFlight(progress(4n, 4n), -1n, 1n) }),
      NO_PROGRESS,
    ],
    [
      'less than nothing is about to arrive',
      odd({ outcome: 'unknown', progress: inFlight(progress(4n, 4n), 1n, -1n) }),
      NO_PROGRESS,
    ],
    ['what has left is a number', ended(untyped({ sent: 4 })), NO_PROGRESS],
    ['what has arrived is a text', ended(untyped({ received: '4' })), NO_PROGRESS],
    [
      'it has ended with something in flight',
      ended(inFlight(progress(0n, 0n), 1n, 1n)),
      'a payment method ended a delivery with something still in flight',
    ],
    [
      'it has ended with something in flight of which nothing may arrive',
      ended(inFlight(progress(0n, 0n), 1n, 0n)),
      'a payment method ended a delivery with something still in flight',
    ],
    [
      'it has ended with something about to arrive',
      ended(inFlight(progress(0n, 0n), 0n, 1n)),
      'a payment method ended a delivery with something still in flight',
    ],
    [
      'it has delivered with something in flight',
      odd({ outcome: 'delivered', progress: inFlight(progress(4n, 4n), 1n, 1n) }),
      'a payment method ended a delivery with something still in flight',
    ],
    [
      'an outcome that there is not',
      async () => ({ outcome: 'sent' }) as never,
      'a payment method answered with an outcome that does not exist',
    ],
    ['notes that are too long', ended({ ...progress(4n, 4n), notes: 'x'.repeat(16_385) }), NO_NOTES],
    ['notes that no database takes', ended({ ...progress(4n, 4n), notes: '\0' }), NO_NOTES],
    ['notes of half a character', ended({ ...progress(4n, 4n), notes: '\ud83d' }), NO_NOTES],
    ['notes that are no text', ended(untyped({ notes: {} })), NO_NOTES],
  ])('is not believed, and asked again: %s', async (_, deliver, message) => {
    const world = await paidBy(deliver)
    expect((await onlyPayment(world)).value).toMatchObject({ state: 'sending', attempts: 1 })
    expect(faultsOf(world)).toEqual([message])
    expect(await outcomeOf(world)).toEqual(['sending', 0n, 0n, 15n, 0n])
  })

  it('has notes of 16384 characters, and no longer ones', async () => {
    const notes = 'x'.repeat(16_384)
    const world = await paidBy(ended({ ...progress(4n, 4n), notes }))
    expect((await onlyPayment(world)).value.delivery?.notes).toBe(notes)
    expect(await outcomeOf(world)).toEqual(['failed', 5n, 5n, 0n, 1n])
  })

  it('may not take back what it has recorded, nor record more than may leave', async () => {
    const refused: string[] = []
    const world = await paidBy(async (_delivery, _start, record) => {
      await record(progress(4n, 4n))
      for (const wrong of [progress(3n, 4n), progress(4n, 3n), inFlight(progress(4n, 4n), 10n, 1n)])
        await record(wrong).catch((error: Error) => refused.push(error.message))
      return { outcome: 'ended', progress: progress(4n, 4n), reason: 'enough' }
    })
    const takenBack = 'a payment method took back what it had reported as sent'
    expect(refused).toEqual([takenBack, takenBack, TOO_MUCH])
    expect(await outcomeOf(world)).toEqual(['failed', 5n, 5n, 0n, 1n])
  })

  it('T-50 is told that a limit is reached, and nothing is recorded then', async () => {
    const answers: string[] = []
    const world = await paidBy(async (_delivery, start, record) => {
      answers.push(await record(inFlight(start, 4n, 4n), 3n))
      answers.push(await record(inFlight(start, 3n, 3n), 3n))
      return { outcome: 'later', reason: 'limit' }
    })
    expect(answers).toEqual(['over_limit', 'recorded'])
    expect((await onlyPayment(world)).value.delivery).toMatchObject({ inFlightSent: '3' })
    expect((await world.storage.all('rail-account'))[0]?.value.sent).toBe(3n)
  })

  it('T-50 writes its account once for what it records again', async () => {
    const world = await paidBy(async (_delivery, start, record) => {
      for (let renewal = 0; renewal < 3; renewal++) await record(inFlight(start, 4n, 4n))
      return { outcome: 'later', reason: 'busy' }
    })
    expect(await world.storage.all('rail-account')).toMatchObject([{ version: 1, value: { sent: 4n, inFlight: 4n } }])
  })

  it('records nothing once it has answered', async () => {
    let late = async (): Promise<unknown> => undefined
    const world = await paidBy(async (_delivery, start, record) => {
      late = () => record(inFlight(start, 4n, 4n))
      return { outcome: 'later', reason: 'busy' }
    })
    await expect(late()).rejects.toThrow()
    expect((await onlyPayment(world)).value.delivery).toBeUndefined()
  })
})
