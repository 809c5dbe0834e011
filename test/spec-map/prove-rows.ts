import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createVitest, type Vitest } from 'vitest/node'
import { type Mutant, mutate } from './mutants.ts'
import { cachedSources, findSymbol, type Place, readSpecMap, titlePattern } from './spec-map.ts'

// Each test that the spec map names is run alone against small changes of the symbols of its row, until it fails on
// one. It takes long, and is run by hand: `npm run prove`, or `ROWS=SIG-2,TOK npm run prove` for some rows and families.

const MAXIMUM_MUTANTS = 80
const SECONDS_PER_RUN = 120

const root = fileURLToPath(new URL('../../', import.meta.url))

interface Change extends Mutant {
  readonly path: string
}

/** Runs tests inside this process against a source that is changed while it is loaded; no file is written. */
interface Runner {
  run(test: Place, change?: Change): Promise<'passed' | 'failed' | 'nothing ran'>
  close(): Promise<void>
}

async function createRunner(): Promise<Runner> {
  let current: Change | undefined
  const start = (): Promise<Vitest> =>
    createVitest(
      'test',
      {
        root,
        config: `${root}vitest.config.ts`,
        exclude: [],
        watch: false,
        isolate: true,
        pool: 'forks',
        reporters: [{}],
      },
      {
        plugins: [
          {
            name: 'mutant',
            enforce: 'pre',
            load(id) {
              if (current === undefined || id !== root + current.path) return undefined
              const source = readFileSync(id, 'utf8')
              return source.slice(0, current.start) + current.text + source.slice(current.end)
            },
          },
        ],
      },
    )
  let vitest = await start()

  const outcomeOf = async (test: Place): Promise<'passed' | 'failed' | 'nothing ran'> => {
    vitest.setGlobalTestNamePattern(titlePattern(test.name))
    const { testModules } = await vitest.runTestSpecifications(await vitest.getRelevantTestSpecifications([test.path]))
    // The runner goes on telling of the files of earlier runs.
    const states = testModules
      .filter((module) => module.moduleId === root + test.path)
      .flatMap((module) => [...module.children.allTests()].map((one) => one.result().state))
    if (states.includes('failed')) return 'failed'
    return states.includes('passed') ? 'passed' : 'nothing ran'
  }

  return {
    run: async (test, change) => {
      current = change
      if (change !== undefined) vitest.invalidateFile(root + change.path)
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<'late'>((resolve) => {
        timer = setTimeout(resolve, SECONDS_PER_RUN * 1000, 'late')
      })
      const outcome = await Promise.race([outcomeOf(test), late])
      clearTimeout(timer)
      if (change !== undefined) vitest.invalidateFile(root + change.path)
      current = undefined
      if (outcome !== 'late') return outcome
      // A test that hangs has noticed, too. Its process is given up with the runner.
      await vitest.close()
      vitest = await start()
      return 'failed'
    },
    close: () => vitest.close(),
  }
}

const only = process.env['ROWS']?.split(',')
const map = process.env['SPEC_MAP']
const rows = readSpecMap(map && readFileSync(map, 'utf8')).filter(
  ({ id }) => only === undefined || only.includes(id) || only.includes(id.split('-')[0] ?? ''),
)
const sourceOf = cachedSources()

function brief(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, 60)
}

describe('a change of the symbol is noticed by the test', () => {
  let runner: Runner
  beforeAll(async () => {
    runner = await createRunner()
  }, 60_000)
  afterAll(() => runner.close())

  const proofs = rows.flatMap(({ id, symbols, tests }) => tests.map((test) => ({ id, symbols, test })))
  it.for(proofs)('$id: $test.name', async ({ id, symbols, test }) => {
    const startedAt = Date.now()
    expect(await runner.run(test), 'the test alone, nothing changed').toBe('passed')
    // Or being slow would pass for noticing.
    expect(Date.now() - startedAt, 'milliseconds of a test that is quick').toBeLessThan(SECONDS_PER_RUN * 100)
    const changes = symbols
      .flatMap(({ path, name }) =>
        findSymbol(sourceOf(path), name).flatMap((node) => mutate(node).map((mutant) => ({ path, ...mutant }))),
      )
      .slice(0, MAXIMUM_MUTANTS)
    for (const change of changes) {
      if ((await runner.run(test, change)) !== 'failed') continue
      const file = sourceOf(change.path)
      const line = file.getLineAndCharacterOfPosition(change.start).line + 1
      const was = file.text.slice(change.start, change.end)
      process.stdout.write(`${id}  ${change.path}:${line}  ${brief(was)}  ->  ${brief(change.text)}\n`)
      return
    }
    expect.fail(`none of ${changes.length} changes was noticed`)
  })
})
