import { unknownContinuation, unknownGrant, unknownManagedToken, unknownTokenToRevoke } from '../errors/conditions.ts'
import { anyone, defineEndpoint, type Route } from '../http/endpoint.ts'
import type { Consent, Interactions } from '../ports/consent.ts'
import { GrantRequest } from '../protocol/grant-request.ts'
import { cancelGrant, continueGrant, identifyByGrant } from './continue-grant.ts'
import { identifyClient } from './identify-client.ts'
import { interact } from './interact.ts'
import { identifyByToken, revokeToken, rotateToken } from './manage-access-token.ts'
import { requestGrant } from './request-grant.ts'

const role = 'auth-server'

/** The endpoints of the authorization server. */
export function authServerRoutes(consent: Consent, interactions: Interactions): readonly Route[] {
  return [
    defineEndpoint({
      operation: 'post-request',
      method: 'POST',
      path: '/',
      role,
      takesBody: true,
      identify: identifyClient,
      schema: GrantRequest,
      quotaOf: ({ holder }) => holder.client,
      run: requestGrant,
    }),
    defineEndpoint({
      operation: 'discover',
      method: 'OPTIONS',
      path: '/',
      role,
      identify: anyone,
      run: async ({ exchange }) => ({ status: 200, body: discovery(exchange.context.authServer) }),
    }),
    defineEndpoint({
      operation: 'post-continue',
      method: 'POST',
      path: '/continue/:id',
      role,
      takesBody: true,
      identify: identifyByGrant(unknownContinuation),
      run: continueGrant,
    }),
    defineEndpoint({
      operation: 'delete-continue',
      method: 'DELETE',
      path: '/continue/:id',
      role,
      identify: identifyByGrant(unknownGrant),
      run: cancelGrant,
    }),
    defineEndpoint({
      operation: 'post-token',
      method: 'POST',
      path: '/token/:id',
      role,
      takesBody: true,
      identify: identifyByToken(unknownManagedToken),
      quotaOf: ({ presented }) => presented.value.client,
      run: rotateToken,
    }),
    defineEndpoint({
      operation: 'delete-token',
      method: 'DELETE',
      path: '/token/:id',
      role,
      identify: identifyByToken(unknownTokenToRevoke),
      run: revokeToken,
    }),
    ...(['GET', 'POST'] as const).map((method) =>
      defineEndpoint({
        operation: 'interact',
        method,
        path: '/interact/:reference',
        role,
        takesBody: method === 'POST',
        identify: anyone,
        run: (input) => interact(input, consent, interactions),
      }),
    ),
  ]
}

/** @spec GRT-18 */
function discovery(authServer: string): Readonly<Record<string, unknown>> {
  return {
    grant_request_endpoint: authServer,
    interaction_start_modes_supported: ['redirect'],
    interaction_finish_methods_supported: ['redirect'],
    key_proofs_supported: ['httpsig'],
    sub_id_formats_supported: ['uri'],
  }
}
