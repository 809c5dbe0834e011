import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { BUN, DENO, FIRST_NODE, LATER_NODES, PRESENT_NODE } from '../runtimes/runtimes.ts'
import { runCommand } from './pack-package.ts'

/** A module that imports everything, and prints what each entry holds and what became of the global object. */
function importsOf(entries: readonly string[]): string {
  const imports = entries.map((entry, index) => `import * as entry${index} from '${entry}'\n`)
  const names = entries.map((entry, index) => `${JSON.stringify(entry)}: Object.keys(entry${index}).sort()`)
  return `import { before } from './globals.mjs'
${imports.join('')}
const added = Reflect.ownKeys(globalThis).filter((name) => !before.includes(name)).map(String)
console.log(JSON.stringify({ entries: { ${names.join(', ')} }, added }))
`
}

/** The names of the subpaths, as one imports them. */
export function specifiersOf(entries: readonly string[]): readonly string[] {
  return entries.map((entry) => join('open-payments-server', entry))
}

/** Makes a copy of a project without anything that is loaded only where it is needed. */
export function makeBareProject(installed: string, folder: string): void {
  cpSync(dirname(dirname(installed)), folder, { recursive: true })
  rmSync(join(folder, 'node_modules', '@peculiar'), { recursive: true })
  writeFileSync(join(folder, 'globals.mjs'), 'export const before = Reflect.ownKeys(globalThis)\n')
}

/** Deno without any permission: whatever an import did to the world would fail. */
async function denoWithoutPermissions(): Promise<readonly string[]> {
  const [executable = ''] = await DENO.command()
  return [executable, 'run', '--no-prompt', '--no-lock']
}

const RUNTIMES = [FIRST_NODE, PRESENT_NODE, ...LATER_NODES, BUN, { name: 'Deno', command: denoWithoutPermissions }].map(
  (runtime) => [runtime.name, runtime] as const,
)

/** Releases in which `require` takes a module. */
const REQUIRING_NODES = LATER_NODES.map((node) => [node.name, node] as const)

/** An installed package without what it may do without, and the values that its declarations promise. */
export interface BareProject {
  readonly folder: string
  readonly values: Readonly<Record<string, readonly string[]>>
}

/** What every runtime finds in the package. */
export function describeImports(get: () => BareProject): void {
  it.each(RUNTIMES)(
    '%s imports every entry, with no effect and no package that it may do without',
    async (name, runtime) => {
      const { folder, values } = get()
      const file = join(folder, `${name}.mjs`)
      writeFileSync(file, importsOf(Object.keys(values)))
      const printed = await runCommand([...(await runtime.command()), file], folder)
      expect(JSON.parse(printed)).toEqual({ entries: values, added: [] })
    },
  )

  it.each(REQUIRING_NODES)('%s requires every entry from a CommonJS module', async (_, node) => {
    const { folder, values } = get()
    const file = join(folder, 'requires.cjs')
    const entries = JSON.stringify(Object.keys(values))
    writeFileSync(file, `console.log(JSON.stringify(${entries}.map((entry) => Object.keys(require(entry)).sort())))\n`)
    const printed = await runCommand([...(await node.command()), file], folder)
    expect(JSON.parse(printed)).toEqual(Object.values(values))
  })
}
