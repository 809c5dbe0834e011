import type { Consent } from 'open-payments-server'

/** The consent page of a wallet in which no test asks a person. */
export const NO_PAGE: Consent = { respond: async () => ({ status: 200, headers: {}, body: '' }) }
