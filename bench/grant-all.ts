import { type Clock, type OpenPayments, webCryptography } from 'open-payments-server'
import { signedRequest } from 'open-payments-server/testing'
import { approve } from './approve.ts'
import { AUTH, BASE, type ClientKey, PAYERS, signingKeyOf, type Tokens } from './wallet.ts'

interface GrantAnswer {
  readonly access_token?: { readonly value: string }
  readonly continue: { readonly access_token: { readonly value: string }; readonly uri: string }
  readonly interact?: { readonly redirect: string }
}

/** Has the client granted what it needs; its interactions are approved here. */
export async function grantAll(
  openPayments: OpenPayments,
  clientKey: ClientKey,
  clock: Clock,
  advance: (milliseconds: number) => void,
): Promise<Tokens> {
  const key = signingKeyOf(clientKey)
  const cryptography = webCryptography()
  let ahead = 0
  const ask = async (
    url: string,
    asked: { readonly json?: unknown; readonly token?: string },
  ): Promise<GrantAnswer> => {
    const created = Math.floor((clock.now() + ahead) / 1000)
    const request = await signedRequest({ method: 'POST', url, key, cryptography, created, ...asked })
    const answer = await openPayments.handle(request)
    if (answer.status !== 200) throw new Error(`a grant was refused: ${answer.body}`)
    return JSON.parse(String(answer.body))
  }
  const grant = async (access: unknown): Promise<string> => {
    const interact = { start: ['redirect'] }
    const json = { access_token: { access: [access] }, client: `${BASE}/shop`, interact }
    const asked = await ask(`${AUTH}/`, { json })
    if (asked.access_token !== undefined) return asked.access_token.value
    await approve(openPayments.interactions, asked.interact?.redirect.split('/').at(-1) ?? '')
    // A client waits before it continues.
    ahead += 1000
    advance(1000)
    const given = await ask(asked.continue.uri, { token: asked.continue.access_token.value })
    return given.access_token?.value ?? ''
  }
  const grantSpending = async (limits: object): Promise<readonly string[]> => {
    const granted: string[] = []
    for (let payer = 0; payer < PAYERS; payer++) granted.push(await grant(spendingOf(payer, limits)))
    return granted
  }
  const shop = { actions: ['create', 'read', 'list', 'complete'], identifier: `${BASE}/shop` }
  return {
    receiving: await grant({ type: 'incoming-payment', ...shop }),
    quoting: await grant({ type: 'quote', actions: ['create', 'read'] }),
    spending: await grantSpending({}),
    limited: await grantSpending({ limits: { debitAmount: usd('1000000000000') } }),
  }
}

/** What a client may do with the money of a customer. */
export function spendingOf(payer: number, limits: object): object {
  const actions = ['create', 'read', 'list']
  return { type: 'outgoing-payment', actions, identifier: `${BASE}/p${payer}`, ...limits }
}

/** An amount in the asset of all accounts. */
export function usd(value: string): {
  readonly value: string
  readonly assetCode: string
  readonly assetScale: number
} {
  return { value, assetCode: 'USD', assetScale: 2 }
}
