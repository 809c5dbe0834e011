import { thrownMessage } from '../../src/errors/thrown-message.ts'

/** The wallet addresses whose payments could not be read, each with the line that says so. */
export type Unread = Map<string, string>

/** Notes that the payments of a wallet address cannot be read: of them nothing is known; all others are compared. */
export function noteUnread(unread: Unread, walletAddress: string, cause: unknown): void {
  unread.set(walletAddress, `${walletAddress}: cannot be read: ${thrownMessage(cause)}`)
}
