import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { type CodeBlock, codeBlocksOf, PAGES } from '../docs/markdown.ts'

/**
 * What a fragment may use without declaring it: what every page means by these names. A block that declares or imports
 * one itself has its own. The last ones stand for the reader's code.
 */
const CONTEXT = `
import type { AuditedPayment, HttpRequest, HttpResponse, InteractionRefusal, ConsentData, OpenPayments, ResourceOwner } from 'open-payments-server'
declare global {
  const openPayments: OpenPayments
  const payment: AuditedPayment
  const owner: ResourceOwner
  const grantId: string
  const file: { write(line: string): void }
  const sessions: { find(cookie: string): Promise<{ id: string; userName: string; walletAddresses: string[] } | undefined> }
  function ownerOf(request: HttpRequest): Promise<ResourceOwner | undefined>
  function page(status: number, html: string): HttpResponse
  function explain(reason: InteractionRefusal): string
  function renderQuestion(consent: ConsentData, form: { action: string; csrf: string }): string
}
`

/** Where the blocks of a page lie, for those that import files beside them. */
const FOLDERS: Readonly<Record<string, string>> = {
  'docs/reconciliation.md': 'examples',
}

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const blocks = PAGES.flatMap((page) => codeBlocksOf(page))
const inLanguage = (language: string): readonly CodeBlock[] => blocks.filter((block) => block.language === language)

/** What the compiler says of blocks, each a module of its own, as a strict project would have it. */
function findErrors(checked: readonly CodeBlock[]): readonly string[] {
  const { config } = ts.readConfigFile(`${root}/tsconfig.json`, ts.sys.readFile)
  const parsed = ts.parseJsonConfigFileContent({ ...config, include: [], files: ['src/index.ts'] }, ts.sys, root)
  const options: ts.CompilerOptions = {
    ...parsed.options,
    // Rules of this project's own style, which its readers need not share.
    noPropertyAccessFromIndexSignature: false,
    noUnusedLocals: false,
  }
  const context = `${root}/docs/context.ts`
  const files = new Map(checked.map((block, index) => [fileOf(block, index), block]))
  const textOf = (path: string): string | undefined =>
    path === context ? CONTEXT : files.has(path) ? `${files.get(path)?.code}\nexport {}\n` : undefined
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = (path) => textOf(path) !== undefined || fileExists(path)
  host.readFile = (path) => textOf(path) ?? readFile(path)
  host.getSourceFile = (path, languageVersion, ...more) => {
    const text = textOf(path)
    if (text === undefined) return getSourceFile(path, languageVersion, ...more)
    return ts.createSourceFile(path, text, languageVersion, true)
  }
  const program = ts.createProgram({ rootNames: [context, ...files.keys()], options, host })
  return [context, ...files.keys()].flatMap((path) => {
    const file = program.getSourceFile(path)
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map((diagnostic) => {
      const line = file?.getLineAndCharacterOfPosition(diagnostic.start ?? 0).line ?? 0
      const block = files.get(path)
      return `${block?.page}:${line + (block?.line ?? 0)} ${ts.flattenDiagnosticMessageText(diagnostic.messageText, ' ')}`
    })
  })
}

function fileOf({ page }: CodeBlock, index: number): string {
  return `${root}/${FOLDERS[page] ?? 'docs'}/block-${index}.ts`
}

describe('the code of the pages', () => {
  it('compiles', { timeout: 300_000 }, () => {
    const block = (line: number, code: string): CodeBlock => ({ page: 'a.md', line, language: 'ts', code })
    const wrong = [
      block(10, 'const one: string = 1'),
      block(20, '\nopenPayments.recoverAll()'),
      block(30, "import { nothing } from 'open-payments-server'"),
      block(40, 'const openPayments = 1\nopenPayments.toFixed()'),
      block(50, 'const = 1'),
    ]
    const checked = inLanguage('ts')
    expect(checked.length).toBeGreaterThan(15)
    const errors = findErrors([...checked, ...wrong])
    expect(errors.filter((error) => !error.startsWith('a.md'))).toEqual([])
    const places = new Set(errors.map((error) => /^a.md:\d+/.exec(error)?.[0]))
    expect([...places]).toEqual(['a.md:10', 'a.md:21', 'a.md:30', 'a.md:50'])
  })
})
