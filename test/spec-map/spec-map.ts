import ts from 'typescript'
import { nodesOf, parseSource, readText, type Source } from '../architecture/source-tree.ts'

/** A file and something in it: a symbol of the product, or the title of a test as its source has it. */
export interface Place {
  readonly path: string
  readonly name: string
}

/** One row of `docs/spec-map.md`. */
export interface Row {
  readonly id: string
  readonly rule: string
  readonly symbols: readonly Place[]
  readonly tests: readonly Place[]
  readonly status: string
}

const ROW = /^\| ([A-Z]+-\d+) \| (.+) \| (.+) \| (.+) \| (.+) \|$/
const PLACE = /^`([^`]+)` `(.+)`$/

function placesIn(cell: string): readonly Place[] {
  if (cell === '–') return []
  return cell.split('<br>').map((part) => {
    const [, path, name] = PLACE.exec(part.trim()) ?? []
    if (path === undefined || name === undefined) throw new Error(`not a place in the spec map: ${part}`)
    return { path, name: name.replaceAll('\\|', '|') }
  })
}

/** The rows of the spec map, in their order. A line that begins like a row and is none is an error. */
export function readSpecMap(text = readText('docs/spec-map.md')): readonly Row[] {
  return text.split('\n').flatMap((line) => {
    if (!/^\| [A-Z]+-\d+ /.test(line)) return []
    const [, id, rule, symbols, tests, status] = ROW.exec(line) ?? []
    if (!id || !rule || !symbols || !tests || !status) throw new Error(`not a row of the spec map: ${line}`)
    return [{ id, rule, symbols: placesIn(symbols), tests: placesIn(tests), status }]
  })
}

/** Parsing is slow, and most rows speak of the same files. */
export function cachedSources(): (path: string) => ts.SourceFile {
  const parsed = new Map<string, ts.SourceFile>()
  return (path) => {
    const known = parsed.get(path)
    if (known !== undefined) return known
    const source: Source = { path, text: readText(path) }
    const file = parseSource(source)
    parsed.set(path, file)
    return file
  }
}

function isNamed(node: ts.Node, name: string): boolean {
  return (
    (ts.isVariableDeclaration(node) ||
      ts.isFunctionDeclaration(node) ||
      ts.isClassDeclaration(node) ||
      ts.isInterfaceDeclaration(node) ||
      ts.isTypeAliasDeclaration(node) ||
      ts.isPropertyAssignment(node) ||
      ts.isShorthandPropertyAssignment(node) ||
      ts.isMethodDeclaration(node) ||
      ts.isPropertySignature(node)) &&
    node.name !== undefined &&
    (ts.isStringLiteral(node.name) ? node.name.text : node.name.getText()) === name
  )
}

/**
 * The declarations of a symbol: `name` at the top of the file, `name.member` within it. Overloads and a type and a
 * value of one name are one symbol. Empty where there is none.
 */
export function findSymbol(file: ts.SourceFile, name: string): readonly ts.Node[] {
  const [first = '', ...members] = name.split('.')
  const top = file.statements
    .flatMap((statement): readonly ts.Node[] =>
      ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement],
    )
    .filter((node) => isNamed(node, first))
  return members.reduce<readonly ts.Node[]>(
    (nodes, member) =>
      nodes.flatMap((node) =>
        nodesOf(node)
          .slice(1)
          .filter((inner) => isNamed(inner, member)),
      ),
    top,
  )
}

/** The titles of the tests of a file as their source has them; an expression within a title reads `%s`. */
export function testTitles(file: ts.SourceFile): readonly string[] {
  return nodesOf(file).flatMap((node) => {
    if (!ts.isCallExpression(node)) return []
    const [title] = node.arguments
    if (title === undefined || !/^(?:it|test)\b/.test(node.expression.getText())) return []
    if (ts.isStringLiteralLike(title)) return [title.text]
    if (!ts.isTemplateExpression(title)) return []
    return [title.head.text + title.templateSpans.map((span) => `%s${span.literal.text}`).join('')]
  })
}

/** Matches what a title becomes when it runs: every placeholder stands for anything. */
export function titlePattern(title: string): string {
  return title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/%[sdifjo#]|\\\$[A-Za-z_][\w]*(?:\\\.\w+)*/g, '.*')
}
