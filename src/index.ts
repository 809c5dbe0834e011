/**
 * The server, its ports and everything that they name.
 *
 * @module open-payments-server
 */

export type { AuditedDelivery, AuditedGrant, AuditedPayment, AuditedRequest } from './ase/audit.ts'
export type { Grants, LiveGrant } from './ase/grants.ts'
export { ConfigurationError, isConfigurationError } from './errors/configuration-error.ts'
export { createOpenPayments, type FetchOptions, type HandleOptions, type OpenPayments } from './open-payments.ts'
export type { OpenPaymentsOptions } from './options.ts'
export type { DecisionResult, UndecidedPayment } from './payments/rail/host-decisions.ts'
export type { ReceiptRefusal, ReceivedPayment } from './payments/receive-payment.ts'
export type * from './ports/clock.ts'
export type * from './ports/consent.ts'
export type * from './ports/cryptography.ts'
export type * from './ports/events.ts'
export type * from './ports/http-exchange.ts'
export type * from './ports/key-resolver.ts'
export type * from './ports/ledger.ts'
export type * from './ports/maybe-promise.ts'
export type * from './ports/outbound-network.ts'
export type * from './ports/payment-method.ts'
export type * from './ports/pricing.ts'
export type * from './ports/remote-receivers.ts'
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
export type { AccessToken, AccessTokenState } from './protocol/access-token.ts'
export type { Amount, Asset, WireAmount } from './protocol/amount.ts'
export type { RailTerms, SealedDetails, StoredDelivery } from './protocol/delivery.ts'
export type { Finalisation, Finish, Grant, GrantState, PinnedKey } from './protocol/grant.ts'
export type { IdempotencyKey, KeptAnswer } from './protocol/idempotency-key.ts'
export type { IncomingPayment, IncomingPaymentState } from './protocol/incoming-payment.ts'
export type { Interaction, InteractionState } from './protocol/interaction.ts'
export type { JsonWebKey, PublicKey } from './protocol/json-web-key.ts'
export type { WireLimits } from './protocol/limits.ts'
export type { Metadata } from './protocol/metadata.ts'
export type { OperationId } from './protocol/operations.ts'
export type { Decision, OutgoingPayment, OutgoingPaymentState, StateEntry } from './protocol/outgoing-payment.ts'
export type { IlpPaymentMethod } from './protocol/payment-method.ts'
export type { FrozenAmounts, Quote, QuoteState } from './protocol/quote.ts'
export type { RailAccount } from './protocol/rail-account.ts'
export type { Receipt, ReceiptState } from './protocol/receipt.ts'
export type { ReplayClaim } from './protocol/replay-claim.ts'
export type { SignedRequest } from './protocol/signed-request.ts'
export type { LastCharge, Spending, SpentAmounts } from './protocol/spent-amounts.ts'
export { type FetchKeyResolverOptions, fetchKeyResolver } from './runtime/fetch-key-resolver.ts'
export { keepGoing } from './runtime/keep-going.ts'
export { reportFaults } from './runtime/report-faults.ts'
export { systemClock } from './runtime/system-clock.ts'
export { webCryptography } from './runtime/web-crypto.ts'
