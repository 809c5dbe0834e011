import type { Mount } from '../wallet/mounting.ts'
import { requestGrants } from './grant-requests.ts'
import { requestInteractions } from './interaction-requests.ts'
import { requestIncomingPayments, requestOutgoingPayments, requestTokens } from './payment-requests.ts'
import { requestOddTargets, requestPublicDocuments } from './public-requests.ts'
import { createRecorder } from './recorder.ts'
import type { Script } from './script.ts'
import { requestSpoiled } from './spoiled-requests.ts'

const PARTS = [
  requestPublicDocuments,
  requestGrants,
  requestInteractions,
  requestIncomingPayments,
  requestOutgoingPayments,
  requestTokens,
  requestSpoiled,
  requestOddTargets,
]

/** Every request of the script, signed with fixed keys, and what the reference answers to each. */
export async function recordScript(mount: Mount): Promise<Script> {
  const recorder = await createRecorder(mount)
  for (const requestPart of PARTS) {
    recorder.begin()
    await requestPart(recorder)
  }
  return recorder.script
}
