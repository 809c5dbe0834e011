import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'

/** What a client sends: `token` as `Authorization: GNAP`, `json` as the body; `altered` replaces the body once signed. */
export interface ClientRequest {
  readonly token?: string
  readonly json?: unknown
  readonly altered?: string
  /** Further fields, which the signature covers too. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The public key of a client, as it stands in a key set. */
export interface ClientJwk {
  readonly kid: string
  readonly alg: 'EdDSA'
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
}

/** A request that is signed, for `fetch`; sent again it is a replay. */
export interface SignedFetch {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** An Open Payments client that signs with nothing of this project. */
export interface Client {
  readonly jwk: ClientJwk
  readonly privateKey: KeyObject
  /** Signs a request as of now. */
  sign(method: string, url: string, request?: ClientRequest): SignedFetch
  /** Signs a request and sends it. */
  request(method: string, url: string, request?: ClientRequest): Promise<Response>
}

/** A client with a fresh Ed25519 key. */
export function createClient(): Client {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const kid = randomUUID()
  const { x = '' } = publicKey.export({ format: 'jwk' })
  const signRequest: Client['sign'] = (method, url, { token, json, altered, headers = {} } = {}) => {
    const body = json === undefined ? undefined : JSON.stringify(json)
    const fields: Record<string, string> = { ...headers }
    if (token !== undefined) fields['authorization'] = `GNAP ${token}`
    if (body !== undefined) {
      fields['content-digest'] = `sha-512=:${createHash('sha512').update(body).digest('base64')}:`
      fields['content-type'] = 'application/json'
    }
    const covered: Record<string, string> = { '@method': method, '@target-uri': url, ...fields }
    const names = Object.keys(covered).map((name) => `"${name}"`)
    const parameters = `(${names.join(' ')});created=${Math.floor(Date.now() / 1000)};keyid="${kid}"`
    const lines = Object.entries(covered).map(([name, value]) => `"${name}": ${value}\n`)
    const base = `${lines.join('')}"@signature-params": ${parameters}`
    const signature = sign(null, Buffer.from(base), privateKey).toString('base64')
    return {
      method,
      headers: { ...fields, 'signature-input': `sig1=${parameters}`, signature: `sig1=:${signature}:` },
      body: altered ?? body ?? null,
    }
  }
  return {
    jwk: { kid, alg: 'EdDSA', kty: 'OKP', crv: 'Ed25519', x },
    privateKey,
    sign: signRequest,
    request: (method, url, request) => fetch(url, signRequest(method, url, request)),
  }
}

/** A wallet address document, as far as the flow needs it. */
export interface WalletAddressDocument {
  readonly id: string
  readonly authServer: string
  readonly resourceServer: string
  readonly assetCode: string
  readonly assetScale: number
}

/** Reads a JSON answer, and fails with all of it where its status is another. */
export async function readAnswer<T>(answer: Promise<Response>, status: number): Promise<T> {
  const response = await answer
  const text = await response.text()
  if (response.status !== status) throw new Error(`${response.url}: ${response.status} instead of ${status}: ${text}`)
  return JSON.parse(text)
}

/** What a signed flow came by. */
export interface SignedFlow {
  readonly wallet: WalletAddressDocument
  readonly token: string
  /** The answers to creating the incoming payment, reading it, reading it without a token, and completing it. */
  readonly created: Readonly<Record<string, unknown>>
  readonly read: Readonly<Record<string, unknown>>
  readonly seenByAll: Readonly<Record<string, unknown>>
  readonly completed: Readonly<Record<string, unknown>>
}

/** Asks for a grant, creates an incoming payment with it, reads it and completes it. */
export async function playSignedFlow(client: Client, walletAddress: string): Promise<SignedFlow> {
  const wallet = await readAnswer<WalletAddressDocument>(fetch(walletAddress), 200)
  const access = [{ type: 'incoming-payment', actions: ['create', 'read', 'complete'], identifier: wallet.id }]
  const grantRequest = { access_token: { access }, client: { jwk: client.jwk } }
  const grant = await readAnswer<{ readonly access_token: { readonly value: string } }>(
    client.request('POST', wallet.authServer, { json: grantRequest }),
    200,
  )
  const token = grant.access_token.value
  const incomingAmount = { value: '500', assetCode: wallet.assetCode, assetScale: wallet.assetScale }
  const created = await readAnswer<{ readonly id: string }>(
    client.request('POST', `${wallet.resourceServer}/incoming-payments`, {
      token,
      json: { walletAddress: wallet.id, incomingAmount, metadata: { note: 'Käse € 5' } },
    }),
    201,
  )
  const read = await readAnswer<SignedFlow['read']>(client.request('GET', created.id, { token }), 200)
  const seenByAll = await readAnswer<SignedFlow['seenByAll']>(fetch(created.id), 200)
  const completed = await readAnswer<SignedFlow['completed']>(
    client.request('POST', `${created.id}/complete`, { token }),
    200,
  )
  return { wallet, token, created, read, seenByAll, completed }
}
