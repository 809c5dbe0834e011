import { existsSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Packages that a program imports by name, beside this one. */
const DRIVERS = ['libsql', 'pg', 'postgres']

/** The program of these tests, in the project. */
export const WALLET_PROGRAM = 'test/crashes/wallet-process/main.ts'

/**
 * Builds the program of a wallet's server into a folder of its own, beside the package as one of its users would have
 * it: the program finds the built package by its name. Answers its file.
 */
export async function buildProgram(packageFolder = ROOT, program = WALLET_PROGRAM): Promise<string> {
  if (!existsSync(join(packageFolder, 'dist/index.js'))) throw new Error('build the package first: npm run build')
  const folder = mkdtempSync(join(tmpdir(), 'crashes-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(packageFolder, join(folder, 'node_modules/open-payments-server'))
  for (const name of DRIVERS) symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  await build({
    config: false,
    entry: { wallet: join(ROOT, program) },
    outDir: folder,
    outExtension: () => ({ js: '.mjs' }),
    format: 'esm',
    target: 'node20',
    tsconfig: join(ROOT, 'tsconfig.base.json'),
    external: [/^open-payments-server/, ...DRIVERS],
    clean: false,
    silent: true,
  })
  return join(folder, 'wallet.mjs')
}
