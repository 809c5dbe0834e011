import type { Asset } from './amount.ts'

/** What a rail has moved through one of its accounts, in that account's asset, since the beginning. */
export interface RailAccount extends Asset {
  /** The type of the rail and its name for the account, such as `ilp:g.other-wallet/USD/2`. */
  readonly id: string
  /** What has left or may have left. */
  readonly sent: bigint
  /** The part of `sent` of which it is not known whether it has left. */
  readonly inFlight: bigint
  readonly received: bigint
}

/**
 * A movement, added to an account. `sent` and its part `inFlight` grow, or shrink once money is known not to have left;
 * `received` only grows.
 */
export type RailMovement = Pick<RailAccount, 'sent' | 'inFlight'> | Pick<RailAccount, 'received'>

/** The id of the record of an account of a rail. */
export function railAccountId(method: string, account: string): string {
  return `${method}:${account}`
}

/** The type of the rail, which contains no colon, and its name for the account. */
export function readRailAccountId(id: string): { readonly method: string; readonly account: string } {
  const colon = id.indexOf(':')
  return { method: id.slice(0, colon), account: id.slice(colon + 1) }
}

/**
 * An account after a movement; `undefined` if the side that grows would exceed the other one by more than `most`. A
 * side that does not grow is within every limit. Money in flight is not set off against what is received: the peer may
 * still refuse it, and would then owe that much more.
 */
export function moveThrough(account: RailAccount, moved: RailMovement, most?: bigint): RailAccount | undefined {
  const { sent = 0n, inFlight = 0n, received = 0n }: Partial<RailAccount> = moved
  const moves: RailAccount = {
    ...account,
    sent: account.sent + sent,
    inFlight: account.inFlight + inFlight,
    received: account.received + received,
  }
  if (moves.inFlight < 0n || moves.sent < moves.inFlight)
    throw new RangeError('an account of a rail cannot have sent less than nothing')
  const ahead = sent > 0n ? moves.sent - moves.received : moves.received - (moves.sent - moves.inFlight)
  return (sent > 0n || received > 0n) && most !== undefined && ahead > most ? undefined : moves
}
