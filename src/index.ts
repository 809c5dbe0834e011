export type { Grants, LiveGrant } from './ase/grants.ts'
export { ConfigurationError, isConfigurationError } from './errors/configuration-error.ts'
export { createOpenPayments, type HandleOptions, type OpenPayments } from './open-payments.ts'
export type { OpenPaymentsOptions } from './options.ts'
export type { ReceivedPayment } from './payments/receive-payment.ts'
export type * from './ports/clock.ts'
export type * from './ports/consent.ts'
export type * from './ports/cryptography.ts'
export type * from './ports/events.ts'
export type * from './ports/http-exchange.ts'
export type * from './ports/key-resolver.ts'
export type * from './ports/ledger.ts'
export type * from './ports/payment-method.ts'
export type * from './ports/pricing.ts'
export type * from './ports/settings.ts'
export type * from './ports/storage.ts'
export type * from './ports/wallet-addresses.ts'
export type {
  Access,
  AccessType,
  Action,
  IncomingPaymentAccess,
  OutgoingPaymentAccess,
  QuoteAccess,
} from './protocol/access.ts'
export type { Amount, Asset, WireAmount } from './protocol/amount.ts'
export type { JsonWebKey, PublicKey } from './protocol/json-web-key.ts'
export type { WireLimits } from './protocol/limits.ts'
export type { OperationId } from './protocol/operations.ts'
export type { IlpPaymentMethod } from './protocol/payment-method.ts'
