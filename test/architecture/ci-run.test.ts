import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

/** What a step of the script meets: its exit code, and for a test run the report that it leaves. */
interface Step {
  readonly status?: number
  readonly report?: unknown
}

const script = fileURLToPath(new URL('../../.ci/run', import.meta.url))

// Stands in for npm: looks its step up in steps.json, writes the report, exits.
const NPM = `#!${process.execPath}
const { readFileSync, writeFileSync } = require('node:fs')
const [command, name, ...rest] = process.argv.slice(2)
const step = JSON.parse(readFileSync('steps.json', 'utf8'))[command === 'run' ? name : command] ?? {}
const file = rest.find((argument) => argument.startsWith('--outputFile.json='))?.split('=')[1]
if (file !== undefined && step.report !== undefined) writeFileSync(file, JSON.stringify(step.report))
process.exit(step.status ?? 0)
`

function reportOf(passed: number, failed = 0, pending = 0, todo = 0): unknown {
  return {
    numPassedTests: passed,
    numFailedTests: failed,
    numPendingTests: pending,
    numTodoTests: todo,
    testResults: [],
  }
}

describe('.ci/run', () => {
  let folder = ''

  beforeEach(() => {
    folder = mkdtempSync(`${tmpdir()}/ci-run-`)
    mkdirSync(`${folder}/.ci`)
    mkdirSync(`${folder}/bin`)
    cpSync(script, `${folder}/.ci/run`)
    writeFileSync(`${folder}/bin/package.json`, '{"type":"commonjs"}')
    writeFileSync(`${folder}/bin/npm`, NPM)
    chmodSync(`${folder}/bin/npm`, 0o755)
  })

  afterEach(() => {
    rmSync(folder, { recursive: true })
  })

  function outputOf(steps: Readonly<Record<string, Step>>): {
    readonly stdout: string
    readonly status: number | null
  } {
    writeFileSync(`${folder}/steps.json`, JSON.stringify(steps))
    const PATH = [`${folder}/bin`, dirname(process.execPath), process.env['PATH']].join(delimiter)
    return spawnSync('bash', [`${folder}/.ci/run`], { env: { PATH, CI: 'true' }, encoding: 'utf8' })
  }

  /** The last line and the exit code. */
  function run(steps: Readonly<Record<string, Step>>): readonly [string | undefined, number | null] {
    const { stdout, status } = outputOf(steps)
    return [stdout.trimEnd().split('\n').at(-1), status]
  }

  it('adds up the runs', () => {
    const steps = { test: { report: reportOf(3, 0, 1) }, 'test:all': { report: reportOf(4, 0, 1, 1) } }
    expect(run(steps)).toEqual(['7 passed, 0 failed, 3 skipped', 0])
  })

  it.each(['ci', 'lint', 'typecheck', 'build'])('counts a failed %s as one failure and stops', (step) => {
    const steps = { test: { report: reportOf(3) }, 'test:all': { report: reportOf(3) }, [step]: { status: 2 } }
    expect(run(steps)).toEqual(['0 passed, 1 failed, 0 skipped', 1])
  })

  it('goes on after a failed test, and fails', () => {
    const steps = { test: { status: 1, report: reportOf(3, 2) }, 'test:all': { report: reportOf(4) } }
    expect(run(steps)).toEqual(['7 passed, 2 failed, 0 skipped', 1])
  })

  it('counts a file that could not be loaded', () => {
    const unloaded = { status: 'failed', assertionResults: [] }
    const report = { ...Object(reportOf(3)), testResults: [unloaded, { status: 'passed', assertionResults: [] }] }
    expect(run({ test: { report: reportOf(1) }, 'test:all': { status: 1, report } })).toEqual([
      '4 passed, 1 failed, 0 skipped',
      1,
    ])
  })

  it('ends with what failed', () => {
    const failed = { fullName: 'pays once', status: 'failed', failureMessages: ['expected 1 to be 2'] }
    const passed = { fullName: 'pays', status: 'passed', failureMessages: [] }
    const testResults = [
      { name: 'a.test.ts', message: '', status: 'failed', assertionResults: [passed, failed] },
      { name: 'b.test.ts', message: 'no such module', status: 'failed', assertionResults: [] },
    ]
    const report = { ...Object(reportOf(3, 1)), testResults }
    const { stdout } = outputOf({ test: { status: 1, report }, 'test:all': { report: reportOf(4) } })
    expect(stdout.trimEnd().split('\n').slice(-5)).toEqual([
      '',
      'FAILED a.test.ts: pays once',
      'expected 1 to be 2',
      'FAILED b.test.ts: no such module',
      '7 passed, 2 failed, 0 skipped',
    ])
  })

  it.each<[string, Step]>([
    ['fails without a failed test', { status: 1, report: reportOf(3) }],
    ['leaves no report', { status: 0 }],
    ['has no tests', { status: 0, report: reportOf(0) }],
  ])('counts a run that %s', (_, step) => {
    const [line, status] = run({ test: step, 'test:all': { report: reportOf(1) } })
    expect(line).toMatch(/ passed, 1 failed, 0 skipped$/)
    expect(status).toBe(1)
  })
})
