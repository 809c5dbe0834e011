import type { Interactions } from 'open-payments-server'
import { BASE, PAYERS } from './wallet.ts'

const OWNER = {
  session: 'bench',
  walletAddresses: Array.from({ length: PAYERS }, (_, index) => `${BASE}/p${index}`),
}

/** Opens an interaction and approves all of it, as its owner. Answers where the browser goes next, if it goes anywhere. */
export async function approve(interactions: Interactions, reference: string): Promise<string> {
  const opened = await interactions.find(reference, OWNER)
  if (!opened.ok) throw new Error(opened.reason)
  const decided = await interactions.approve(reference, { ...OWNER, csrf: opened.csrf, access: 'all' })
  if (!decided.ok) throw new Error(decided.reason)
  return decided.redirect ?? ''
}
