import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { AuthenticatedClient, WalletAddress } from '@interledger/open-payments'
import { continueGrant, isPaid, orderPayment, type Payment, startPayment } from './payment.ts'

const PRICE = { value: '1500', text: '15.00' } // the shop's asset has two decimals

/** An order. A real shop keeps it in its database, and saves each change before it goes on. */
interface Order {
  readonly payment: Payment
  /** The cookie of the browser that ordered. No other may finish: a buyer could be sent a link that pays someone else's order. */
  readonly cookie: string
  /**
   * `open`: nothing was ordered at the buyer's wallet. `unknown`: nobody knows whether the wallet took the order; after a
   * crash, so is what was `ordering`. `ordered`: it did.
   */
  state: 'open' | 'ordering' | 'unknown' | 'ordered'
  accessToken?: string | undefined
}

/** A shop that sells one thing to whoever has a wallet address. `url` is its own address. */
export function createShop(client: AuthenticatedClient, shop: WalletAddress, url: string): RequestListener {
  const orders = new Map<string, Order>()
  const offer = page(`<h1>One bicycle bell, ${PRICE.text} ${shop.assetCode}</h1>
<form method="post" action="/orders">
<label>Your wallet address <input name="wallet" type="url" required placeholder="https://wallet.example/you"></label>
<button>Pay</button>
</form>`)

  /** Resolves with where to send the browser, and the cookie that it must bring back. */
  const order = async (request: IncomingMessage): Promise<{ readonly location: string; readonly cookie: string }> => {
    const address = (await readForm(request)).get('wallet') ?? ''
    // Any URL that is typed in gets fetched. If your machines can reach what strangers must not, send this through a
    // proxy that reaches only public addresses.
    const buyer = await client.walletAddress.get({ url: new URL(address).href })
    const id = randomUUID()
    const finishUrl = `${url}/orders/${id}/return`
    const { payment, redirect } = await startPayment(client, shop, buyer, { id, price: PRICE.value, finishUrl })
    const cookie = `order-${id}=${randomUUID()}`
    orders.set(id, { payment, cookie, state: 'open' })
    // `Lax`, since the browser is sent back from another site, the wallet.
    const secure = url.startsWith('https:') ? '; Secure' : ''
    return { location: redirect, cookie: `${cookie}; Path=/orders; HttpOnly; SameSite=Lax${secure}` }
  }

  const show = async (id: string): Promise<string> => {
    const found = orders.get(id)
    if (found === undefined) return page('<h1>We do not know this order</h1>')
    if (await isPaid(client, shop, found.payment)) return page('<h1>Paid. Thank you!</h1>')
    if (found.state === 'open') return page('<h1>Not paid</h1><p><a href="/">Order again</a></p>')
    if (found.state === 'unknown' && found.accessToken !== undefined) {
      // The same quote once more: it pays if the first order was lost. A refusal says nothing about the first order.
      if ((await orderPayment(client, found.payment, found.accessToken)) === 'ordered') found.state = 'ordered'
    }
    return found.state === 'ordered' ? page(`${REFRESH}<h1>The money is on its way</h1>`) : CHECKING
  }

  const comeBack = async (id: string, query: URLSearchParams, cookies = ''): Promise<string> => {
    const found = orders.get(id)
    // The hash in the query vouches for the wallet, and the cookie for the browser. Nothing vouches for a `result`, so it
    // changes nothing. Whoever comes back twice, with the back button, pays once.
    if (found?.state === 'open' && !query.has('result') && cookies.split('; ').includes(found.cookie)) {
      found.state = 'ordering'
      found.accessToken = await continueGrant(client, found.payment, query).catch((error: unknown) => {
        console.error(error)
        return undefined
      })
      const { payment, accessToken } = found
      const outcome = accessToken === undefined ? 'refused' : await orderPayment(client, payment, accessToken)
      found.state = outcome === 'refused' ? 'open' : outcome
    }
    return `/orders/${id}`
  }

  return async (request, response) => {
    const redirect = (location: string) => response.writeHead(303, { location }).end()
    let isKnown = false
    try {
      const { pathname, searchParams } = new URL(`${url}${request.url}`)
      const [, , id = '', last] = pathname.split('/')
      isKnown = orders.has(id)
      if (request.method === 'POST' && pathname === '/orders') {
        const { location, cookie } = await order(request)
        response.setHeader('set-cookie', cookie)
        redirect(location)
      } else if (last === 'return') redirect(await comeBack(id, searchParams, request.headers.cookie))
      else response.setHeader('content-type', 'text/html').end(id === '' ? offer : await show(id))
    } catch (error) {
      console.error(error)
      response.writeHead(502, { 'content-type': 'text/html' })
      response.end(isKnown ? CHECKING : NOT_STARTED)
    }
  }
}

const page = (main: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>A shop</title><main>${main}</main></html>`

const REFRESH = '<meta http-equiv="refresh" content="1">'
const CHECKING = page(`${REFRESH}<h1>We are checking whether you have paid</h1><p>Please do not pay again.</p>`)
const NOT_STARTED = page('<h1>That did not work</h1><p>Nothing was paid. <a href="/">Try again</a>.</p>')

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) if (text.length < 4096) text += chunk
  return new URLSearchParams(text)
}
