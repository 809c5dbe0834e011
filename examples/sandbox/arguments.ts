import { parseArgs } from 'node:util'
import { DEFAULT_FILE } from './database.ts'

/** What the command line asks for. */
export type Arguments =
  | {
      readonly kind: 'run'
      /** 0 picks a free one. */
      readonly port: number
      /** A file, or `:memory:`; `undefined` if none is named. */
      readonly database: string | undefined
      /** The file of the configuration. */
      readonly config: string | undefined
      /** Whether to print one line for a program instead of lines for a person. */
      readonly json: boolean
    }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'refused'; readonly message: string }

/** What `--help` prints. */
export const HELP = `Usage: open-payments-server [sandbox] [options]

Runs a wallet with a few accounts on this machine, to write and test Open Payments clients against.

Options:
  --port N        Port to listen on; 0 picks a free one. Default 4000.
  --db FILE       SQLite file that keeps everything, or :memory:. Default ${DEFAULT_FILE}.
  --config FILE   JSON file: accounts, lifetimes, rates, fee, loopbackKeys, ilpAddress, peers. Every key is optional.
  --json          Print one line of JSON once it answers: all that a program needs to be a client.
  --version       Print the version of the package.
  --help          Print this.
`

const OPTIONS = {
  port: { type: 'string', default: '4000' },
  db: { type: 'string' },
  config: { type: 'string' },
  json: { type: 'boolean', default: false },
  version: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

function refuse(message: string): Arguments {
  return { kind: 'refused', message }
}

/** Reads the arguments after the name of the program; the word `sandbox` is the name of this command. */
export function readArguments(words: readonly string[]): Arguments {
  try {
    const { values, positionals } = parseArgs({ args: [...words], options: OPTIONS, allowPositionals: true })
    const [command = 'sandbox', ...others] = positionals
    if (values.help) return { kind: 'help' }
    if (values.version) return { kind: 'version' }
    if (command !== 'sandbox') return refuse(`there is no command ${command}`)
    if (others[0] !== undefined) return refuse(`sandbox takes options only, not ${others[0]}`)
    const port = Number(values.port)
    if (!/^\d{1,5}$/.test(values.port) || port > 65_535)
      return refuse(`--port must be a number from 0 to 65535, not ${values.port}`)
    if (values.db === '') return refuse('--db must name a file, or be :memory:')
    return { kind: 'run', port, database: values.db, config: values.config, json: values.json }
  } catch (error) {
    // The first sentence only: Node adds advice after it.
    return refuse(error instanceof Error ? (error.message.split(/\.\s/, 1)[0] ?? '') : String(error))
  }
}
