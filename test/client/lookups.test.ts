import { describe, expect, it } from 'vitest'
import { jsonReply } from '../key-resolver/fake-network.ts'
import { lines } from './internet.ts'
import { COLLECTION, paymentDocument, RECEIVER, type StandIn, standIn } from './stand-in.ts'

const OK = { ok: true }

/** A server that answers ids which begin with `bad` with a status of its choice. */
function victim(status = 404): StandIn {
  const there = standIn()
  const { view } = there.answers
  const isBad = ({ pathname }: URL): boolean => /\/bad[^/]*$/.test(pathname)
  const bad = () => jsonReply({}, { status })
  there.answers.view = (connection) => (isBad(connection.url) ? bad() : view(connection))
  there.answers.payment = ({ url }) => (isBad(url) ? bad() : jsonReply(paymentDocument(url.href)))
  // Its authorization server lives elsewhere.
  there.world.addresses.set('auth.example', [['93.184.217.1']])
  return there
}

/** So many receivers in collections of the victim that nobody has read. */
async function nameUnknown({ receivers }: StandIn, times: number): Promise<void> {
  for (let at = 0; at < times; at++) await receivers.find(`https://pay.example/${at}/incoming-payments/bad`)
}

describe('an incoming payment that cannot be read', () => {
  it.each([400, 401, 403, 404, 429, 500])(
    'T-5 makes no stranger of the server that answers it with %i',
    async (status) => {
      const there = victim(status)
      const { receivers } = there
      expect(await receivers.find(RECEIVER)).toMatchObject(OK)
      await nameUnknown(there, 105)
      for (let at = 0; at < 3; at++) {
        expect(await receivers.find(`${COLLECTION}/bad${at}`)).toMatchObject({ ok: false })
        expect(await receivers.find(RECEIVER)).toMatchObject(OK)
        expect(await receivers.find(`${COLLECTION}/other${at}`)).toMatchObject(OK)
      }
    },
  )

  it('T-5 has the others there read by one request again once one of them was', async () => {
    const there = victim(500)
    await there.receivers.find(RECEIVER)
    await there.receivers.find(`${COLLECTION}/bad`)
    await there.receivers.find(RECEIVER)
    there.world.connections.length = 0
    await there.receivers.find(RECEIVER)
    expect(lines(there.world)).toEqual([`signed GET ${RECEIVER}`])
  })
})
