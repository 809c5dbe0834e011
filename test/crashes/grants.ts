import { createOpenPayments, type JsonWebKey, type OpenPayments, systemClock } from 'open-payments-server'
import type { SigningKey } from 'open-payments-server/testing'
import { bodyText } from '../support/body-text.ts'
import { lastSegment } from '../support/last-segment.ts'
import { NO_PAGE } from '../support/no-page.ts'
import type { Books } from './books.ts'
import { type AnswerBody, drawKey, sign } from './client.ts'
import {
  ACCOUNTS,
  type AccountName,
  AUTH,
  amountOf,
  BASE,
  directoryOf,
  SECRET,
  walletAddressOf,
} from './wallet-process/accounts.ts'

/** A client with all that it was granted. */
export interface GrantedClient {
  readonly name: string
  readonly signer: SigningKey
  /** Whose money it spends without a limit. */
  readonly payer: AccountName
  readonly tokens: {
    readonly receiving: string
    readonly spending: string
    /** Alice's, within `BUDGET`. */
    readonly limited: string
    /** Dave's, who has less than he is asked for. */
    readonly poor: string
  }
}

/** What a limited payment costs, and how many of them the budget of its grant admits. */
export const LIMITED = { debit: 101, payments: 4 } as const

const PAYERS: readonly AccountName[] = ['alice', 'bob', 'carol']
const RECEIVING = { type: 'incoming-payment', actions: ['create', 'read', 'list', 'complete'] }

function spending(payer: AccountName, limits?: unknown): readonly unknown[] {
  const actions = ['create', 'read', 'list']
  return [
    { type: 'outgoing-payment', actions, identifier: walletAddressOf(payer), ...(limits !== undefined && { limits }) },
    { type: 'quote', actions: ['create', 'read'] },
  ]
}

const LIMITS = {
  debitAmount: amountOf('alice', LIMITED.debit * LIMITED.payments),
  interval: 'R/2025-01-01T00:00:00Z/P10Y',
}

/** Draws three clients and has them granted what they need, in this process, which nobody kills. */
export async function grantClients(
  { storage, ledger }: Pick<Books, 'storage' | 'ledger'>,
  now: () => number,
  advance: (milliseconds: number) => void,
): Promise<{ readonly clients: readonly GrantedClient[]; readonly publicKeys: Readonly<Record<string, JsonWebKey>> }> {
  const keys = await Promise.all(PAYERS.map((_payer, index) => drawKey(`client-${index}`)))
  const publicKeys = Object.fromEntries(keys.map(({ keyId, jwk }) => [keyId, jwk]))
  const directory = directoryOf(publicKeys)
  const wallet = createOpenPayments({
    authServer: AUTH,
    resourceServer: BASE,
    secrets: [SECRET],
    storage,
    ledger,
    walletAddresses: { find: async (url) => directory.get(url) },
    consent: NO_PAGE,
    clock: { ...systemClock(), now },
    settings: { lifetimes: { accessTokenSeconds: 10_000_000, continuationWaitSeconds: 1 } },
  })
  const clients: GrantedClient[] = []
  for (const [index, signer] of keys.entries()) {
    const payer = PAYERS[index] ?? 'alice'
    const grant = createGrantFlow(wallet, { base: BASE, accounts: ACCOUNTS }, signer, now, advance)
    const tokens = {
      receiving: await grant([RECEIVING]),
      spending: await grant(spending(payer)),
      limited: await grant(spending('alice', LIMITS)),
      poor: await grant(spending('dave')),
    }
    clients.push({ name: signer.keyId, signer, payer, tokens })
  }
  return { clients, publicKeys }
}

type GrantAnswer = AnswerBody & {
  readonly access_token?: { readonly value: string }
  readonly continue?: { readonly access_token: { readonly value: string }; readonly uri: string }
  readonly interact?: { readonly redirect: string }
}

/** Where a wallet is published, and the accounts of the person who approves whatever is asked. */
export interface Published {
  readonly base: string
  readonly accounts: readonly { readonly account: string }[]
}

/** How a client is granted what it asks for, its tokens' values. The clock of the wallet moves on by a second for each. */
export function createGrantFlow(
  wallet: OpenPayments,
  { base, accounts }: Published,
  signer: SigningKey,
  now: () => number,
  advance: (milliseconds: number) => void,
): (access: readonly unknown[]) => Promise<string> {
  const ask = async (url: string, json: unknown, token?: string): Promise<GrantAnswer> => {
    const request = { method: 'POST', url, ...(json !== undefined && { json }), ...(token && { token }) } as const
    const answer = await wallet.handle(await sign(signer, request, now()))
    if (answer.status !== 200) throw new Error(`a grant was refused: ${answer.body}`)
    return JSON.parse(bodyText(answer) ?? '')
  }
  return async (access) => {
    const interact = { start: ['redirect'] }
    const client = `${base}/${signer.keyId}`
    const asked = await ask(`${base}/auth/`, { access_token: { access }, client, interact })
    if (asked.access_token !== undefined) return asked.access_token.value
    const reference = lastSegment(asked.interact?.redirect ?? '')
    const owner = { session: 'browser', walletAddresses: accounts.map(({ account }) => `${base}/${account}`) }
    const opened = await wallet.interactions.find(reference, owner)
    if (!opened.ok) throw new Error(opened.reason)
    await wallet.interactions.approve(reference, { ...owner, csrf: opened.csrf, access: 'all' })
    advance(1_000)
    const given = await ask(asked.continue?.uri ?? '', undefined, asked.continue?.access_token.value)
    return given.access_token?.value ?? ''
  }
}
