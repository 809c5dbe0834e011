import { pause } from './exchange.ts'
import type { World } from './world.ts'

const OPEN = { canSend: true, canReceive: true } as const
const CLOSED = [
  { canSend: false, canReceive: false },
  { canSend: false, canReceive: true },
  { canSend: true, canReceive: false },
] as const

/** The wallet opens or closes some account. */
export async function setPermissions({ random, ledger, met }: World): Promise<void> {
  const isOpen = random.chance(0.5)
  met(isOpen ? 'an account is opened' : 'an account is closed')
  await ledger.setPermissions(random.pick(['alice', 'bob', 'carol']), isOpen ? OPEN : random.pick(CLOSED))
}

/** The wallet closes an account just when a call about it has no good answer: so that the next one is refused. */
export async function closeForAWhile(world: World, account: string, isPayee: boolean): Promise<void> {
  const { random, ledger, met } = world
  met('an account is closed while a call of it is open')
  await ledger.setPermissions(account, {
    canSend: isPayee && random.chance(0.5),
    canReceive: !isPayee && random.chance(0.5),
  })
  await pause(world, random.between(0, random.pick([500, 5_000, 60_000])))
  await ledger.setPermissions(account, OPEN)
}
