import { join } from 'node:path'
import ts from 'typescript'

const HEAD = `Written from the packed package by
\`npx vitest run --config vitest.all.config.ts test/package/package.test.ts -u\`. What changes here changes for users:
it needs a line in CHANGELOG.md.`

/** The public API of one entry. */
export interface ApiReport {
  /** Its subpath: \`.\`, \`./node\`. */
  readonly entry: string
  /** What is there at run time, sorted. */
  readonly values: readonly string[]
  /** Names, declarations without comments, and what they are made of, as Markdown. */
  readonly text: string
}

type Declared = ReadonlyMap<ts.Symbol, string>

/** The declarations of a symbol that stand on their own in a file of the package. */
function declarationsOf(symbol: ts.Symbol, root: string): readonly ts.Node[] {
  return (symbol.declarations ?? []).flatMap((declaration) => {
    const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
    const isTopLevel = !ts.isSourceFile(node) && ts.isSourceFile(node.parent)
    return isTopLevel && node.getSourceFile().fileName.startsWith(root) ? [node] : []
  })
}

/** Every symbol that a declaration names. */
function symbolsIn(node: ts.Node, checker: ts.TypeChecker): readonly ts.Symbol[] {
  const found: ts.Symbol[] = []
  const visit = (child: ts.Node): void => {
    const symbol = ts.isIdentifier(child) ? checker.getSymbolAtLocation(child) : undefined
    if (symbol !== undefined) found.push(targetOf(symbol, checker))
    child.forEachChild(visit)
  }
  visit(node)
  return found
}

function targetOf(symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

function isValue(symbol: ts.Symbol, checker: ts.TypeChecker): boolean {
  const isTypeOnly = symbol.declarations?.some((declaration) => ts.isTypeOnlyExportDeclaration(declaration)) ?? false
  return !isTypeOnly && (targetOf(symbol, checker).flags & ts.SymbolFlags.Value) !== 0
}

const printer = ts.createPrinter({ removeComments: true })

/** A declaration without comments, and without the marks that a bundler of declarations puts on names and chunks. */
function print(node: ts.Node): string {
  return printer
    .printNode(ts.EmitHint.Unspecified, node, node.getSourceFile())
    .replace(/^(?:export )?declare /, '')
    .replace(/\$\d+\b/g, '')
}

/** Everything of the package that the given symbols are made of, and that no entry exports. */
function privateParts(
  symbols: readonly ts.Symbol[],
  exported: Declared,
  root: string,
  checker: ts.TypeChecker,
): ReadonlySet<ts.Symbol> {
  const seen = new Set(symbols)
  for (const symbol of seen) {
    const parts = declarationsOf(symbol, root).flatMap((node) => symbolsIn(node, checker))
    for (const part of parts) {
      if (!exported.has(part) && declarationsOf(part, root).length > 0) seen.add(part)
    }
  }
  return new Set([...seen].filter((symbol) => !exported.has(symbol)))
}

function section(title: string, lines: readonly string[], fence = ''): string {
  if (lines.length === 0) return ''
  return fence === ''
    ? `${title} ${lines.map((line) => `\`${line}\``).join(', ')}\n\n`
    : `${title}\n\n\`\`\`${fence}\n${lines.join('\n\n')}\n\`\`\`\n\n`
}

/** Reads what an installed package declares, entry by entry, each name where it is exported first. */
export function reportApi(installed: string, entries: readonly string[]): readonly ApiReport[] {
  const fileOf = (entry: string): string => join(installed, 'dist', `${entry === '.' ? 'index' : entry}.d.ts`)
  const program = ts.createProgram(entries.map(fileOf), {
    module: ts.ModuleKind.NodeNext,
    noLib: true,
    types: [],
  })
  const checker = program.getTypeChecker()
  const root = join(installed, 'dist')
  const namesOf = (entry: string): readonly ts.Symbol[] => {
    const file = program.getSourceFile(fileOf(entry))
    const module = file && checker.getSymbolAtLocation(file)
    if (module === undefined) throw new Error(`${entry} declares no module`)
    return [...checker.getExportsOfModule(module)].sort((a, b) => (a.name < b.name ? -1 : 1))
  }
  const exported = new Map<ts.Symbol, string>()
  for (const entry of entries) {
    for (const symbol of namesOf(entry)) {
      const target = targetOf(symbol, checker)
      if (!exported.has(target)) exported.set(target, entry)
    }
  }
  return entries.map((entry) => {
    const names = namesOf(entry)
    const values = names.filter((symbol) => isValue(symbol, checker)).map(({ name }) => name)
    const types = names.map(({ name }) => name).filter((name) => !values.includes(name))
    const own = names.map((symbol) => targetOf(symbol, checker)).filter((symbol) => exported.get(symbol) === entry)
    const printAll = (symbols: Iterable<ts.Symbol>): readonly string[] =>
      [...symbols].flatMap((symbol) => declarationsOf(symbol, root)).map(print)
    const elsewhere = names
      .filter((symbol) => exported.get(targetOf(symbol, checker)) !== entry)
      .map((symbol) => `${symbol.name} of ${exported.get(targetOf(symbol, checker))}`)
    const text = [
      `# \`${entry === '.' ? 'open-payments-server' : entry.replace('.', 'open-payments-server')}\`\n\n${HEAD}\n\n`,
      section('Values:', values),
      section('Types:', types),
      section('Declared elsewhere:', elsewhere),
      section('## Declarations', printAll(own), 'ts'),
      section(
        '## What they are made of, by names that no entry exports',
        [...printAll(privateParts(own, exported, root, checker))].sort(),
        'ts',
      ),
    ].join('')
    return { entry, values, text: `${text.trimEnd()}\n` }
  })
}
