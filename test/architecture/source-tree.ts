import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** A file as the checks see it: its path from the root of the repository, with `/`, and its text. */
export interface Source {
  readonly path: string
  readonly text: string
}

const root = fileURLToPath(new URL('../../', import.meta.url))
const NOT_OURS: ReadonlySet<string> = new Set(['.git', 'node_modules', 'dist', 'coverage', 'api-reference', '.stryker'])

/** Every file of the repository below a folder, but for what is generated or installed; none where the folder is missing. */
export function listFiles(folder = ''): readonly string[] {
  try {
    return readdirSync(root + folder, { withFileTypes: true }).flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (NOT_OURS.has(entry.name)) return []
      return entry.isDirectory() ? listFiles(path) : [path]
    })
  } catch {
    return []
  }
}

/** The text of a file. */
export function readText(path: string): string {
  return readFileSync(root + path, 'utf8')
}

/** The TypeScript files of some folders. */
export function readSources(...folders: readonly string[]): readonly Source[] {
  return folders
    .flatMap((folder) => listFiles(folder))
    .filter((path) => path.endsWith('.ts'))
    .map((path) => ({ path, text: readText(path) }))
}

const parsed = new Map<string, ts.SourceFile>()

/** The syntax tree of a file, with parents. Many rules look at each file, so it is parsed once. */
export function parseSource({ path, text }: Source): ts.SourceFile {
  const key = `${path}\0${text}`
  const file = parsed.get(key) ?? ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  parsed.set(key, file)
  return file
}

const listed = new WeakMap<ts.Node, readonly ts.Node[]>()

/** Every node of a tree, the tree itself included, each before what is in it. */
export function nodesOf(node: ts.Node): readonly ts.Node[] {
  const known = listed.get(node)
  if (known !== undefined) return known
  const nodes: ts.Node[] = []
  const add = (one: ts.Node): void => {
    nodes.push(one)
    one.forEachChild(add)
  }
  add(node)
  if (ts.isSourceFile(node)) listed.set(node, nodes)
  return nodes
}

/** Where a node stands, as `path:line`. */
export function placeOf(node: ts.Node): string {
  const file = node.getSourceFile()
  return `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`
}
