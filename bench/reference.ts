import type { VerifierName } from './host-names.ts'
import type { Figure } from './measure.ts'
import type { PartResult } from './part-result.ts'

/**
 * Milliseconds of CPU per request of the reference server of Open Payments, Rafiki: user and system time of all its
 * processes while it answers. Measured on another day, on a machine of two cores, with its two services in production
 * mode on Node 24, PostgreSQL 15 with its accounting there, Redis, all on loopback; signed requests over keep-alive
 * connections, medians of three passes. What it spends once the answers are out (1.5 ms for an incoming payment, 1.3 and
 * 0.7 for outgoing payments) is left out; its outgoing payments were created, never paid.
 */
const REFERENCE_MILLISECONDS: Readonly<Record<string, number>> = {
  'get-wallet-address': 0.72,
  'get-wallet-address-keys': 0.58,
  'get-incoming-payment, public': 1.44,
  'post-request, by wallet address': 4.65,
  'post-request, by key': 2.88,
  'post-token': 5.61,
  'create-incoming-payment': 7.78,
  'get-incoming-payment': 5.88,
  'list-incoming-payments, 10': 9.15,
  'create-quote': 6.73,
  'create-outgoing-payment, no limits': 9.13,
  'create-outgoing-payment, debit limit, many grants': 11.2,
}

/** What one verification of an Ed25519 signature took on that machine, on Node 24. */
export const REFERENCE_VERIFICATION_MICROSECONDS = 104

/** CPU of an operation to that of the reference server. */
export interface ReferenceFigure {
  readonly runtime: string
  readonly storage: string
  readonly verifier: VerifierName
  readonly operation: string
  /** As it would be where a verification takes as long as on the machine of the reference server. */
  readonly oursMicroseconds: number
  readonly theirsMicroseconds: number
  readonly ratio: number
}

/**
 * Compares what was measured on `node:http` alone, on a durable storage, 32 at a time, where a verification of the runtime
 * takes so long.
 */
export function compareWithReference(
  { runtime, storage, verifier, figures }: PartResult,
  verificationMicroseconds: number,
): readonly ReferenceFigure[] {
  const slower = REFERENCE_VERIFICATION_MICROSECONDS / verificationMicroseconds
  if (figures.some(({ host }) => host !== 'node')) return []
  const isCompared = ({ host, connections }: Figure): boolean =>
    host === 'node' && connections === 32 && storage !== 'memory'
  return figures.filter(isCompared).flatMap(({ operation, ours }) => {
    const milliseconds = REFERENCE_MILLISECONDS[operation]
    if (milliseconds === undefined) return []
    const [oursMicroseconds, theirsMicroseconds] = [ours.cpuMicroseconds * slower, milliseconds * 1000]
    const ratio = oursMicroseconds / theirsMicroseconds
    return [{ runtime, storage, verifier, operation, oursMicroseconds, theirsMicroseconds, ratio }]
  })
}
