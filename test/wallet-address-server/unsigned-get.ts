import type { HttpRequest } from 'open-payments-server'
import { type Answer, BASE, type TestWallet } from '../support/test-wallet.ts'

type Headers = Readonly<Record<string, readonly string[]>>

/** An unsigned request. */
export function request(method: string, target: string, headers: Headers = {}): HttpRequest {
  return {
    method,
    target,
    headerLines: (name) => headers[name] ?? [],
    bytes: async () => new Uint8Array(),
  }
}

/** Gets a URL of the wallet, unsigned. */
export function get(wallet: TestWallet, url: string, headers: Headers = {}): Promise<Answer> {
  return wallet.sendRaw(request('GET', url.slice(BASE.length), headers))
}
