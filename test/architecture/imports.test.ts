import { describe, expect, it } from 'vitest'
import {
  findCycles,
  findForbiddenImports,
  findMissingFiles,
  findUnusedPermissions,
  importsOf,
  ROOMS,
} from './import-rules.ts'
import { readSources, readText } from './source-tree.ts'

const manifest: unknown = JSON.parse(readText('package.json'))

function namesIn(value: unknown, member: string): readonly string[] {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, member) : undefined
  return typeof found === 'object' && found !== null ? Object.keys(found) : []
}

const surroundings = {
  packages: ['dependencies', 'devDependencies', 'peerDependencies'].flatMap((member) => namesIn(manifest, member)),
  entries: namesIn(manifest, 'exports').map((subpath) => subpath.replace('.', 'open-payments-server')),
}

const sources = readSources('src', 'adapters', 'examples')
const refusals = (path: string, text: string): readonly string[] => findForbiddenImports([{ path, text }], surroundings)

describe('who may import whom', () => {
  it('holds for every file of src, adapters and examples', () => {
    expect(sources.length).toBeGreaterThan(30)
    expect(findForbiddenImports(sources, surroundings)).toEqual([])
  })

  it('permits nothing that no file needs', () => {
    expect(findUnusedPermissions(sources)).toEqual([])
    const withoutDeadline = sources.filter(({ path }) => !path.startsWith('src/deadline/'))
    expect(findUnusedPermissions(withoutDeadline)).toEqual(['deadline may import ports'])
  })

  it('finds every file that is imported', () => {
    expect(findMissingFiles(sources)).toEqual([])
    expect(findMissingFiles([{ path: 'src/http/body.ts', text: `import { gone } from './gone.ts'` }])).toHaveLength(1)
  })

  it('is what ARCHITECTURE.md says', () => {
    const [, section = ''] = readText('ARCHITECTURE.md').split('## Who may import whom')
    const rows = [...section.matchAll(/^\| `([a-z-]+)` \| ([^|]+) \|$/gm)]
    const documented = new Map(rows.map(([, room = '', text = '']) => [room, text]))
    for (const [room, { rooms, packages = [], lazyPackages = [], isTypesOnly }] of Object.entries(ROOMS)) {
      if (room.endsWith('.ts')) continue
      const lazy = lazyPackages.map((name) => `${name} by \`import()\` only`)
      const allowed = [...rooms, ...packages].join(', ') + (isTypesOnly === true ? ', types only' : '')
      expect(
        documented
          .get(room)
          ?.split('; ')
          .slice(0, 1 + lazy.length),
        room,
      ).toEqual([allowed, ...lazy])
    }
    expect(documented.size).toBe(Object.keys(ROOMS).length - 4)
  })

  it('names only rooms that the table knows', () => {
    for (const room of Object.values(ROOMS)) for (const name of room.rooms) expect(Object.keys(ROOMS)).toContain(name)
  })

  it.each([
    ['src/protocol/quote.ts', `import { a } from '../errors/conditions.ts'`],
    ['src/protocol/quote.ts', `import type { Clock } from '../ports/clock.ts'`],
    ['src/protocol/quote.ts', `export * from '../ports/clock.ts'`],
    ['src/protocol/quote.ts', `type Clock = import('../ports/clock.ts').Clock`],
    ['src/protocol/quote.ts', `import clock = require('../ports/clock.ts')`],
    ['src/errors/conditions.ts', `import type { Clock } from '../ports/clock.ts'`],
    ['src/ports/ledger.ts', `import { amountOf } from '../protocol/amount.ts'`],
    ['src/ports/ledger.ts', `import { type Amount, amountOf } from '../protocol/amount.ts'`],
    ['src/ports/ledger.ts', `import type { OpenPaymentsOptions } from '../options.ts'`],
    ['src/http/endpoint.ts', `import { fund } from '../payments/fund.ts'`],
    ['src/records/commit.ts', `import { fund } from '../payments/fund.ts'`],
    ['src/payments/fund.ts', `import { render } from '../http/render-error.ts'`],
    ['src/auth-server/routes.ts', `import { routes } from '../resource-server/routes.ts'`],
    ['src/auth-server/routes.ts', `import { fund } from '../payments/fund.ts'`],
    ['src/resource-server/routes.ts', `import { interactions } from '../ase/interactions.ts'`],
    ['src/wallet-address-server/routes.ts', `import { deliver } from '../payments/deliver.ts'`],
    ['src/ase/interactions.ts', `import { render } from '../http/render-error.ts'`],
    ['src/client/remote-receivers.ts', `import { sendGuarded } from '../runtime/guarded-request.ts'`],
    ['src/client/remote-receivers.ts', `import { readRecord } from '../records/read-record.ts'`],
    ['src/payments/fund.ts', `import { createRemoteReceivers } from '../client/remote-receivers.ts'`],
    ['src/runtime/web-crypto.ts', `import { sign } from '../http-signatures/sign-request.ts'`],
    ['src/testing/storage-contract.ts', `import { fund } from '../payments/fund.ts'`],
    ['src/testing/storage-contract.ts', `import { describe } from 'vitest'`],
    ['src/open-payments.ts', `import { signer } from './testing/signer.ts'`],
    ['src/index.ts', `export { signer } from './testing/signer.ts'`],
    ['src/payments/fund.ts', `import type { OpenPayments } from '../open-payments.ts'`],
    ['src/utilities/text.ts', `import { a } from '../protocol/amount.ts'`],
    ['adapters/node.ts', `import { endpoint } from '../src/http/endpoint.ts'`],
    ['adapters/node.ts', `import { request } from '../examples/request.ts'`],
  ])('refuses the wrong direction: %s %s', (path, text) => {
    expect(refusals(path, text)).toHaveLength(1)
  })

  it.each([
    ['src/http/body.ts', `import { parseDictionary } from 'structured-headers'`],
    ['src/auth-server/routes.ts', `import { Router } from 'itty-router'`],
    ['src/resource-server/quotes.ts', `import * as v from 'valibot'`],
    ['src/runtime/web-crypto.ts', `import { Crypto } from '@peculiar/webcrypto'`],
    ['src/runtime/web-crypto.ts', `import type { Crypto } from '@peculiar/webcrypto'`],
    ['src/http/endpoint.ts', `const { Crypto } = await import('@peculiar/webcrypto')`],
    ['src/runtime/fetch-key-resolver.ts', `import https from 'node:https'`],
    ['src/protocol/quote.ts', `import { createHash } from 'node:crypto'`],
    ['src/runtime/web-crypto.ts', `const it = await import(name)`],
    ['adapters/bun.ts', `import { createServer } from 'node:http'`],
    ['adapters/storage/memory.ts', `import { readFileSync } from 'node:fs'`],
    ['adapters/express.ts', `import type { Request } from 'express'`],
  ])('refuses a package in the wrong room: %s %s', (path, text) => {
    expect(refusals(path, text)).toHaveLength(1)
  })

  it.each([
    ['examples/express.ts', `import { createOpenPayments } from '../src/index.ts'`],
    ['examples/express.ts', `import { serve } from '../adapters/node.ts'`],
    ['examples/express.ts', `import { wallet } from './sandbox/wallet.ts'`],
    ['examples/express.ts', `import { endpoint } from 'open-payments-server/http/endpoint'`],
    ['examples/express.ts', `import leftPad from 'left-pad'`],
  ])('lets an example import the package by its name only: %s %s', (path, text) => {
    expect(refusals(path, text)).toHaveLength(1)
  })

  it('refuses a relative import without its extension', () => {
    expect(refusals('src/protocol/quote.ts', `import { a } from './amount'`)).toHaveLength(1)
    expect(refusals('src/protocol/quote.ts', `import { a } from './amount.js'`)).toHaveLength(1)
  })

  it.each([
    ['src/protocol/quote.ts', `import * as v from 'valibot'\nimport { amountOf } from './amount.ts'`],
    [
      'src/ports/ledger.ts',
      `import type { Amount } from '../protocol/amount.ts'\nimport { type Asset } from '../protocol/amount.ts'`,
    ],
    ['src/http-signatures/signature-input.ts', `import { parseDictionary } from 'structured-headers'`],
    [
      'src/resource-server/quotes.ts',
      `import { fund } from '../payments/fund.ts'\nimport { read } from '../records/read.ts'`,
    ],
    ['src/runtime/web-crypto.ts', `const { Crypto } = await import('@peculiar/webcrypto')`],
    ['src/index.ts', `export { createOpenPayments } from './open-payments.ts'`],
    [
      'adapters/express.ts',
      `import type { IncomingMessage } from 'node:http'\nimport { toNodeListener } from './node.ts'`,
    ],
    ['adapters/storage/sqlite.ts', `import type { Storage } from '../../src/ports/storage.ts'`],
    [
      'examples/sandbox/main.ts',
      `import { createOpenPayments } from 'open-payments-server'\nimport { demo } from './demo.ts'`,
    ],
    [
      'examples/express.ts',
      `import express from 'express'\nimport { expressMiddleware } from 'open-payments-server/express'`,
    ],
    ['examples/users-in-postgres/main.ts', `import { postgresLedger } from '../postgres-ledger.ts'`],
  ])('admits what the table admits: %s', (path, text) => {
    expect(refusals(path, text)).toEqual([])
  })

  it('reads every form of import once, and comments and strings never', () => {
    const text = `// import a from './a.ts'\nconst b = "import c from './c.ts'"\nimport './d.ts'\nexport { e } from './e.ts'`
    expect(importsOf({ path: 'src/index.ts', text }).map(({ specifier }) => specifier)).toEqual(['./d.ts', './e.ts'])
  })
})

describe('cycles', () => {
  it('has none, counting type imports', () => {
    expect(findCycles(sources)).toEqual([])
  })

  it('finds a circle through type imports, and a file that imports itself', () => {
    const circle = [
      { path: 'src/protocol/a.ts', text: `import type { B } from './b.ts'` },
      { path: 'src/protocol/b.ts', text: `import { c } from './c.ts'` },
      { path: 'src/protocol/c.ts', text: `import { a } from './a.ts'` },
      { path: 'src/protocol/d.ts', text: `import { a } from './a.ts'` },
      { path: 'src/protocol/e.ts', text: `import { e } from './e.ts'` },
    ]
    expect(findCycles(circle)).toEqual([
      ['src/protocol/a.ts', 'src/protocol/b.ts', 'src/protocol/c.ts'],
      ['src/protocol/e.ts'],
    ])
  })

  it('does not take a diamond for a circle', () => {
    const diamond = [
      { path: 'src/a.ts', text: `import './b.ts'\nimport './c.ts'` },
      { path: 'src/b.ts', text: `import './d.ts'` },
      { path: 'src/c.ts', text: `import './d.ts'` },
      { path: 'src/d.ts', text: '' },
    ]
    expect(findCycles(diamond)).toEqual([])
  })
})
