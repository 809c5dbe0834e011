import type { Consent, ConsentData } from 'open-payments-server'

/** For `consent` of `createOpenPayments`: wraps another one, and tells of each approval. */
export function toldConsent(consent: Consent, tell: (approved: ConsentData) => Promise<void>): Consent {
  return {
    ...consent,
    respond: ({ interactions, ...asked }) =>
      consent.respond({
        ...asked,
        interactions: {
          ...interactions,
          approve: async (reference, approver) => {
            const shown = await interactions.find(reference, approver)
            const decided = await interactions.approve(reference, approver)
            if (shown.ok && decided.ok) await tell(shown.consent).catch(console.error) // it is approved all the same
            return decided
          },
        },
      }),
  }
}
