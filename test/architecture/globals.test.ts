import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parseSource, readSources, readText } from './source-tree.ts'
import { findSyntaxViolations, SYNTAX_RULES, type SyntaxRuleName } from './syntax-rules.ts'

const files = readSources('src', 'adapters').map(parseSource)

/** For each rule: a file, texts that break the rule there, and texts that come close and do not. */
const FIXTURES: Readonly<
  Record<SyntaxRuleName, readonly [path: string, broken: readonly string[], sound: readonly string[]]>
> = {
  'the time comes from the Clock port': [
    'src/payments/fund.ts',
    [
      'const t = Date.now()',
      'const d = new Date()',
      'const d = new Date',
      'const s = Date()',
      'const { now } = Date',
      `const t = Date['now']()`,
    ],
    [
      'const d = new Date(0)',
      'const t = Date.UTC(1970, 0)',
      'const t = Date.parse(text)',
      'function f(d: Date): Date { return d }',
    ],
  ],
  'randomness comes from the Cryptography port': [
    'src/records/commit.ts',
    ['const r = Math.random()', 'const { random } = Math', `const r = Math['random']()`],
    ['const m = Math.max(1, 2)', 'const r = random()'],
  ],
  'cryptography comes from its port': [
    'src/http/body.ts',
    ['const k = host.crypto.subtle', `const k = host['subtle']`],
    ['const subtle = 1', 'const k = cryptography.sha256(b)'],
  ],
  'timers come from the Clock port': [
    'src/payments/fund.ts',
    ['const s = AbortSignal.timeout(5)'],
    ['const s = new AbortController().signal', 'const t = options.timeout'],
  ],
  'no environment variable is read': [
    'src/runtime/web-crypto.ts',
    [
      'const v = process.env',
      `const v = process.env['PORT']`,
      `const v = process['env']`,
      `const v = Deno.env.get('PORT')`,
    ],
    ['const v = options.env', 'const v = process.versions'],
  ],
  'no any': [
    'adapters/node.ts',
    ['let a: any', 'const a = b as any', 'type T = Record<string, any>'],
    ['const any = 1', '// any'],
  ],
  'no cast': [
    'adapters/storage/sqlite.ts',
    ['const a = b as string', 'const a = <string>b', 'const a = b as unknown as string'],
    [
      'const a = [1] as const',
      'const a = { b: 1 } satisfies Record<string, number>',
      `import { b as c } from './b.ts'`,
    ],
  ],
  'no non-null assertion': [
    'src/http/router.ts',
    ['const a = b!', 'const a = b!.c', 'let a!: string', 'class E extends Error { a!: string }'],
    ['const a = !b', 'const a = b?.c'],
  ],
  'no enum': ['src/protocol/quote.ts', ['enum A { B }', 'export const enum A { B }'], [`type A = 'b'`]],
  'no namespace': [
    'src/protocol/quote.ts',
    ['namespace A { export const b = 1 }', 'declare global { const b: 1 }'],
    ['const namespace = 1'],
  ],
  'no decorator': ['src/protocol/quote.ts', ['class A extends Error { @b c = 1 }'], [`const at = '@b'`]],
  'no default export': [
    'src/http/router.ts',
    ['export default 1', 'export default function a() {}', 'const a = 1\nexport { a as default }'],
    ['export const a = 1', `export { default as a } from './a.ts'`],
  ],
  'classes are errors': [
    'src/records/commit.ts',
    ['class Store {}', 'export class Store extends Base {}', 'const a = class {}'],
    ['class NoAnswer extends Error {}', 'export class Refusal extends OpenPaymentsError {}'],
  ],
  'no reassignable variable of a module': [
    'src/records/commit.ts',
    ['let a = 1', 'export let a: string | undefined', 'var a = 1'],
    ['const a = 1', 'function f() { let a = 1; a += 1; return a }'],
  ],
  'no mutable collection of a module': [
    'src/http/router.ts',
    [
      'const a = new Map<string, string>()',
      'const a: Map<string, string> = new Map()',
      `const a = new Set(['b'])`,
      'const a = new WeakMap<object, string>()',
      'const a: string[] = []',
      `type A = string[]\nconst a: A = ['b']`,
      `const a = ['b']`,
      'const a: Record<string, string> = {}',
      'const a = Object.create(null)',
    ],
    [
      `const a: ReadonlySet<string> = new Set(['b'])`,
      `const a: ReadonlyMap<string, string> = new Map([['b', 'c']])`,
      `const a: readonly string[] = ['b']`,
      `type A = readonly string[]\nconst a: A = ['b']`,
      `const a = ['b'] as const`,
      `const a = Object.freeze(['b'])`,
      `const a = { b: 'c' }`,
      'function f() { const a = new Map(); return a }',
    ],
  ],
  'no top-level side effect': [
    'adapters/node.ts',
    [
      'start()',
      'if (a) b()',
      'for (const a of b) c(a)',
      'a.b = 1',
      'const a = await b()',
      'for await (const a of b) c(a)',
    ],
    [
      'const a = 1',
      'async function f() { await b() }',
      `import { a } from './a.ts'`,
      'export type A = string',
      `export * from './a.ts'`,
    ],
  ],
  'protocol is never asynchronous': [
    'src/protocol/quote.ts',
    ['async function f() {}', 'const f = async () => 1', 'type A = Promise<string>'],
    ['function f() { return 1 }'],
  ],
  'ports are interfaces': [
    'src/ports/clock.ts',
    ['export const a = 1', 'export function f() {}', `export { a } from './a.ts'`],
    ['export interface A { b(): void }', `export type A = 'b'`, `import type { A } from './a.ts'`],
  ],
  'index.ts re-exports only': [
    'src/index.ts',
    ['export const a = 1', `import { a } from './a.ts'\nexport { a }`],
    [`export { a } from './a.ts'`, `export type { A } from './a.ts'`, `export * from './a.ts'`],
  ],
}

describe.each(Object.entries(FIXTURES))('%s', (key, [path, broken, sound]) => {
  const name = Object.keys(SYNTAX_RULES).find((rule): rule is SyntaxRuleName => rule === key)
  if (name === undefined) throw new Error(`no rule is called ${key}`)

  it('holds', () => {
    expect(findSyntaxViolations(name, files)).toEqual([])
  })

  it.each(broken)('finds %j', (text) => {
    expect(findSyntaxViolations(name, [parseSource({ path, text })])).not.toEqual([])
  })

  it.each(sound)('admits %j', (text) => {
    expect(findSyntaxViolations(name, [parseSource({ path, text })])).toEqual([])
  })
})

describe('runtime globals', () => {
  const globals = [
    'process',
    'Buffer',
    'Deno',
    'Bun',
    'fetch',
    'crypto',
    'console',
    'performance',
    'navigator',
    'globalThis',
  ]
  const timers = ['setTimeout', 'setInterval', 'queueMicrotask']

  /** What the linter, as this project sets it up, refuses in files of those paths that use every one of the globals. */
  function namesRefusedIn(...paths: readonly string[]): readonly string[] {
    const folder = mkdtempSync(`${tmpdir()}/lint-`)
    try {
      const { vcs: _, ...configuration } = JSON.parse(readText('biome.json'))
      const text = [...globals, ...timers].map((name, index) => `export const a${index} = ${name}\n`).join('')
      writeFileSync(`${folder}/biome.json`, JSON.stringify(configuration))
      for (const path of paths) {
        mkdirSync(dirname(`${folder}/${path}`), { recursive: true })
        writeFileSync(`${folder}/${path}`, text)
      }
      const linter = fileURLToPath(new URL('../../node_modules/@biomejs/biome/bin/biome', import.meta.url))
      const args = [
        linter,
        'lint',
        '--reporter=json',
        '--max-diagnostics=none',
        '--only=style/noRestrictedGlobals',
        '.',
      ]
      const { diagnostics } = JSON.parse(spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }).stdout)
      return [...globals, ...timers].filter((name) => JSON.stringify(diagnostics).includes(`global variable ${name}.`))
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  it('are refused by the linter in src, each of them', () => {
    expect(namesRefusedIn('src/payments/fixture.ts')).toEqual([...globals, ...timers])
  })

  it('are admitted in src/runtime and in adapters', () => {
    expect(namesRefusedIn('src/runtime/fixture.ts', 'adapters/fixture.ts')).toEqual([])
  })
})
