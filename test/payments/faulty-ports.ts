import type { Ledger, LedgerRefusal, Storage } from 'open-payments-server'
import type { DoubleEntryLedger } from 'open-payments-server/ledger/memory'
import type { FakeClock } from '../support/fake-clock.ts'
import { gate } from '../support/gate.ts'

/** What happens to one call of a port. */
export type Fault =
  /** It rejects without an effect. */
  | 'throws'
  /** It takes effect, and then rejects. */
  | 'loses the reply'
  /** It has no effect and never answers; the clock passes every deadline. */
  | 'hangs'
  /** It takes effect and never answers; the clock passes every deadline. */
  | 'answers nobody'
  /** The process ends before or after the effect: neither this call nor any later one of the process ever answers. */
  | 'crashes before'
  | 'crashes after'
  /** A ledger that mistakes the call for another one, once, without an effect. */
  | 'conflicts'
  /** It answers this, without an effect. */
  | { readonly answer: unknown }
  /** A ledger that refuses, and keeps the refusal under the id. */
  | { readonly refuse: LedgerRefusal }

/** One call of a port, before it is made. */
export interface Call {
  readonly port: 'storage' | 'ledger' | 'world'
  readonly name: string
  readonly arguments: readonly unknown[]
}

/** The ports of one process. */
export interface FaultyPorts {
  readonly storage: Storage
  readonly ledger: Ledger
  /** A call of something else that outlives the process, such as another server. */
  reach<T>(name: string, effect: () => Promise<T>): Promise<T>
  /** Decides about each call; replaced by a test. Default: nothing ever happens. */
  plan: (call: Call) => Fault | undefined | Promise<Fault | undefined>
  readonly calls: Call[]
  /** Resolves when the process has crashed. */
  readonly crashed: Promise<undefined>
}

const NEVER = new Promise<never>(() => undefined)

/** Wraps a storage and a ledger that outlive the process. */
export function faultyPorts(base: {
  readonly storage: Storage
  readonly ledger: DoubleEntryLedger
  readonly clock: FakeClock
}): FaultyPorts {
  let isDead = false
  const { open: reportCrash, opened: crashed } = gate()
  // Nobody waits for another server longer than for a lease.
  const passDeadlines = ({ port }: Call): void =>
    void setImmediate(() => base.clock.advance(port === 'world' ? 30_000 : 3000))

  const make = async <T>(call: Call, effect: () => Promise<T>): Promise<T> => {
    if (isDead) return NEVER
    ports.calls.push(call)
    const planned = ports.plan(call)
    const fault = planned instanceof Promise ? await planned : planned
    if (isDead) return NEVER
    switch (fault) {
      case undefined: {
        const answer = await effect()
        return isDead ? NEVER : answer
      }
      case 'throws':
        throw new Error(`injected: ${call.name} failed`)
      case 'loses the reply':
        await effect()
        throw new Error(`injected: the reply of ${call.name} was lost`)
      case 'hangs':
        passDeadlines(call)
        return NEVER
      case 'answers nobody':
        await effect()
        passDeadlines(call)
        return NEVER
      case 'crashes before':
      case 'crashes after':
        if (fault === 'crashes after') await effect()
        isDead = true
        reportCrash()
        return NEVER
      case 'conflicts':
        return { ok: false, reason: 'conflict' } as T
      default:
        if ('answer' in fault) return fault.answer as T
        return (await refuse(call, fault.refuse, effect)) as T
    }
  }

  // The ledger refuses by itself while the account is closed, so that it keeps the refusal as a ledger must.
  const refuse = async (call: Call, reason: LedgerRefusal, effect: () => Promise<unknown>): Promise<unknown> => {
    const { account } = call.arguments[0] as { readonly account: string }
    if (reason === 'insufficient_funds') throw new Error('let the balance refuse that')
    const isOpen = reason === 'not_allowed'
    const forbidden =
      call.name === 'hold' ? { canSend: false, canReceive: isOpen } : { canSend: isOpen, canReceive: false }
    await base.ledger.setPermissions(account, forbidden)
    const answer = await effect()
    await base.ledger.setPermissions(account, { canSend: true, canReceive: true })
    return answer
  }

  const wrap = <P extends object>(port: Call['port'], target: P, names: readonly (keyof P & string)[]): P =>
    Object.fromEntries(
      names.map((name) => [
        name,
        (...given: unknown[]) =>
          make({ port, name, arguments: given }, () =>
            (target[name] as unknown as (...args: unknown[]) => Promise<unknown>)(...given),
          ),
      ]),
    ) as P

  const ports: FaultyPorts = {
    storage: wrap<Storage>('storage', base.storage, ['get', 'list', 'due', 'commit']),
    ledger: wrap<Ledger>('ledger', base.ledger, ['account', 'hold', 'settle', 'release', 'credit']),
    reach: (name, effect) => make({ port: 'world', name, arguments: [] }, effect),
    plan: () => undefined,
    calls: [],
    crashed,
  }
  return ports
}

/** A plan in which one call, counted from now, meets a fault; `reached` says whether there was such a call. */
export function faultAt(
  ports: FaultyPorts,
  index: number,
  fault: Fault,
  concerns: (call: Call) => boolean = () => true,
): { readonly reached: () => Call | undefined } {
  let count = 0
  let reached: Call | undefined
  ports.plan = (call) => {
    if (!concerns(call) || ++count !== index) return undefined
    reached = call
    return fault
  }
  return { reached: () => reached }
}
