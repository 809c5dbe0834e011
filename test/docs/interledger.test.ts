import { ilp } from 'open-payments-server/ilp'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { nodesOf, parseSource, readText } from '../architecture/source-tree.ts'
import { codeBlocksOf } from './markdown.ts'

const PAGE = 'docs/interledger.md'
const page = readText(PAGE)

/** The members of an interface of the options of `ilp`. */
function membersOf(name: string): readonly string[] {
  const path = 'adapters/ilp/options.ts'
  const [found] = nodesOf(parseSource({ path, text: readText(path) })).filter(
    (node) => ts.isInterfaceDeclaration(node) && node.name.text === name,
  )
  if (found === undefined || !ts.isInterfaceDeclaration(found)) throw new Error(`there is no ${name}`)
  return found.members.map((member) => member.name?.getText() ?? '')
}

/** The names in the first cells of a table, by the first cell of its head. */
function rowsUnder(head: string): readonly string[] {
  const [, text = ''] = page.split(`\n| ${head} | Is |\n`)
  const [table = ''] = text.split('\n\n')
  return [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name)
}

describe('the page about Interledger', () => {
  it('has a row for every option, and for every option of a peer', () => {
    // How a packet gets to a peer is for tests and hosts without fetch.
    expect(rowsUnder('Option').toSorted()).toEqual(
      membersOf('IlpOptions')
        .filter((name) => name !== 'send')
        .toSorted(),
    )
    expect(rowsUnder('Of a peer').toSorted()).toEqual(membersOf('IlpPeer').toSorted())
  })

  it('names defaults that are the defaults', () => {
    const peer = {
      address: 'g.other-wallet',
      url: 'https://ilp.other-wallet.example/',
      outgoingToken: 'a token of the page'.replaceAll(' ', '-'),
      incomingTokens: ['another token of it'.replaceAll(' ', '-')],
      asset: { assetCode: 'USD', assetScale: 6 },
    }
    expect(ilp({ address: 'g.my-wallet', peers: [peer] }).endpoint?.path).toBe(/Default `(\/\w+)`/.exec(page)?.[1])
    expect(readText('adapters/ilp/options.ts')).toContain(
      `slippageBasisPoints = ${/Default (\d+), which is 1 %/.exec(page)?.[1]}`,
    )
  })

  it('tells a Rafiki instance what its table says', () => {
    const [input] = codeBlocksOf(PAGE).filter(({ language }) => language === 'json')
    const peer = JSON.parse(input?.code ?? '{}').input
    const told = [
      'assetId',
      'staticIlpAddress',
      'http.incoming.authTokens',
      'http.outgoing.endpoint',
      'http.outgoing.authToken',
      'maxPacketAmount',
      'initialLiquidity',
    ]
    for (const path of told) {
      expect(page).toContain(`\`${path}\``)
      expect(
        path.split('.').reduce((value, name) => value?.[name], peer),
        path,
      ).toBeDefined()
    }
  })
})
