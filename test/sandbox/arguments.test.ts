import { describe, expect, it } from 'vitest'
import { HELP, readArguments } from '../../examples/sandbox/arguments.ts'

const DEFAULTS = { kind: 'run', port: 4000, database: undefined, config: undefined, json: false }

describe('the arguments', () => {
  it.each([
    [[], {}],
    [['sandbox'], {}],
    [['sandbox', '--port', '0'], { port: 0 }],
    [['--port=65535'], { port: 65_535 }],
    [['--db', 'open-payments-sandbox.db'], { database: 'open-payments-sandbox.db' }],
    [['--db', ':memory:', '--json'], { database: ':memory:', json: true }],
    [['--config', 'sandbox.json'], { config: 'sandbox.json' }],
  ])('%j run', (words, changes) => {
    expect(readArguments(words)).toEqual({ ...DEFAULTS, ...changes })
  })

  it.each([
    [['--verbose'], '--verbose'],
    [['-p', '1'], '-p'],
    [['sandbox', 'sandbox'], 'sandbox'],
    [['--port'], '--port'],
    [['--port', '65536'], '65536'],
    [['--port', '-1'], '--port'],
    [['--port', '0x10'], '0x10'],
    [['--port', ''], '--port'],
    [['--db', ''], '--db'],
    [['--json=yes'], '--json'],
  ])('%j are refused in one line that names the fault', (words, name) => {
    const refused = readArguments(words)
    expect(refused).toMatchObject({ kind: 'refused', message: expect.stringContaining(name) })
    expect(JSON.stringify(refused)).not.toContain('\\n')
  })

  it('--help names every option', () => {
    expect(readArguments(['--help'])).toEqual({ kind: 'help' })
    for (const option of ['--port', '--db', '--config', '--json', '--help']) expect(HELP).toContain(option)
  })
})
