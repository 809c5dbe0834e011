/**
 * The operations of Open Payments by the `operationId` of the published API documents, and the browser's
 * `interact` endpoint, which those documents leave to the authorization server.
 */
export type OperationId =
  | 'post-request'
  | 'discover'
  | 'post-continue'
  | 'delete-continue'
  | 'post-token'
  | 'delete-token'
  | 'interact'
  | 'create-incoming-payment'
  | 'list-incoming-payments'
  | 'get-incoming-payment'
  | 'complete-incoming-payment'
  | 'create-quote'
  | 'get-quote'
  | 'create-outgoing-payment'
  | 'list-outgoing-payments'
  | 'get-outgoing-payment'
  | 'get-outgoing-payment-grant'
  | 'get-wallet-address'
  | 'get-wallet-address-keys'
