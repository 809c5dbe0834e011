import type { TokenCaller } from '../http/credentials.ts'
import { defineEndpoint, type Route } from '../http/endpoint.ts'
import type { ClientId } from '../protocol/client.ts'
import { CreateIncomingPayment } from '../protocol/incoming-payment.ts'
import { CreateOutgoingPayment } from '../protocol/outgoing-payment.ts'
import { CreateQuote } from '../protocol/quote.ts'
import { requireRight } from './authorize.ts'
import {
  identifyLister,
  identifyPayer,
  identifyQuoter,
  identifyReader,
  identifySpender,
  identifyToken,
  identifyTokenAndRecord,
} from './identify-caller.ts'
import {
  completeIncomingPayment,
  createIncomingPayment,
  getIncomingPayment,
  listIncomingPayments,
} from './incoming-payments.ts'
import { getOutgoingPaymentGrant } from './outgoing-payment-grant.ts'
import { createOutgoingPayment, getOutgoingPayment, listOutgoingPayments } from './outgoing-payments.ts'
import { createQuote, getQuote } from './quotes.ts'

const role = 'resource-server'
const clientOf = ({ token }: TokenCaller): ClientId => token.client

/** The endpoints of the resource server; which right each needs is in its `authorize`. */
export function resourceServerRoutes(): readonly Route[] {
  return [
    defineEndpoint({
      role,
      identify: identifyToken,
      operation: 'create-incoming-payment',
      method: 'POST',
      path: '/incoming-payments',
      takesBody: true,
      authorize: requireRight('incoming-payment', 'create'),
      schema: CreateIncomingPayment,
      quotaOf: clientOf,
      run: createIncomingPayment,
    }),
    defineEndpoint({
      role,
      identify: (exchange) => identifyLister(exchange, 'incoming-payment'),
      operation: 'list-incoming-payments',
      method: 'GET',
      path: '/incoming-payments',
      authorize: requireRight('incoming-payment', 'list'),
      run: listIncomingPayments,
    }),
    defineEndpoint({
      role,
      identify: identifyReader,
      operation: 'get-incoming-payment',
      method: 'GET',
      isPublic: true,
      path: '/incoming-payments/:id',
      authorize: (caller) => caller && requireRight('incoming-payment', 'read')(caller),
      run: getIncomingPayment,
    }),
    defineEndpoint({
      role,
      identify: (exchange) => identifyTokenAndRecord(exchange, 'incoming-payment'),
      operation: 'complete-incoming-payment',
      method: 'POST',
      path: '/incoming-payments/:id/complete',
      takesBody: true,
      authorize: requireRight('incoming-payment', 'complete'),
      run: completeIncomingPayment,
    }),
    defineEndpoint({
      role,
      identify: identifyQuoter,
      operation: 'create-quote',
      method: 'POST',
      path: '/quotes',
      takesBody: true,
      authorize: requireRight('quote', 'create'),
      schema: CreateQuote,
      quotaOf: clientOf,
      run: createQuote,
    }),
    defineEndpoint({
      role,
      identify: (exchange) => identifyTokenAndRecord(exchange, 'quote'),
      operation: 'get-quote',
      method: 'GET',
      path: '/quotes/:id',
      authorize: requireRight('quote', 'read'),
      run: getQuote,
    }),
    defineEndpoint({
      role,
      identify: identifyPayer,
      operation: 'create-outgoing-payment',
      method: 'POST',
      path: '/outgoing-payments',
      takesBody: true,
      authorize: requireRight('outgoing-payment', 'create'),
      schema: CreateOutgoingPayment,
      quotaOf: clientOf,
      run: createOutgoingPayment,
    }),
    defineEndpoint({
      role,
      identify: (exchange) => identifyLister(exchange, 'outgoing-payment'),
      operation: 'list-outgoing-payments',
      method: 'GET',
      path: '/outgoing-payments',
      authorize: requireRight('outgoing-payment', 'list'),
      run: listOutgoingPayments,
    }),
    defineEndpoint({
      role,
      identify: (exchange) => identifyTokenAndRecord(exchange, 'outgoing-payment'),
      operation: 'get-outgoing-payment',
      method: 'GET',
      path: '/outgoing-payments/:id',
      authorize: requireRight('outgoing-payment', 'read'),
      run: getOutgoingPayment,
    }),
    defineEndpoint({
      role,
      identify: identifySpender,
      operation: 'get-outgoing-payment-grant',
      method: 'GET',
      path: '/outgoing-payment-grant',
      authorize: requireRight('outgoing-payment', 'create'),
      run: getOutgoingPaymentGrant,
    }),
  ]
}
