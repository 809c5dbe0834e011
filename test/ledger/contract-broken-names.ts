import type { Credit, Hold, Ledger } from '../../src/ports/ledger.ts'
import type { BrokenLedger } from './contract-broken.ts'

const NAMES = 'names of accounts compare exactly: alice and Alice are two'
const LOOKALIKES =
  'names that differ in an accent, in what is not seen, as numbers do or after 64 characters are of different accounts'
const CODES =
  'assets whose codes differ in case or after eleven characters, or whose scale is 0, are assets of their own'
const COUNTERPARTIES = 'the longest counterparties there are, and those that differ in one character, are told apart'

/** A ledger that keeps counterparties in another form. */
function withCounterparties(ledger: Ledger, keep: (text: string) => string): Partial<Ledger> {
  const kept = <T extends Hold | Credit>(call: T): T => {
    const { counterparty } = call
    if (counterparty.kind === 'local')
      return { ...call, counterparty: { ...counterparty, account: keep(counterparty.account) } }
    const { address, walletAddress } = counterparty
    const names = { address: keep(address), ...(walletAddress && { walletAddress: keep(walletAddress) }) }
    return { ...call, counterparty: { ...counterparty, ...names } }
  }
  return { hold: (hold) => ledger.hold(kept(hold)), credit: (credit) => ledger.credit(kept(credit)) }
}

/** A ledger that keeps the codes of assets in another form. */
function withCodes(ledger: Ledger, keep: (assetCode: string) => string): Partial<Ledger> {
  const kept = <T extends Hold | Credit>(call: T, assetCode: string | undefined): T =>
    assetCode !== undefined && keep(assetCode) === keep(call.amount.assetCode)
      ? { ...call, amount: { ...call.amount, assetCode } }
      : call
  return { hold: async (hold) => ledger.hold(kept(hold, (await ledger.account(hold.account))?.assetCode)) }
}

/** A ledger that knows names of accounts in another form. */
function withNames(ledger: Ledger, keep: (name: string) => string): Partial<Ledger> {
  const first = new Map([['alice', 'alice']])
  const kept = (name: string): string => {
    const found = first.get(keep(name)) ?? name
    first.set(keep(name), found)
    return found
  }
  return {
    account: (account) => ledger.account(kept(account)),
    credit: (credit) => ledger.credit({ ...credit, account: kept(credit.account) }),
  }
}

/** Ledgers that take names, counterparties or codes of assets for the same that are nearly so. */
export const BROKEN_NAMES: readonly BrokenLedger[] = [
  {
    does: 'finds the account of a credit in whatever case it is written',
    breaks: [NAMES],
    breakLedger: (ledger) => ({
      credit: (credit) => ledger.credit({ ...credit, account: credit.account.toLowerCase() }),
    }),
  },
  {
    does: 'finds the account of a hold in whatever case it is written',
    breaks: [NAMES],
    breakLedger: (ledger) => ({ hold: (hold) => ledger.hold({ ...hold, account: hold.account.toLowerCase() }) }),
  },
  {
    does: 'knows an account in whatever case it is written',
    breaks: [NAMES],
    breakLedger: (ledger) => ({ account: (account) => ledger.account(account.toLowerCase()) }),
  },
  {
    does: 'compares the account of a call that comes again in whatever case it is written',
    breaks: [NAMES],
    breakLedger(ledger) {
      const written = new Map<string, string>()
      return {
        credit(credit) {
          const call = `${credit.id} ${credit.account.toLowerCase()}`
          const account = written.get(call) ?? credit.account
          written.set(call, account)
          return ledger.credit({ ...credit, account })
        },
      }
    },
  },
  {
    does: 'ignores spaces at the end of a name',
    breaks: [LOOKALIKES],
    breakLedger: (ledger) => ({ account: (account) => ledger.account(account.trimEnd()) }),
  },
  {
    does: 'takes two forms of a letter with an accent for one where it credits',
    breaks: [LOOKALIKES],
    breakLedger: (ledger) => ({
      credit: (credit) => ledger.credit({ ...credit, account: credit.account.normalize('NFC') }),
    }),
  },
  {
    does: 'cuts names',
    breaks: [LOOKALIKES],
    breakLedger: (ledger) => ({
      account: async (account) => (await ledger.account(account)) ?? ledger.account(`${account.slice(0, 64)}1`),
    }),
  },
  {
    does: 'knows an account for every member of an object',
    breaks: [LOOKALIKES],
    breakLedger: (ledger) => ({
      account: async (account) =>
        account in {} ? { assetCode: '', assetScale: 0, canSend: false, canReceive: false } : ledger.account(account),
    }),
  },
  {
    does: 'takes names that are numbers for the same where their values are',
    breaks: [LOOKALIKES],
    breakLedger: (ledger) => withNames(ledger, (name) => (/^\d+(\.\d+)?$/.test(name) ? String(Number(name)) : name)),
  },
  {
    does: 'takes a number with an exponent for the number',
    breaks: [LOOKALIKES],
    breakLedger: (ledger) => withNames(ledger, (name) => (/^\de\d$/.test(name) ? String(Number(name)) : name)),
  },
  {
    does: 'removes what is not seen from names',
    breaks: [LOOKALIKES],
    breakLedger: (ledger) => withNames(ledger, (name) => name.replaceAll('\u200b', '')),
  },
  {
    does: 'takes all characters of four bytes for one',
    breaks: [LOOKALIKES],
    breakLedger: (ledger) => withNames(ledger, (name) => name.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '?')),
  },
  {
    does: 'ignores spaces at the beginning of a name',
    breaks: [LOOKALIKES],
    breakLedger: (ledger) => withNames(ledger, (name) => name.trimStart()),
  },
  {
    does: 'cuts counterparties at 255 characters',
    breaks: [COUNTERPARTIES],
    breakLedger: (ledger) => withCounterparties(ledger, (text) => text.slice(0, 255)),
  },
  {
    does: 'cuts counterparties at 1,024 characters',
    breaks: [COUNTERPARTIES],
    breakLedger: (ledger) => withCounterparties(ledger, (text) => text.slice(0, 1024)),
  },
  {
    does: 'has no room for counterparties of more than 255 characters',
    breaks: [COUNTERPARTIES],
    rejects: 'value too long for type character varying(255)',
    breakLedger: (ledger) =>
      withCounterparties(ledger, (text) => {
        if (text.length > 255) throw new Error('value too long for type character varying(255)')
        return text
      }),
  },
  {
    does: 'compares counterparties without regard to case',
    breaks: [COUNTERPARTIES],
    breakLedger: (ledger) => withCounterparties(ledger, (text) => text.toLowerCase()),
  },
  {
    does: 'takes two forms of a letter with an accent for one in a counterparty',
    breaks: [COUNTERPARTIES],
    breakLedger: (ledger) => withCounterparties(ledger, (text) => text.normalize('NFC')),
  },
  {
    does: 'keeps three letters of the code of an asset',
    breaks: [CODES],
    breakLedger: (ledger) => withCodes(ledger, (assetCode) => assetCode.slice(0, 3)),
  },
  {
    does: 'takes a scale of 0 for none, and has 2 instead',
    breaks: [CODES],
    breakLedger: (ledger) => ({
      async account(account) {
        const found = await ledger.account(account)
        return found && { ...found, assetScale: found.assetScale || 2 }
      },
    }),
  },
  {
    does: 'compares the codes of assets without regard to case',
    breaks: [CODES],
    breakLedger: (ledger) => withCodes(ledger, (assetCode) => assetCode.toUpperCase()),
  },
]
