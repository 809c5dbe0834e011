import { posix } from 'node:path'
import ts from 'typescript'
import { nodesOf, parseSource, placeOf, type Source } from './source-tree.ts'

/** What the files of one room may import beside each other. */
interface Room {
  /** Other rooms, or single files of the root of `src`. */
  readonly rooms: readonly string[]
  readonly packages?: readonly string[]
  /** Packages that may only be loaded when they are needed. */
  readonly lazyPackages?: readonly string[]
  readonly isTypesOnly?: true
}

const CORE = ['protocol', 'errors', 'ports', 'deadline', 'records', 'http-signatures', 'http', 'payments']
const SERVERS = ['auth-server', 'resource-server', 'wallet-address-server']
const WHOLE = [...CORE, ...SERVERS, 'ase', 'client', 'runtime']

/** Who may import whom: the table of ARCHITECTURE.md. A room without a row is refused. */
export const ROOMS: Readonly<Record<string, Room>> = {
  protocol: { rooms: [], packages: ['valibot'] },
  errors: { rooms: ['protocol'] },
  ports: { rooms: ['protocol'], isTypesOnly: true },
  deadline: { rooms: ['ports'] },
  records: { rooms: ['protocol', 'errors', 'ports', 'deadline'] },
  'http-signatures': { rooms: ['protocol', 'ports'], packages: ['structured-headers'] },
  http: {
    rooms: ['protocol', 'errors', 'ports', 'deadline', 'records', 'http-signatures'],
    packages: ['itty-router', 'valibot'],
  },
  client: { rooms: ['protocol', 'ports', 'deadline', 'http-signatures'], packages: ['valibot'] },
  payments: { rooms: ['protocol', 'errors', 'ports', 'deadline', 'records'] },
  'auth-server': { rooms: ['protocol', 'errors', 'ports', 'deadline', 'records', 'http', 'http-signatures'] },
  'resource-server': { rooms: ['protocol', 'errors', 'ports', 'records', 'http', 'payments'] },
  'wallet-address-server': { rooms: ['protocol', 'errors', 'ports', 'http'] },
  ase: { rooms: ['protocol', 'ports', 'records', 'payments'] },
  runtime: { rooms: ['ports', 'protocol', 'errors', 'deadline'], lazyPackages: ['@peculiar/webcrypto'] },
  testing: { rooms: ['ports', 'protocol', 'http-signatures'] },
  'options.ts': { rooms: ['protocol', 'errors', 'ports'] },
  'create-context.ts': { rooms: [...WHOLE, 'options.ts'] },
  'open-payments.ts': { rooms: [...WHOLE, 'create-context.ts', 'options.ts'] },
  'index.ts': { rooms: [...WHOLE, 'options.ts', 'open-payments.ts'] },
  adapters: { rooms: ['index.ts', 'ports', 'protocol', 'errors', 'deadline', 'records'], lazyPackages: ['libsql'] },
}

/** Adapters whose name says that they run on Node's modules. */
const NODE_ADAPTERS = /^adapters\/(?:node|express|(?:storage|ledger)\/sql[a-z-]*)(?:\/[a-z-]+)*(?:\.ts)$/

/** One import, export-from, dynamic import or `import('…')` type. */
interface Import {
  readonly specifier: string
  readonly place: string
  readonly isType: boolean
  readonly isDynamic: boolean
}

function specifierOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier
  if (ts.isExternalModuleReference(node)) return node.expression
  if (ts.isImportTypeNode(node)) return ts.isLiteralTypeNode(node.argument) ? node.argument.literal : node.argument
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    return node.arguments[0] ?? node
  return undefined
}

function isTypeImport(node: ts.Node): boolean {
  if (ts.isImportTypeNode(node)) return true
  if (ts.isExportDeclaration(node)) return node.isTypeOnly
  if (!ts.isImportDeclaration(node)) return false
  const clause = node.importClause
  if (clause === undefined) return false
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true
  const names = clause.namedBindings
  return (
    clause.name === undefined &&
    names !== undefined &&
    ts.isNamedImports(names) &&
    names.elements.every((name) => name.isTypeOnly)
  )
}

/** Everything that a file imports; a specifier that is computed reads `*`. Type imports count. */
export function importsOf(source: Source): readonly Import[] {
  return nodesOf(parseSource(source)).flatMap((node) => {
    const specifier = specifierOf(node)
    if (specifier === undefined) return []
    const text = ts.isStringLiteralLike(specifier) ? specifier.text : '*'
    return [{ specifier: text, place: placeOf(node), isType: isTypeImport(node), isDynamic: ts.isCallExpression(node) }]
  })
}

/** The room of a file: its folder in `src`, `adapters`, or an example, each of which is a room of its own. */
function roomOf(path: string): string {
  const [top = '', second = ''] = path.split('/')
  if (top === 'src') return second
  return top === 'examples' ? `examples/${second}` : top
}

function targetOf(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier)
}

function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

/** What the repository holds, as far as imports are concerned. */
export interface Surroundings {
  /** Packages that examples may show: those that package.json names. */
  readonly packages: readonly string[]
  /** The subpaths that the package exports, as clients import them. */
  readonly entries: readonly string[]
}

function exampleRefusal(path: string, { specifier }: Import, surroundings: Surroundings): string | undefined {
  if (specifier.startsWith('node:') || surroundings.entries.includes(specifier)) return undefined
  if (packageOf(specifier) === 'open-payments-server') return 'is not exported by the package'
  if (specifier.startsWith('.')) {
    const target = targetOf(path, specifier)
    return roomOf(target) === roomOf(path) || /^examples\/[a-z]+-ledger\.ts$/.test(target)
      ? undefined
      : 'an example imports the package by its name, and no other example but a ledger'
  }
  return surroundings.packages.includes(packageOf(specifier)) ? undefined : 'is not named in package.json'
}

/** Why an import is not allowed; `undefined` where it is. */
function refusalOf(path: string, statement: Import, surroundings: Surroundings): string | undefined {
  const { specifier } = statement
  if (specifier === '*') return 'a computed import cannot be checked'
  if (specifier.startsWith('.') && !specifier.endsWith('.ts')) return 'a relative import names the file with .ts'
  const name = roomOf(path)
  if (name.startsWith('examples/')) return exampleRefusal(path, statement, surroundings)
  const room = ROOMS[name]
  if (room === undefined) return `the room ${name} has no row in the table of imports`
  if (room.isTypesOnly && !statement.isType) return 'ports import types only'
  if (specifier.startsWith('node:'))
    return NODE_ADAPTERS.test(path) ? undefined : 'built-in modules are for adapters that carry their name'
  if (!specifier.startsWith('.')) {
    if (room.packages?.includes(packageOf(specifier))) return undefined
    if (room.lazyPackages?.includes(packageOf(specifier)))
      return statement.isDynamic ? undefined : 'is loaded by import() only'
    return `${name} may not import this package`
  }
  const target = roomOf(targetOf(path, specifier))
  return target === name || room.rooms.includes(target) ? undefined : `${name} may not import ${target}`
}

/** Every permission of the table that no import uses; the files that put the whole together are permitted the whole. */
export function findUnusedPermissions(sources: readonly Source[]): readonly string[] {
  const used = new Set(
    sources.flatMap((source) =>
      importsOf(source).map(({ specifier }) => {
        const target = specifier.startsWith('.') ? roomOf(targetOf(source.path, specifier)) : packageOf(specifier)
        return `${roomOf(source.path)} may import ${target}`
      }),
    ),
  )
  return Object.entries(ROOMS).flatMap(([name, { rooms, packages = [], lazyPackages = [] }]) =>
    WHOLE.every((room) => rooms.includes(room))
      ? []
      : [...rooms, ...packages, ...lazyPackages]
          .map((target) => `${name} may import ${target}`)
          .filter((permission) => !used.has(permission)),
  )
}

/** Every import that the table does not allow. */
export function findForbiddenImports(sources: readonly Source[], surroundings: Surroundings): readonly string[] {
  return sources.flatMap((source) =>
    importsOf(source).flatMap((statement) => {
      const refusal = refusalOf(source.path, statement, surroundings)
      return refusal === undefined ? [] : [`${statement.place} '${statement.specifier}': ${refusal}`]
    }),
  )
}

/** Every relative import of a file that is not there. */
export function findMissingFiles(sources: readonly Source[]): readonly string[] {
  const paths = new Set(sources.map((source) => source.path))
  return sources.flatMap((source) =>
    importsOf(source)
      .filter(({ specifier }) => specifier.startsWith('.') && !paths.has(targetOf(source.path, specifier)))
      .map(({ specifier, place }) => `${place} '${specifier}' does not exist`),
  )
}

/** Groups of files that import each other in a circle, each sorted: the strongly connected components (Tarjan). */
export function findCycles(sources: readonly Source[]): readonly (readonly string[])[] {
  const edges = new Map(
    sources.map((source) => [
      source.path,
      importsOf(source).flatMap(({ specifier }) =>
        specifier.startsWith('.') ? [targetOf(source.path, specifier)] : [],
      ),
    ]),
  )
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const cycles: (readonly string[])[] = []
  const visit = (path: string): number => {
    const index = order.size
    order.set(path, index)
    open.push(path)
    let low = index
    for (const next of edges.get(path) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next))
      else if (open.includes(next)) low = Math.min(low, order.get(next) ?? index)
    }
    lowest.set(path, low)
    if (low !== index) return low
    const group = open.splice(open.indexOf(path))
    if (group.length > 1 || edges.get(path)?.includes(path)) cycles.push(group.sort())
    return low
  }
  for (const path of edges.keys()) if (!order.has(path)) visit(path)
  return cycles
}
