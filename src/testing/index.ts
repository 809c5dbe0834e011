/**
 * The contracts of storages and ledgers as tests, and a request signer.
 *
 * @module open-payments-server/testing
 */

export type { SignOptions } from '../http-signatures/sign-request.ts'
export { inTurns } from './in-turns.ts'
export type { LedgerCase, LedgerUnderTest } from './ledger-case.ts'
export { ledgerContract } from './ledger-contract.ts'
export {
  alterRequest,
  createSigningKey,
  type InMemoryRequest,
  type SignedRequestOptions,
  type SigningKey,
  signedRequest,
} from './sign-request.ts'
export type { StorageCase, StorageUnderTest } from './storage-case.ts'
export { storageContract } from './storage-contract.ts'
