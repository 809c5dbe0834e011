import type { Asset } from './amount.ts'

/** What a rail has moved through one of its accounts, in that account's asset, since the beginning. */
export interface RailAccount extends Asset {
  /** The type of the rail and its name for the account, such as `ilp:g.other-wallet`. */
  readonly id: string
  /** What has left or may have left. */
  readonly sent: bigint
  readonly received: bigint
}

/**
 * What moves through an account: the amount sent grows, or shrinks once it is known that it did not leave; the amount
 * received grows.
 */
export type RailMovement = { readonly sent: bigint } | { readonly received: bigint }

/** The id of the record of an account of a rail. */
export function railAccountId(method: string, account: string): string {
  return `${method}:${account}`
}

/** The type of the rail, which has no colon in it, and its name for the account. */
export function readRailAccountId(id: string): { readonly method: string; readonly account: string } {
  const colon = id.indexOf(':')
  return { method: id.slice(0, colon), account: id.slice(colon + 1) }
}

/**
 * An account after a movement; `undefined` if the side that grows would exceed the other one by more than `most`. A side that
 * does not grow is within every limit.
 */
export function moveThrough(account: RailAccount, moved: RailMovement, most?: bigint): RailAccount | undefined {
  const [grows, moves] =
    'sent' in moved
      ? [moved.sent, { ...account, sent: account.sent + moved.sent }]
      : [moved.received, { ...account, received: account.received + moved.received }]
  if (moves.sent < 0n) throw new RangeError('an account of a rail cannot have sent less than nothing')
  const ahead = 'sent' in moved ? moves.sent - moves.received : moves.received - moves.sent
  return grows > 0n && most !== undefined && ahead > most ? undefined : moves
}
