export type { SignOptions } from '../http-signatures/sign-request.ts'
export {
  alterRequest,
  createSigningKey,
  type InMemoryRequest,
  type SignedRequest,
  type SigningKey,
  signedRequest,
} from './sign-request.ts'
export { storageContract } from './storage-contract.ts'
