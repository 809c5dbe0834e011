import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'
import type { DeedName } from './deeds.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** A text in a file of the package, which occurs there once, and what stands there instead. */
export interface Edit {
  readonly file: string
  readonly from: string
  readonly to: string
}

const PLAN = 'src/payments/plan-payment.ts'
const DELIVER = 'src/payments/deliver-locally.ts'
const HOLD = 'src/payments/confirm-hold.ts'
const FINISH = 'src/payments/finish-payment.ts'
const ONCE = 'src/records/decide-once.ts'
const DECIDE = 'src/records/decide.ts'
const LEDGER = 'adapters/ledger/double-entry.ts'

/** A mistake, and what it spoils where a process ends in the midst of it. */
export interface Mistake {
  readonly deed: DeedName
  readonly edits: readonly Edit[]
}

/** Mistakes that nobody notices as long as no process is killed, each by its name. */
export const MISTAKES: Readonly<Record<string, Mistake>> = {
  'the hold is asked for before the intent is durable': {
    deed: 'a payment from a quote without a key',
    edits: [
      {
        file: PLAN,
        from: 'const { spent } = charged\n',
        to: `const { spent } = charged
  const counterparty = { kind: 'local', account: payment.payeeAccount, incomingPayment: payment.incomingPaymentId }
  await context.ledger.hold({ id, account: payment.account, amount: payment.debitAmount, counterparty })
`,
      },
    ],
  },
  'a credit that is repeated gets another id': {
    deed: 'a payment straight to its receiver under a key',
    edits: [
      {
        file: DELIVER,
        from: 'id: creditId,\n      account',
        to: 'id: record.version > 2 ? context.secrets.randomId() : creditId,\n      account',
      },
    ],
  },
  'room is taken in one commit and the receipt written in the next': {
    deed: 'a payment from a quote under a key',
    edits: [
      {
        file: HOLD,
        from: 'changesOfSending(context, known, now, taken)',
        to: `changesOfSending(context, known, now, { ...taken, changes: taken.changes.slice(1) })
  await context.storage.commit(taken.changes.slice(0, 1))`,
      },
    ],
  },
  'the receipt is credited in one commit and the payment decided in the next': {
    deed: 'a payment from a quote under a key',
    edits: [
      {
        file: DELIVER,
        from: 'const { changes, answer } = changesOf(context, record, decision, credit.changes)',
        to: `await context.storage.commit(credit.changes)
    const { changes, answer } = changesOf(context, record, decision, [])`,
      },
    ],
  },
  'the key is stored after what was made under it': {
    deed: 'a payment straight to its receiver under a key',
    edits: [
      { file: ONCE, from: '  let kept:', to: '  let later: readonly Change[] = []\n  let kept:' },
      {
        file: ONCE,
        from: 'async () => underKey(context, key, await attempt(), kept)',
        to: `async () => {
      const { changes, answer } = underKey(context, key, await attempt(), kept)
      later = changes.filter(({ kind }) => kind === 'idempotency-key')
      return { changes: changes.filter(({ kind }) => kind !== 'idempotency-key'), answer }
    }`,
      },
      {
        file: ONCE,
        from: '  return once\n',
        to: '  if (!once.isRepeat && later.length > 0) await context.storage.commit(later)\n  return once\n',
      },
    ],
  },
  'a signature is used up after it has paid': {
    deed: 'a payment straight to its receiver without a key',
    edits: [
      {
        file: DECIDE,
        from: 'const changes = [...(decision.changes ?? []), ...claims]',
        to: `const changes = decision.changes ?? []
    const used = await context.storage.get(claims.map((claim) => ({ kind: claim.kind, id: claim.value.id })))
    if (used.some((claim) => claim !== undefined)) throw invalidSignature('this signature was used before')`,
      },
      {
        file: DECIDE,
        from: 'if (conflicts.length === 0) return decision.answer',
        to: `if (conflicts.length === 0) {
      if (claims.length > 0) await context.storage.commit(claims)
      return decision.answer
    }`,
      },
    ],
  },
  'recovery guesses that a hold it knows nothing of was refused': {
    deed: 'a payment from a quote without a key',
    edits: [
      {
        file: 'src/payments/advance-payment.ts',
        from: 'const held = await confirmHold(context, record)',
        to: `const value = { ...record.value, state: 'failed' }
      await context.storage.commit([{ kind: record.kind, version: record.version, action: 'replace', value, isListed: true }])
      return { outcome: 'ended' }
      const held = await confirmHold(context, record)`,
      },
    ],
  },
  'the budget comes back in a commit of its own': {
    deed: 'a payment to a closed account',
    edits: [
      {
        file: FINISH,
        from: 'changesOfEnd(context, record, end, isFailed ? await releaseSpendingChanges(context, end) : [])',
        to: `{
    if (isFailed) await context.storage.commit(await releaseSpendingChanges(context, end))
    return changesOfEnd(context, record, end, [])
  }`,
      },
    ],
  },
  'events are told and not written down': {
    deed: 'an incoming payment',
    edits: [
      {
        file: 'src/resource-server/incoming-payments.ts',
        from: '        ...events,\n',
        to: '',
      },
    ],
  },
  'the ledger answers before its hold is durable': {
    deed: 'a payment straight to its receiver without a key',
    edits: [
      {
        file: LEDGER,
        from: 'DoubleEntryLedger {\n  return {',
        to: `DoubleEntryLedger {
  const late: (() => Promise<unknown>)[] = []
  const beDurable = async () => {
    for (const write of late.splice(0)) await write()
  }
  return {`,
      },
      {
        file: LEDGER,
        from: 'hold: (request) => books.transact(() => hold(books, request))',
        to: `hold: async (request) => {
      late.push(() => books.transact(() => hold(books, request)))
      return DONE
    }`,
      },
      {
        file: LEDGER,
        from: 'settle: (request) => books.transact(() => settle(books, request))',
        to: `settle: async (request) => {
      await beDurable()
      return books.transact(() => settle(books, request))
    }`,
      },
    ],
  },
}

function applyEdits(text: string, edits: readonly Edit[]): string {
  return edits.reduce((edited, { file, from, to }) => {
    if (edited.split(from).length !== 2) throw new Error(`${file} does not hold this text once: ${from}`)
    return edited.replace(from, () => to)
  }, text)
}

/** Builds the package as it would be with a mistake in it; answers its folder. */
export async function buildBrokenPackage(edits: readonly Edit[]): Promise<{ readonly folder: string; remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'broken-'))
  mkdirSync(join(folder, 'dist'))
  copyFileSync(join(ROOT, 'package.json'), join(folder, 'package.json'))
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const paths = new Set(edits.map(({ file }) => join(ROOT, file)))
  const contentsOf = (path: string): string => {
    const own = edits.filter(({ file }) => join(ROOT, file) === path)
    return applyEdits(readFileSync(path, 'utf8'), own)
  }
  await build({
    config: false,
    entry: {
      index: join(ROOT, 'src/index.ts'),
      node: join(ROOT, 'adapters/node.ts'),
      ilp: join(ROOT, 'adapters/ilp/index.ts'),
      'storage/sqlite': join(ROOT, 'adapters/storage/sqlite.ts'),
      'storage/postgres': join(ROOT, 'adapters/storage/postgres.ts'),
      'ledger/sqlite': join(ROOT, 'adapters/ledger/sqlite.ts'),
    },
    outDir: join(folder, 'dist'),
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    tsconfig: join(ROOT, 'tsconfig.base.json'),
    external: [/^node:/, 'libsql'],
    clean: false,
    silent: true,
    esbuildPlugins: [
      {
        name: 'mistakes',
        setup: ({ onLoad }) =>
          onLoad({ filter: /\.ts$/ }, ({ path }) =>
            paths.has(path) ? { contents: contentsOf(path), loader: 'ts' } : undefined,
          ),
      },
    ],
  })
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
