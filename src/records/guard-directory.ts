import { unexpected } from '../errors/conditions.ts'
import type { CheckedWalletAddress, Context } from '../ports/context.ts'
import type { WalletAddress, WalletAddresses } from '../ports/wallet-addresses.ts'
import { mistakeInAsset } from '../protocol/amount.ts'
import { shownValue } from '../protocol/shown-value.ts'
import { askHost, millisecondsLeft } from './ask-host.ts'
import { tellFault } from './tell-fault.ts'

/**
 * The wallet's directory, with its failures turned into ours: if a call fails or is not answered in time, an event is
 * emitted and "unavailable" is thrown. Answers are checked once, here: for an invalid one an event names the mistake,
 * and "unexpected" is thrown, since asking again would not help.
 */
export function guardDirectory(
  directory: WalletAddresses,
  context: Pick<Context, 'clock' | 'emit' | 'limits'>,
): Context['walletAddresses'] {
  return {
    async find(walletAddress, answerDueAt) {
      const milliseconds = millisecondsLeft(context, answerDueAt)
      const found = await askHost(context, 'the directory of wallet addresses', milliseconds, () =>
        directory.find(walletAddress),
      )
      if (found === undefined || found === null) return undefined
      const mistake = mistakeInWalletAddress(found)
      if (mistake === undefined) return withoutNulls(found)
      const cause = new TypeError(`walletAddresses.find('${walletAddress}'): ${mistake}`)
      tellFault(context, 'the directory of wallet addresses gave an invalid answer', cause)
      throw unexpected()
    },
  }
}

/**
 * What is wrong with an answer from plain JavaScript, if anything. The keys themselves are checked where they are used.
 */
function mistakeInWalletAddress(found: WalletAddress): string | undefined {
  if (typeof found !== 'object') return `the answer must be an object, not ${shownValue(found)}`
  const { account, publicName, isActive, keys } = found
  if (typeof account !== 'string' || account === '')
    return `account must be a string that is not empty, not ${shownValue(account)}`
  // A database that writes UTF-8 does not keep it: a ledger could take it for another account.
  if (!account.isWellFormed()) return `account must hold no half of a surrogate pair, unlike ${shownValue(account)}`
  const mistake = mistakeInAsset(found)
  if (mistake !== undefined) return mistake
  if (typeof (publicName ?? '') !== 'string') return `publicName must be a string, not ${shownValue(publicName)}`
  // A 0 that was meant as "no" must not pass for "yes".
  if (typeof (isActive ?? true) !== 'boolean') return `isActive must be true or false, not ${shownValue(isActive)}`
  return Array.isArray(keys ?? []) ? undefined : 'keys must be a list'
}

/** A row of a database has null where a member is absent. */
function withoutNulls(found: WalletAddress): CheckedWalletAddress {
  const { account, assetCode, assetScale, publicName, isActive, keys } = found
  return {
    account,
    assetCode,
    assetScale,
    ...(typeof publicName === 'string' && { publicName }),
    isActive: isActive ?? true,
    ...(keys && { keys }),
  }
}
