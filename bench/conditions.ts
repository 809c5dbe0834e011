import { generateKeyPairSync, sign, verify } from 'node:crypto'
import { cpus, loadavg, release, type as systemOf, totalmem } from 'node:os'
import process from 'node:process'
import { median } from './statistics.ts'

/** Under what figures were made: without it they say nothing. */
export interface Conditions {
  readonly at: string
  readonly processor: string
  readonly processors: number
  readonly memoryBytes: number
  readonly system: string
  /** How busy the machine was in the minute before, in processors. */
  readonly load: number
  /** CPU of one verification of an Ed25519 signature, by which the figures of two machines can be compared. */
  readonly verificationMicroseconds: number
}

/** The machine as it is now. */
export function conditionsNow(): Conditions {
  const all = cpus()
  return {
    at: new Date().toISOString(),
    processor: all[0]?.model ?? 'unknown',
    processors: all.length,
    memoryBytes: totalmem(),
    system: `${systemOf()} ${release()}`,
    load: loadavg()[0] ?? 0,
    verificationMicroseconds: measureVerification(),
  }
}

/** The less of two measurements of a verification: where a machine was slow for one of them, no figure is scaled down for it. */
export function quickestVerification(one: Conditions, other: Conditions): number {
  return Math.min(one.verificationMicroseconds, other.verificationMicroseconds)
}

const ROUNDS = 9
const VERIFICATIONS = 1000

function measureVerification(): number {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const signed = Buffer.alloc(400)
  const signature = sign(null, signed, privateKey)
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage()
    for (let count = 0; count < VERIFICATIONS; count++) verify(null, signed, publicKey, signature)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / VERIFICATIONS
  })
  return median(rounds)
}
