import { compileFunction } from 'node:vm'
import * as itty from 'itty-router'
import * as structured from 'structured-headers'
import ts from 'typescript'
import * as valibot from 'valibot'
import { readSources } from '../architecture/source-tree.ts'
import type { CreateOpenPayments } from './world.ts'

/** A change of one source file; what is found must be there exactly once. */
export interface Edit {
  readonly file: string
  readonly find: string
  readonly put: string
}

const PACKAGES: Readonly<Record<string, unknown>> = {
  valibot,
  'itty-router': itty,
  'structured-headers': structured,
}

type Evaluate = (exports: object, require: (name: string) => unknown) => void

function compile(path: string, text: string): Evaluate {
  const { outputText } = ts.transpileModule(text, {
    fileName: path,
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, verbatimModuleSyntax: false },
  })
  return compileFunction(outputText, ['exports', 'require'], { filename: path }) as Evaluate
}

const texts = new Map(readSources('src').map(({ path, text }) => [path, text]))
const compiled = new Map<string, Evaluate>()

/** The path of an import, from the root of the repository. */
function resolve(from: string, name: string): string {
  return new URL(name, `file:///${from}`).pathname.slice(1)
}

/**
 * The library with some of its source changed. It is compiled from the files as they are and lives in memory alone:
 * nothing is written.
 */
export function coreWith(...edits: readonly Edit[]): CreateOpenPayments {
  const changed = new Map<string, Evaluate>()
  for (const file of new Set(edits.map((edit) => edit.file))) {
    let text = texts.get(file) ?? ''
    for (const { find, put } of edits.filter((edit) => edit.file === file)) {
      const count = text.split(find).length - 1
      if (count !== 1) throw new Error(`${file} has this ${count} times: ${find}`)
      text = text.replace(find, () => put)
    }
    changed.set(file, compile(file, text))
  }
  const evaluateOf = (path: string): Evaluate => {
    const evaluate = changed.get(path) ?? compiled.get(path) ?? compile(path, texts.get(path) ?? '')
    if (!changed.has(path)) compiled.set(path, evaluate)
    return evaluate
  }
  const loaded = new Map<string, object>()
  const load = (path: string): object => {
    const known = loaded.get(path)
    if (known !== undefined) return known
    const exports = {}
    loaded.set(path, exports)
    evaluateOf(path)(exports, (name) => PACKAGES[name] ?? load(resolve(path, name)))
    return exports
  }
  const { createOpenPayments } = load('src/open-payments.ts') as { readonly createOpenPayments: CreateOpenPayments }
  return createOpenPayments
}
