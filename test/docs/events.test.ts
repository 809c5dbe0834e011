import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { nodesOf, parseSource, readSources, readText, type Source } from '../architecture/source-tree.ts'
import { ALICE, BASE, incomingPayment, spendingToken, testWallet, usd } from '../support/test-wallet.ts'

const page = readText('docs/events.md')

/** The events of a union by their types, each with its members. */
function eventsOf(union: string): ReadonlyMap<string, readonly string[]> {
  const path = 'src/ports/events.ts'
  const [alias] = parseSource({ path, text: readText(path) }).statements.filter(
    (statement) => ts.isTypeAliasDeclaration(statement) && statement.name.text === union,
  )
  const literals = alias === undefined ? [] : nodesOf(alias).filter((node) => ts.isTypeLiteralNode(node))
  return new Map(
    literals.flatMap(({ members }) => {
      const names = members.map((member) => member.getText().replace(/^readonly (\w+\??):[\s\S]*/, '$1'))
      const [type] = members.filter((member) => member.name?.getText() === 'type')
      return [...(type?.getText() ?? '').matchAll(/'([^']+)'/g)].map(([, name = '']) => [name, names] as const)
    }),
  )
}

const RECORDED = ['type', 'id', 'at']

/** The texts in the first cells of a table of the page. */
function namedUnder(heading: string): readonly string[] {
  const [, section = ''] = page.split(`## ${heading}\n`)
  const [text = ''] = section.split('\n## ')
  return [...text.matchAll(/^\| (`[^|]+) \|/gm)]
    .slice(1)
    .flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
}

/** The names of all refusals. */
function conditions(): readonly string[] {
  const text = readText('src/errors/conditions.ts')
  const [, ofLedger = ''] = /function ledgerRefused\(reason: ([^)]+)\)/.exec(text) ?? []
  return [...text.matchAll(/ refuse\(\s*'(\w+)'/g), ...ofLedger.matchAll(/'(\w+)'/g)].map(([, name = '']) => name)
}

/** What an object says that names the reason why a payment stands still or ends, or why its receiver cannot be paid. */
const STOPS: readonly string[] = ['stalled', 'later', 'ended', 'not_taken', 'over', 'silent']
const TOLD_TO: readonly string[] = ['tryLater', 'giveUp', 'endNow', 'noteTrouble', 'noteRefusal']

/** Whether an expression is, or may be, the reason of a payment that stands still or has ended. */
function isReason(node: ts.Node): boolean {
  const { parent } = node
  if (ts.isConditionalExpression(parent)) return parent.condition !== node && isReason(parent)
  if (ts.isCallExpression(parent))
    return (
      TOLD_TO.includes(/\w+$/.exec(parent.expression.getText())?.[0] ?? '') &&
      parent.arguments.some((one) => one === node)
    )
  if (ts.isVariableDeclaration(parent)) return parent.name.getText() === 'reason'
  if (ts.isReturnStatement(parent))
    return ts.isFunctionDeclaration(parent.parent.parent) && parent.parent.parent.name?.text === 'whyStopped'
  if (!ts.isPropertyAssignment(parent) || parent.name.getText() !== 'reason') return false
  const others = parent.parent.properties.filter(ts.isPropertyAssignment).map(({ initializer }) => initializer)
  return others.some((one) => ts.isStringLiteral(one) && STOPS.includes(one.text))
}

/** The reasons that a file words; what the code fills in is an ellipsis. */
function reasonsIn(source: Source): readonly string[] {
  return nodesOf(parseSource(source)).flatMap((node) => {
    if (ts.isStringLiteral(node)) return isReason(node) ? [node.text] : []
    return ts.isTemplateExpression(node) && isReason(node) ? [`${node.head.text}…`] : []
  })
}

describe('the page about events', () => {
  it.each([
    ['Money', 'MoneyEvent'],
    ['Service', 'ServiceEvent'],
  ])('has a row with its members for every event of %s, and no other', (heading, union) => {
    const [, section = ''] = page.split(`## ${heading}\n`)
    const [text = ''] = section.split('\n## ')
    let last: readonly string[] = []
    const rows = [...text.matchAll(/^\| `(?!type)([\w.]+)` \|.*\|([^|]*)\|$/gm)].map(([, type = '', cell = '']) => {
      const named = [...cell.matchAll(/`(\w+\??)`/g)].map(([, name = '']) => name)
      // "the same" as the row above, with a word on one of them perhaps.
      last = cell.includes('the same') ? last : named
      return [type, [...last].sort()] as const
    })
    const events = [...eventsOf(union)].map(
      ([type, names]) => [type, names.filter((name) => !RECORDED.includes(name)).sort()] as const,
    )
    expect(new Map(rows)).toEqual(new Map(events))
  })

  it('has every fault that the library words itself, and no other', () => {
    const named = namedUnder('Faults')
    const text = readSources('src', 'adapters')
      .map(({ text }) => text.replace(/\s+/g, ' '))
      .join('\n')
    const written = [
      ...text.matchAll(/type: 'fault',[^}]*?message: '([^']+)'/g),
      ...text.matchAll(/(?:unknownOutcome|tellFailure|tellFault)\( ?\w+, '([^']+)'/g),
      ...text.matchAll(/tryCommit\( ?context, (?:changes|\[.*?\]), '([^']+)'/g),
      ...text.matchAll(/UNCLAIMED = '([^']+)'/g),
    ].map(([, message = '']) => message)
    // Not told by an event of its own, but to be known by its words: where something is amiss that a person can mend.
    const thrown = [...text.matchAll(/throw new Error\(`(the secret with [^`]+)`\)/g)].map(([, message = '']) =>
      message.replace(/\$\{\w+\}/, '…'),
    )
    expect(thrown).toHaveLength(1)
    const asked = [...text.matchAll(/askHost(?:InTime)?\(context, '([^']+)'/g)].flatMap(([, what = '']) => [
      `${what} failed`,
      `${what} did not answer in time`,
    ])
    expect([...named].sort()).toEqual([...new Set([...written, ...asked, ...thrown])].sort())
  })

  it('has every condition of a refusal, and no other', () => {
    expect(conditions().length).toBeGreaterThan(30)
    expect([...namedUnder('Conditions')].sort()).toEqual([...new Set(conditions())].sort())
  })

  it('has every reason that the library words itself, and no other', () => {
    const written = readSources('src/payments', 'adapters/ilp').flatMap(reasonsIn)
    const ofReceivers = /STATES: [^{]*\{([^}]*)\}/.exec(readText('src/payments/rail/recheck-receiver.ts'))?.[1] ?? ''
    const notPayable = /type NotPayable = (.*)/.exec(readText('src/protocol/incoming-payment.ts'))?.[1] ?? ''
    const read = [
      ...[...ofReceivers.matchAll(/(\w+):/g)].map(([, name]) => `receiver_${name}`),
      ...[...notPayable.matchAll(/'(\w+)'/g)].map(([, name = '']) => name),
    ]
    expect(read).toEqual(expect.arrayContaining(['receiver_unreachable', 'expired']))
    const reasons = [...written.filter((reason) => reason !== 'receiver_…'), ...read]
    expect([...namedUnder('Reasons')].sort()).toEqual([...new Set(reasons)].sort())
  })
})

it('money that completes no incoming payment is told to the ledger, and has no event', async () => {
  const wallet = await testWallet()
  const token = await spendingToken(wallet)
  for (const members of [{}, { incomingAmount: usd('8') }]) {
    const { payment } = await incomingPayment(wallet, members)
    const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('7') }
    expect((await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })).status).toBe(201)
  }
  await wallet.openPayments.drain()
  expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 14n })
  const types = wallet.events.map(({ type }) => type).filter((type) => type.startsWith('incoming_payment'))
  expect(types).toEqual(['incoming_payment.created', 'incoming_payment.created'])
})
