import { createHash, createPrivateKey, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AuthenticatedClient,
  createAuthenticatedClient,
  isFinalizedGrantWithAccessToken,
  isPendingGrant,
  type PendingGrant,
  type Quote,
  type WalletAddress,
} from '@interledger/open-payments'
import { formatMoney } from './money.ts'
import { startPair } from './pair.ts'
import { answerAsPerson } from './person.ts'
import type { Sandbox } from './server.ts'

// The whole flow of the specification, once, with the official client: Alice buys something for 15 EUR from Chloé
// and pays in dollars. The two have accounts at different wallets: two servers, two databases, and Interledger
// between them. The client never sees a password, and Alice's wallet never sees a card.

interface Amount {
  readonly value: string
  readonly assetCode: string
  readonly assetScale: number
}

const FINISH_URL = 'http://localhost/finish'

function step(text: string): void {
  console.log(`\n${text}`)
}

function detail(name: string, value: string): void {
  console.log(`  ${name.padEnd(18)} ${value}`)
}

function money({ value, ...asset }: Amount): string {
  return formatMoney(BigInt(value), asset)
}

async function createClient(sandbox: Sandbox): Promise<AuthenticatedClient> {
  const { client } = await sandbox.describe()
  return createAuthenticatedClient({
    walletAddressUrl: client.walletAddress,
    keyId: client.keyId,
    privateKey: createPrivateKey(client.privateKeyPem),
    useHttp: true,
  })
}

/** A grant that needs nobody's consent: its token comes at once. */
async function requestToken(
  client: AuthenticatedClient,
  wallet: WalletAddress,
  type: 'incoming-payment' | 'quote',
): Promise<string> {
  const actions: ('create' | 'read')[] = ['create', 'read']
  const grant = await client.grant.request(
    { url: wallet.authServer },
    { access_token: { access: [{ type, actions }] } },
  )
  if (!isFinalizedGrantWithAccessToken(grant)) throw new Error('the grant should have come at once')
  return grant.access_token.value
}

async function requestConsent(
  client: AuthenticatedClient,
  payer: WalletAddress,
  quote: Quote,
  nonce: string,
): Promise<PendingGrant> {
  const grant = await client.grant.request(
    { url: payer.authServer },
    {
      access_token: {
        access: [
          {
            type: 'outgoing-payment',
            actions: ['create', 'read'],
            identifier: payer.id,
            limits: { debitAmount: quote.debitAmount },
          },
        ],
      },
      interact: { start: ['redirect'], finish: { method: 'redirect', uri: FINISH_URL, nonce } },
    },
  )
  if (!isPendingGrant(grant)) throw new Error('the payer should have been asked')
  return grant
}

/** What a client must check before it believes that the payer came back from the wallet it sent them to. */
function verifyFinish(finish: URL, nonce: string, grant: PendingGrant, grantEndpoint: string): string {
  const reference = finish.searchParams.get('interact_ref') ?? ''
  const text = [nonce, grant.interact.finish, reference, grantEndpoint].join('\n')
  const expected = createHash('sha256').update(text).digest('base64')
  if (finish.searchParams.get('hash') !== expected) throw new Error('the hash of the finish redirect is wrong')
  return reference
}

async function continueGrant(client: AuthenticatedClient, grant: PendingGrant, reference: string): Promise<string> {
  await sleep((grant.continue.wait ?? 5) * 1000)
  const { uri, access_token } = grant.continue
  const continued = await client.grant.continue(
    { url: uri, accessToken: access_token.value },
    { interact_ref: reference },
  )
  if (!isFinalizedGrantWithAccessToken(continued)) throw new Error('the grant should have been issued')
  return continued.access_token.value
}

async function awaitReceipt(client: AuthenticatedClient, url: string, accessToken: string): Promise<Amount> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const { completed, receivedAmount } = await client.incomingPayment.get({ url, accessToken })
    if (completed) return receivedAmount
    await sleep(100)
  }
  throw new Error('the money did not arrive')
}

/** What the wallets themselves say afterwards: of their own accounts, and of each other. */
async function tellBalances(sandbox: Sandbox, people: readonly string[]): Promise<void> {
  // Waits for what goes on after the answers: the payer is debited once the other wallet has all of it.
  await sandbox.openPayments.drain()
  const { wallets, peers } = await sandbox.describe()
  for (const { walletAddress, balance, ...asset } of wallets) {
    const { pathname } = new URL(walletAddress)
    if (people.includes(pathname)) detail(pathname, money({ ...asset, value: balance }))
  }
  for (const { address, sent, received, ...asset } of peers) {
    const [left, came] = [money({ ...asset, value: sent }), money({ ...asset, value: received })]
    detail(`with ${address}`, `${left} sent, ${came} received`)
  }
}

async function play(first: Sandbox, second: Sandbox): Promise<void> {
  const { wallets, consent } = await first.describe()
  const alice = wallets.find(({ walletAddress }) => walletAddress.endsWith('/alice'))
  if (alice === undefined) throw new Error('Alice should have an account at the first wallet')
  const client = await createClient(first)

  step('1. The client reads the two wallet addresses, each at its own server.')
  const payer = await client.walletAddress.get({ url: alice.walletAddress })
  const payee = await client.walletAddress.get({ url: `${second.origin}/chloe` })
  detail('payer', `${payer.id} in ${payer.assetCode}`)
  detail('payee', `${payee.id} in ${payee.assetCode}`)

  step('2. At the payee’s wallet it sets up an incoming payment.')
  const incomingToken = await requestToken(client, payee, 'incoming-payment')
  const price: Amount = { value: '1500', assetCode: payee.assetCode, assetScale: payee.assetScale }
  const incomingPayment = await client.incomingPayment.create(
    { url: payee.resourceServer, accessToken: incomingToken },
    { walletAddress: payee.id, incomingAmount: price },
  )
  detail('incoming payment', incomingPayment.id)
  detail('to be received', money(price))

  step('3. At the payer’s wallet it asks what that costs. This one asks the other wallet, and probes the way there.')
  const quoteToken = await requestToken(client, payer, 'quote')
  const quote = await client.quote.create(
    { url: payer.resourceServer, accessToken: quoteToken },
    { walletAddress: payer.id, receiver: incomingPayment.id, method: 'ilp' },
  )
  detail('quote', quote.id)
  detail('to be sent', money(quote.debitAmount))

  step('4. It asks for a grant to send that much. The payer has to consent.')
  const nonce = randomUUID()
  const grant = await requestConsent(client, payer, quote, nonce)
  detail('interaction', grant.interact.redirect)

  step('5. The payer logs in at the wallet, reads the page and approves.')
  const finish = new URL((await answerAsPerson(grant.interact.redirect, consent.credentials, 'approve')) ?? '')
  const reference = verifyFinish(finish, nonce, grant, payer.authServer)
  detail('browser goes to', finish.origin + finish.pathname)
  detail('hash', 'is right')

  step(`6. After the ${grant.continue.wait} s that the wallet asked for the client continues the grant.`)
  const outgoingToken = await continueGrant(client, grant, reference)
  detail('access token', 'received')

  step('7. It creates the outgoing payment.')
  const outgoingPayment = await client.outgoingPayment.create(
    { url: payer.resourceServer, accessToken: outgoingToken },
    { walletAddress: payer.id, quoteId: quote.id },
  )
  detail('outgoing payment', outgoingPayment.id)

  step('8. The money arrives at the other server, packet by packet.')
  detail('received', money(await awaitReceipt(client, incomingPayment.id, incomingToken)))

  step('9. What the wallets have in their books. The first keeps what it had set aside for a worse exchange rate.')
  await tellBalances(first, ['/alice'])
  await tellBalances(second, ['/chloe'])
}

const configuration = { lifetimes: { continuationWaitSeconds: 1 } }
const [first, second] = await startPair(configuration, (line) => console.error(line))
console.log(`Two wallets answer, at ${first.origin} and ${second.origin}.`)
try {
  await play(first, second)
} finally {
  await first.stop()
  await second.stop()
}
