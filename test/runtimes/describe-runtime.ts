import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client as PostgresClient } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { AUTHORITY } from './certificates.ts'
import { type Consumer, createConsumer } from './consumer.ts'
import { CASES, runContracts } from './contracts/in-process.ts'
import { describeKeys } from './key-behaviour.ts'
import { playInProcess } from './official-client/in-process.ts'
import { sendInProcess } from './packets/in-process.ts'
import { describeRawRequests } from './raw-behaviour.ts'
import { FIRST_DENO, PRESENT_NODE, type Runtime } from './runtimes.ts'
import { createClient } from './signed-flow.ts'
import { firstDifference } from './transcript/compare-answers.ts'
import { playScript } from './transcript/play-script.ts'
import { recordScript } from './transcript/record-script.ts'
import { scriptKeys } from './transcript/recorder.ts'
import type { Script } from './transcript/script.ts'
import type { HostName } from './wallet/main.ts'
import type { Mount } from './wallet/mounting.ts'
import type { Place } from './wallet/places.ts'
import { describeOwnRoutes, describeWallet, OFFICIAL_OUTCOME } from './wallet-behaviour.ts'
import { startWallet, type WalletProcess, type WalletServer } from './wallet-process.ts'

const INSTALLING_SECONDS = 300
const STARTING_SECONDS = 60
const CONTRACTS_SECONDS = 300
const MOUNTS = ['bare', 'mounted'] as const

/**
 * Everything that is the same on every runtime and host, each wallet bare and mounted: what it does for clients that
 * sign by themselves and for the official one, and that the requests of the script get the bytes of the reference.
 * A bare wallet keeps its records in memory, a mounted one in one of the databases that this runtime reaches.
 */
export function describeRuntimes(runtimes: readonly Runtime[]): void {
  let consumer: Consumer
  let wallet: string
  let client: string
  let packets: string
  let contracts: string
  let authority: string
  const scripts = new Map<Mount, Script>()

  beforeAll(async () => {
    consumer = createConsumer()
    wallet = await consumer.bundle('test/runtimes/wallet/main.ts')
    client = await consumer.bundle('test/runtimes/official-client/main.ts')
    packets = await consumer.bundle('test/runtimes/packets/main.ts')
    contracts = await consumer.bundle('test/runtimes/contracts/main.ts')
    authority = join(consumer.folder, 'authority.pem')
    writeFileSync(authority, AUTHORITY)
    for (const mount of MOUNTS) scripts.set(mount, await recordScript(mount))
  }, STARTING_SECONDS * 1000)
  afterAll(() => consumer?.remove())

  describe.each(runtimes)('$name', (runtime) => {
    const databases = [...runtime.sqlite, 'pg', 'postgres'] as const
    let command: readonly string[]
    beforeAll(async () => {
      command = await runtime.command()
    }, INSTALLING_SECONDS * 1000)

    it('EMB-6 runs the official client', async () => {
      const shop = createClient()
      const servers = [{ mount: 'mounted', isHeld: false, keys: [shop.jwk], place: { driver: 'memory' } }] as const
      const present = [...(await PRESENT_NODE.command()), wallet]
      const process = await startWallet(present, { host: 'node:http', servers }, authority)
      try {
        const [server] = process.servers
        if (server === undefined) throw new TypeError('one server is started')
        expect(await playInProcess([...command, client], { server, shop })).toEqual(OFFICIAL_OUTCOME)
      } finally {
        await process.stop()
      }
    })

    it.each(runtime.sqlite)(
      'keeps the contracts of storages and ledgers with the driver %s',
      async (driver) => {
        const ends = await runContracts([...command, contracts], { driver, folder: consumer.folder })
        expect(ends).toEqual(CASES.map((name) => [name]))
      },
      CONTRACTS_SECONDS * 1000,
    )

    it.each([
      ['breaks the connection', false],
      ['dies', true],
    ])('T-49 sends a packet once, and leaves open what became of it, if its peer takes it and %s', async (_, dies) => {
      expect(await sendInProcess([...command, packets], dies)).toEqual({
        outcomes: ['replied', 'unknown'],
        packets: [1, 2],
      })
    })

    describe.each(runtime.hosts.map((host, at) => ({ host, at })))('$host', ({ host, at }) => {
      const shop = createClient()
      const drivers = {
        played: { bare: 'memory', mounted: databases[at % databases.length] ?? 'memory' },
        compared: { bare: 'memory', mounted: databases[(at + 1) % databases.length] ?? 'memory' },
      } as const
      let process: WalletProcess
      const serverOf = (mount: Mount, isHeld: boolean): WalletServer => {
        const server = process.servers.find((one) => one.mount === mount && one.isHeld === isHeld)
        if (server === undefined) throw new TypeError('every kind of server is started')
        return server
      }

      beforeAll(async () => {
        const { shop: scriptedShop } = await scriptKeys()
        const servers = MOUNTS.flatMap((mount) => [
          { mount, isHeld: false, driver: drivers.played[mount], keys: [shop.jwk] },
          { mount, isHeld: true, driver: drivers.compared[mount], keys: [scriptedShop.jwk] },
        ]).map(async ({ driver, ...server }) => ({ ...server, place: await createPlace(driver, consumer.folder) }))
        process = await startWallet([...command, wallet], { host, servers: await Promise.all(servers) }, authority)
      }, STARTING_SECONDS * 1000)
      afterAll(() => process?.stop())

      describe.each(MOUNTS)('%s', (mount) => {
        const parties = () => ({ server: serverOf(mount, false), shop })
        describe(`with records in ${drivers.played[mount]}`, () => {
          describeWallet(parties)
          describeKeys(parties)
          // As docs/production.md says of Deno before 2.9.6.
          describeRawRequests(parties, runtime === FIRST_DENO)
          if (mount === 'mounted') describeOwnRoutes(parties)
        })

        it(`EMB-5 answers the script as the reference does, with records in ${drivers.compared[mount]}`, async () => {
          const script = scripts.get(mount) ?? []
          const answers = await playScript(script, serverOf(mount, true))
          expect(firstDifference(script, answers, comparedHost(host, mount))).toBeUndefined()
          expect(answers.length).toBeGreaterThan(400)
        })
      })
    })
  })
}

function comparedHost(host: HostName, mount: Mount) {
  return {
    handsOn: mount === 'mounted' || host.startsWith('Express'),
    parsesUrls: host.startsWith('fetch') || host.endsWith('.serve'),
  }
}

async function createPlace(driver: Place['driver'], folder: string): Promise<Place> {
  switch (driver) {
    case 'memory':
      return { driver }
    case 'sqlite':
    case 'bun:sqlite':
      return { driver, file: join(folder, `${randomUUID()}.db`) }
    default: {
      const socket = inject('postgresSocket')
      const schema = `s_${randomUUID().replaceAll('-', '')}`
      const access = { user: 'postgres', password: 'postgres', database: 'postgres' }
      const connection = new PostgresClient({ host: socket, ...access })
      await connection.connect()
      await connection.query(`CREATE SCHEMA ${schema}`)
      await connection.end()
      return { driver, socket, schema }
    }
  }
}
