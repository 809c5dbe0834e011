import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { killUnderLoad } from './campaign.ts'
import { DEED_NAMES, DEEDS, type DeedName } from './deeds.ts'
import { type Ends, endDuring, type Relay, runRelay } from './every-call.ts'
import { openTally, printTally, type Tally } from './kills.ts'
import {
  POSTGRES_THROUGH_PG,
  POSTGRES_THROUGH_POSTGRES,
  SQLITE_IN_ONE_FILE,
  SQLITE_IN_TWO_FILES,
  type StoreKind,
} from './stores.ts'
import { CALLS, type CallName, type Fuse } from './wallet-process/watched-calls.ts'
import { openProgram, type WalletProgram } from './wallet-program.ts'

const { CRASH_KILLS = '4', CRASH_SEED = '1' } = process.env

/** How many kills there are under load; from 100 on, on four kinds of stores, and at every call of everything besides. */
const KILLS = Number(CRASH_KILLS)
const SEED = Number(CRASH_SEED)
const IS_LONG = KILLS >= 100
const TIMEOUT = 40_000 + KILLS * 2_000

let program: WalletProgram
const tallies = new Map<string, Tally>()
const tallyOf = (store: string): Tally => {
  const tally = tallies.get(store) ?? openTally()
  tallies.set(store, tally)
  return tally
}
beforeAll(async () => {
  program = await openProgram()
}, TIMEOUT)
afterAll(() => {
  program?.end()
  if (IS_LONG) for (const [store, tally] of tallies) printTally(store, tally)
})

const STORES: readonly StoreKind[] = IS_LONG
  ? [SQLITE_IN_TWO_FILES, POSTGRES_THROUGH_PG, SQLITE_IN_ONE_FILE, POSTGRES_THROUGH_POSTGRES]
  : [SQLITE_IN_TWO_FILES, POSTGRES_THROUGH_PG]

/** A world for each twenty kills, and one for each store. */
const WORLDS = Array.from({ length: Math.max(STORES.length, Math.ceil(KILLS / 20)) }, (_, index) => ({
  run: index + 1,
  seed: SEED,
  servers: 2 + (IS_LONG ? index % 3 : 0),
})).flatMap((world) =>
  STORES.filter((_, index) => index === world.run % STORES.length).map((one) => ({ ...world, ...one })),
)

describe('killed under load, a wallet loses nothing and doubles nothing', () => {
  it.each(WORLDS)(
    'T-31 T-32 INC-5 LIM-8 seed $seed, run $run: $servers processes on $store',
    async ({ newPlace, ...world }) => {
      const place = newPlace(program, inject('postgresSocket'))
      const kills = Math.ceil(KILLS / WORLDS.length)
      const tally = tallyOf(world.store)
      expect(await killUnderLoad({ ...world, program, place, kills, tally })).toEqual([])
    },
    TIMEOUT,
  )
})

/** Every way in which a process ends at the calls of one deed, until it survives the deed. */
interface Sweep {
  readonly deed: DeedName
  readonly ends: (nth: number) => Ends
  readonly most: number
}

/** What a request and a payment ask of their ports, one after the other. */
const PATH: readonly CallName[] = CALLS.filter((call) => call !== 'statement' && call !== 'event')

function fusesAt(calls: readonly CallName[], when: Fuse['when']): Sweep['ends'] {
  return (nth) => ({ fuse: { calls, nth, when }, isClientFirst: nth % 2 === 0 })
}

/** Where money is on its way when a process ends, and the next one while it recovers. */
function recoveryAfter(call: CallName): Sweep['ends'] {
  const fuse = { calls: [call], nth: 1, when: 'after' } as const
  return (nth) => ({ fuse, recoveryFuse: { calls: PATH, nth, when: 'after' }, isClientFirst: false })
}

const PAYMENT: DeedName = 'a payment from a quote under a key'

const SHORT_SWEEPS: readonly Sweep[] = [
  { deed: PAYMENT, ends: fusesAt(['hold', 'credit', 'settle'], 'after'), most: 3 },
  { deed: 'a payment straight to its receiver without a key', ends: fusesAt(['commit'], 'after'), most: 2 },
  { deed: PAYMENT, ends: recoveryAfter('credit'), most: 1 },
]

const LONG_SWEEPS: readonly Sweep[] = [
  ...DEED_NAMES.flatMap((deed): readonly Sweep[] =>
    (['before', 'after'] as const).map((when) => ({ deed, ends: fusesAt(PATH, when), most: 200 })),
  ),
  { deed: PAYMENT, ends: fusesAt(['statement'], 'before'), most: 500 },
  { deed: PAYMENT, ends: fusesAt(['event'], 'before'), most: 200 },
  { deed: PAYMENT, ends: fusesAt(['event'], 'after'), most: 200 },
  ...(['commit', 'hold', 'credit', 'settle'] as const).map(
    (call): Sweep => ({
      deed: PAYMENT,
      ends: recoveryAfter(call),
      most: 200,
    }),
  ),
  { deed: 'a payment to a closed account', ends: recoveryAfter('release'), most: 200 },
]

/** Sweeps that share a database. */
const GROUPS: readonly { readonly name: string; readonly sweeps: readonly Sweep[] }[] = IS_LONG
  ? LONG_SWEEPS.map((sweep) => ({ name: sweep.deed, sweeps: [sweep] }))
  : [{ name: 'a payment', sweeps: SHORT_SWEEPS }]

describe.each(IS_LONG ? [SQLITE_IN_ONE_FILE, POSTGRES_THROUGH_PG] : [SQLITE_IN_ONE_FILE])(
  'killed at a call of its own on $store',
  ({ store, newPlace }) => {
    it.each(GROUPS)(
      'T-31 T-32 a wallet brings $name to its one end, and the client hears the same',
      async ({ sweeps }) => {
        const place = newPlace(program, inject('postgresSocket'))
        const idle: Sweep[] = []
        const found = await runRelay(program, place, tallyOf(store), async (relay) => {
          for (const sweep of sweeps) if ((await run(relay, sweep)) === 0) idle.push(sweep)
        })
        expect(idle).toEqual([])
        expect(found).toEqual([])
      },
      TIMEOUT,
    )
  },
)

/** Goes on until a process survives; answers how often one ended where it was to end, and the one after it, too. */
async function run(relay: Relay, { deed, ends, most }: Sweep): Promise<number> {
  for (let nth = 1; nth <= most; nth++) {
    const ended = await endDuring(relay, DEEDS[deed], ends(nth))
    const isStruck = ended === 'died again' || (ended === 'died' && ends(nth).recoveryFuse === undefined)
    if (!isStruck) return nth - 1
  }
  return most
}
