import type { OpenPayments } from 'open-payments-server'
import type { answerOwnRoute } from './own-routes.ts'

/** How a wallet of the tests stands in its host: alone at the root, or under a prefix beside routes of the wallet's own. */
export type Mount = 'bare' | 'mounted'

/** The path under which a mounted wallet has its three servers. */
export const PREFIX = '/op'

/** The base URLs of a wallet under an origin. */
export function urlsAt(origin: string, mount: Mount): { readonly authServer: string; readonly resourceServer: string } {
  const base = mount === 'bare' ? origin : origin + PREFIX
  return { authServer: `${base}/auth`, resourceServer: base }
}

/** The origin of a wallet whose time and chance are held, wherever it listens: no answer may depend on that. */
export const HELD_ORIGIN = 'https://wallet.example'

/** What a host is to serve. */
export interface Mounting {
  readonly openPayments: OpenPayments
  /** Where it is mounted: what the wallet itself answers. */
  readonly own?: typeof answerOwnRoute
}

/** Listens on a port of the system's choice, to serve what is made once the port is known; resolves when requests are answered. */
export type Listen = (mountingAt: (port: number) => Mounting) => Promise<{ readonly port: number } & Mounting>
