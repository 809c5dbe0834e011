#!/usr/bin/env node
import { readFile } from 'node:fs/promises'
import { type Arguments, HELP, readArguments } from './arguments.ts'
import { type Configuration, readConfiguration } from './configuration.ts'
import { DEFAULT_FILE } from './database.ts'
import { formatMoney } from './money.ts'
import { type SandboxDescription, startSandbox } from './server.ts'

function fail(line: string, code: number): void {
  console.error(`open-payments-server: ${line}`)
  process.exitCode = code
}

async function loadConfiguration(path: string | undefined): Promise<Configuration | undefined> {
  if (path === undefined) return {}
  const text = await readFile(path, 'utf8').catch((error: Error) => error)
  if (text instanceof Error) return void fail(`--config: ${text.message}`, 2)
  const read = readConfiguration(text)
  if (!read.ok) return void fail(`${path}: ${read.message}`, 2)
  return read.configuration
}

/** The manifest is two folders up from this source, and from the file that is built of it. */
async function readVersion(): Promise<string> {
  const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  const { version }: { readonly version: string } = JSON.parse(manifest)
  return version
}

function describeForPeople(description: SandboxDescription, data: string): string {
  const { authServer, resourceServer, wallets, client, consent, peers } = description
  const { username, password } = consent.credentials
  const lines = wallets.map(
    ({ walletAddress, balance, ...asset }) =>
      `  ${walletAddress.padEnd(40)} ${formatMoney(BigInt(balance), asset).padStart(16)}`,
  )
  return `
Open Payments sandbox

${lines.join('\n')}

  Authorization server  ${authServer}
  Resource server       ${resourceServer}
  Accounts and grants   ${resourceServer}/ (user name ${username}, password ${password})
  A client to act as    ${client.walletAddress}, key ${client.keyId}; --json prints its private key
${peers.map(({ address, assetCode }) => `  A peer in ${assetCode.padEnd(11)} ${address}\n`).join('')}
Try it:  curl ${wallets[0]?.walletAddress ?? client.walletAddress}
Data:    ${data}
Ctrl-C ends it.
`
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
}

async function run({ port, database, config, json }: Extract<Arguments, { kind: 'run' }>): Promise<void> {
  const configuration = await loadConfiguration(config)
  if (configuration === undefined) return
  const ended = untilSignal()
  const warn = (line: string): void => console.error(`open-payments-server: ${line}`)
  const sandbox = await startSandbox({ port, database, configuration, warn })
  const description = await sandbox.describe()
  const data = sandbox.isVolatile ? 'in memory, forgotten at the end' : (database ?? DEFAULT_FILE)
  console.log(json ? JSON.stringify(description) : describeForPeople(description, data))
  await ended
  await sandbox.stop()
}

function explain({ code, message }: NodeJS.ErrnoException, port: number): string {
  if (code !== 'EADDRINUSE') return message
  return `port ${port} is taken: choose another with --port, or let --port 0 choose`
}

const words = readArguments(process.argv.slice(2))
if (words.kind === 'help') console.log(HELP)
else if (words.kind === 'version') console.log(await readVersion())
else if (words.kind === 'refused') fail(`${words.message}; see --help`, 2)
else await run(words).catch((error: NodeJS.ErrnoException) => fail(explain(error, words.port), 1))
