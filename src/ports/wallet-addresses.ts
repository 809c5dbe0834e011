/**
 * A public key as a wallet has it: a JSON Web Key, with the types that a database or Node's
 * `{ kid, alg: 'EdDSA', ...publicKey.export({ format: 'jwk' }) }` gives to its members. `JsonWebKey` says which values they
 * must have.
 */
export interface WalletAddressKey {
  readonly kid: string
  readonly kty?: string | undefined
  readonly crv?: string | undefined
  readonly x?: string | undefined
  readonly alg?: string
  readonly use?: string
}

/**
 * One of the wallet's accounts, as the world sees it. Optional members may also be `null`, as in a database row, or
 * `undefined`.
 */
export interface WalletAddress {
  /**
   * The account in the wallet's ledger, the same for as long as the address is known; passed to the `Ledger` port
   * unchanged and never shown to anyone. Not empty, and without half a surrogate pair, which UTF-8 cannot hold.
   */
  readonly account: string
  /**
   * 1 to 12 visible ASCII characters, and a scale from 0 to 255, an integer. Anything else is a fault: no client could
   * name an amount in it.
   * @spec AMT-2
   */
  readonly assetCode: string
  readonly assetScale: number
  /** A name that its owner lets others see. */
  readonly publicName?: string | null | undefined
  /** `false` answers 404 for the address and refuses payments; default true. @spec WAS-7 */
  readonly isActive?: boolean | null | undefined
  /**
   * The public keys with which this wallet address signs as a client, at most 20 (less one for each of `secrets`, if it is
   * `clientWalletAddress`); default none. A key with private members, or that is not a sound Ed25519 key, is a fault, and is
   * left out; so are keys with the same `kid`. With more than 20, which is a fault too, none of them works here, nor at other
   * servers of this library. An `alg` of `Ed25519` is published as `EdDSA`.
   * @spec KEY-7 @spec WAS-10 @spec T-4
   */
  readonly keys?: readonly WalletAddressKey[] | null | undefined
}

/** The wallet's directory of accounts. */
export interface WalletAddresses {
  /**
   * Finds an account by its wallet address: the canonical URL, without a trailing slash, under the configured
   * `walletAddressServer`. On a host that also has routes of its own, it is called for every path requested there, so it
   * should be quick: it must answer within `holdSeconds`, all calls of a creating request together. `undefined` or `null`
   * means that there is no such address; a rejection is a fault.
   *
   * Compare it exactly, upper and lower case included: whatever is found is a wallet address of its own, published under the
   * URL that was asked for. A directory that ignores case (`NOCASE` in SQLite, most collations of MySQL, `citext`) makes two
   * addresses of one account. What a client asks of one, the owner of the other cannot approve, and each has its own lists.
   *
   * An address belongs to one account forever: others keep grants on it, and pay it years later. When an account is closed,
   * answer `isActive: false` for its address from then on, and end its grants with `grants.list` and `grants.revoke`. If this
   * names another account for an address, that is a fault: whatever was requested of, granted for or made for the earlier
   * account is then refused.
   * @spec RS-13 @spec INC-13
   */
  find(walletAddress: string): Promise<WalletAddress | null | undefined>
}
