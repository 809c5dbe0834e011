import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { installRuntime } from '../runtimes/install-runtime.ts'
import { DENO } from '../runtimes/runtimes.ts'
import { runCommand } from './pack-package.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const USAGE = fileURLToPath(new URL('usage/', import.meta.url))

/** The strictest project that might depend on the package; declarations of dependencies are checked, too. */
const STRICT: ts.CompilerOptions = {
  noEmit: true,
  target: ts.ScriptTarget.ES2022,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  declaration: true,
  isolatedDeclarations: true,
  skipLibCheck: false,
  skipDefaultLibCheck: true,
  types: [],
}
const NODE16 = { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 }
const NODE_NEXT = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext }
const BUNDLER = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }

/** The oldest compiler that the README allows; what is used of it here is the same in the present one. */
const LOWEST: typeof ts = createRequire(import.meta.url)('typescript-lowest')

/** The newest compiler, which is another program than the present one: it has only a command line. */
const NEWEST = '7.0.2'

const PORTABLE = readdirSync(USAGE).filter((name) => name !== 'node-hosts.ts')
/** Examples that a wallet copies into its own project. */
const COPIED = ['smallest-ledger.ts', 'postgres-ledger.ts', 'postgres-books.ts', 'tigerbeetle-ledger.ts']
const LANGUAGE = 'lib.es2022.d.ts'

const PROJECTS: readonly (readonly [name: string, files: readonly string[], options: ts.CompilerOptions])[] = [
  ['node16, a browser and no types of Node', PORTABLE, { ...NODE16, lib: [LANGUAGE, 'lib.dom.d.ts'] }],
  ['nodenext, a worker and no types of Node', PORTABLE, { ...NODE_NEXT, lib: [LANGUAGE, 'lib.webworker.d.ts'] }],
  [
    'bundler and no browser, on Node',
    [...readdirSync(USAGE), ...COPIED],
    { ...BUNDLER, lib: [LANGUAGE], types: ['node'] },
  ],
]

/** Makes a project beside an installed package, with the types that a host brings, and the files that are to compile. */
export function makeTypedProject(installed: string, folder: string): void {
  const modules = join(folder, 'node_modules')
  mkdirSync(modules, { recursive: true })
  cpSync(join(dirname(dirname(installed)), 'package.json'), join(folder, 'package.json'))
  symlinkSync(installed, join(modules, 'open-payments-server'))
  for (const name of ['@types', 'postgres', 'tigerbeetle-node'])
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  cpSync(USAGE, folder, { recursive: true })
  for (const name of COPIED) cpSync(join(installed, 'examples', name), join(folder, name))
  const { exactOptionalPropertyTypes, noUncheckedIndexedAccess } = STRICT
  const compilerOptions = { exactOptionalPropertyTypes, noUncheckedIndexedAccess }
  writeFileSync(join(folder, 'deno.json'), JSON.stringify({ compilerOptions, nodeModulesDir: 'manual' }))
}

function findTypeErrors(
  folder: string,
  files: readonly string[],
  options: ts.CompilerOptions,
  compiler = ts,
): readonly string[] {
  const roots = files.map((name) => join(folder, name))
  const program = compiler.createProgram(roots, {
    ...STRICT,
    ...options,
    typeRoots: [join(folder, 'node_modules/@types')],
  })
  return compiler.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
    const line = file === undefined ? '' : `${file.fileName}:${file.getLineAndCharacterOfPosition(start).line + 1} `
    return `${line}${compiler.flattenDiagnosticMessageText(messageText, '\n')}`
  })
}

/** The same options in the words of a `tsconfig.json`. */
function inWords({ lib = [], module, moduleResolution, target, ...others }: ts.CompilerOptions): object {
  return {
    ...others,
    lib: lib.map((name) => name.slice('lib.'.length, -'.d.ts'.length)),
    module: ts.ModuleKind[module ?? 0],
    moduleResolution: moduleResolution && ts.ModuleResolutionKind[moduleResolution],
    target: ts.ScriptTarget[target ?? 0],
  }
}

/** What must compile in a project that has installed the package, and what must not. */
export function describeTypes(folderOf: () => string): void {
  it.each(PROJECTS)('its types say in a project with %s what is right and what is wrong', (_, files, options) => {
    expect(findTypeErrors(folderOf(), files, options)).toEqual([])
  })

  it('its README names the oldest TypeScript that is tried', () => {
    expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain(
      `TypeScript must be ${LOWEST.versionMajorMinor} or newer`,
    )
  })

  it('its page on the first payment names all that are tried', () => {
    const tried = `${LOWEST.versionMajorMinor}, ${ts.versionMajorMinor} and ${NEWEST.slice(0, NEWEST.lastIndexOf('.'))}`
    expect(readFileSync(join(ROOT, 'docs/getting-started.md'), 'utf8')).toContain(`the tests try ${tried}`)
  })

  it.each(PROJECTS)('its types say so to that TypeScript in a project with %s', (_, files, options) => {
    const errors = findTypeErrors(folderOf(), files, options, LOWEST)
    // The declarations of `pg` itself need TypeScript 5.7.
    expect(errors.filter((error) => !error.includes('/node_modules/pg-protocol/'))).toEqual([])
  })

  it.each(PROJECTS)('its types say so to the newest TypeScript in a project with %s', async (_, files, options) => {
    const tsc = await installRuntime('typescript', NEWEST, 'tsc')
    const compilerOptions = inWords({ ...STRICT, ...options })
    writeFileSync(join(folderOf(), 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    await expect(runCommand([tsc, '--project', folderOf()], folderOf())).resolves.toBe('')
  })

  it('its types say so to Deno, with what Deno itself declares', async () => {
    const [deno = ''] = await DENO.command()
    await expect(runCommand([deno, 'check', '--no-lock', ...PORTABLE], folderOf())).resolves.toBe('')
  })

  it('its types need four names of the host, and of them only those', () => {
    const errors = findTypeErrors(folderOf(), ['results.ts', 'options.ts', 'ledgers.ts'], {
      ...NODE16,
      lib: [LANGUAGE],
    })
    const missing = errors.map((error) => /Cannot find name '(\w+)'/.exec(error)?.[1] ?? error)
    expect([...new Set(missing)].sort()).toEqual(['AbortSignal', 'Request', 'Response', 'URL'])
  })
}
