import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** A file as the checks see it: its path from the root of the repository, with `/`, and its text. */
export interface Source {
  readonly path: string
  readonly text: string
}

const root = fileURLToPath(new URL('../../', import.meta.url))
const NOT_OURS: ReadonlySet<string> = new Set(['.git', 'node_modules', 'dist', 'coverage', 'api-reference'])

/** Every file of the repository below a folder, but for what is generated or installed; none where the folder is missing. */
export function listFiles(folder = ''): readonly string[] {
  try {
    return readdirSync(root + folder, { withFileTypes: true }).flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : listFiles(path)
      return [path]
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

/** The syntax tree of a file, with parents. */
export function parseSource(source: Source): ts.SourceFile {
  return ts.createSourceFile(source.path, source.text, ts.ScriptTarget.Latest, true)
}

/** Every node of a tree, the tree itself included. */
export function nodesOf(node: ts.Node): readonly ts.Node[] {
  const nodes: ts.Node[] = [node]
  node.forEachChild((child) => {
    nodes.push(...nodesOf(child))
  })
  return nodes
}

/** Where a node stands, as `path:line`. */
export function placeOf(node: ts.Node): string {
  const file = node.getSourceFile()
  return `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`
}
