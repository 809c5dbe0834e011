import type { Clock } from './ports/clock.ts'
import type { Consent } from './ports/consent.ts'
import type { Cryptography } from './ports/cryptography.ts'
import type { OnEvent } from './ports/events.ts'
import type { KeyResolver } from './ports/key-resolver.ts'
import type { Ledger } from './ports/ledger.ts'
import type { PaymentMethod } from './ports/payment-method.ts'
import type { Pricing } from './ports/pricing.ts'
import type { Lifetimes, Policies, RequestLimits } from './ports/settings.ts'
import type { Storage } from './ports/storage.ts'
import type { WalletAddresses } from './ports/wallet-addresses.ts'

/** What a wallet brings. */
export interface OpenPaymentsOptions {
  /** Public base URL of the authorization server, without a trailing slash; also the grant endpoint. */
  readonly authServer: string
  /** Public base URL of the resource server, without a trailing slash. */
  readonly resourceServer: string
  /** Origin under which the wallet addresses live. Default: the origin of `resourceServer`. */
  readonly walletAddressServer?: string
  /** Secrets of at least 32 characters; the first signs, the others still verify. Generate one with `openssl rand -base64 32`. */
  readonly secrets: readonly string[]
  readonly storage: Storage
  readonly ledger: Ledger
  readonly walletAddresses: WalletAddresses
  readonly consent: Consent
  /** Default: one to one within an asset, no fee, no exchange. */
  readonly pricing?: Pricing
  /** Default: none; only receivers on this server can be paid. */
  readonly paymentMethods?: readonly PaymentMethod[]
  /** Default: fetches over https, guarded; needs a host with `node:https`. */
  readonly keyResolver?: KeyResolver
  /** Default: the host's WebCrypto. */
  readonly cryptography?: Cryptography
  /** Default: the system's clock. */
  readonly clock?: Clock
  /** Default: faults are printed on the error stream. */
  readonly onEvent?: OnEvent
  /** Lifetimes, sizes and open choices; each has a default. */
  readonly settings?: {
    readonly lifetimes?: Partial<Lifetimes>
    readonly limits?: Partial<RequestLimits>
    readonly policies?: Partial<Policies>
  }
}
