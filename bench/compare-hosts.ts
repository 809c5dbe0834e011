import type { VerifierName } from './host-names.ts'
import type { Figure } from './measure.ts'
import type { PartResult } from './part-result.ts'
import { median } from './statistics.ts'

/** What an operation costs beyond a bare Express, to what it costs beyond a bare `node:http`; of passes in turn. */
export interface ExpressFigure {
  readonly runtime: string
  readonly storage: string
  readonly verifier: VerifierName
  readonly operation: string
  readonly connections: number
  /** (ours on Express - bare Express) / (ours on node - bare node), each a median of the passes. */
  readonly ratio: number
}

/** Compares the two hosts wherever both were measured in one part. */
export function compareHosts({ runtime, storage, verifier, figures }: PartResult): readonly ExpressFigure[] {
  return figures
    .filter(({ host }) => host === 'express')
    .flatMap((express) => {
      const { operation, connections } = express
      const node = figures.find(
        (figure) => figure.host === 'node' && figure.operation === operation && figure.connections === connections,
      )
      if (node === undefined) return []
      return [{ runtime, storage, verifier, operation, connections, ratio: beyondFloor(express) / beyondFloor(node) }]
    })
}

function beyondFloor({ passes }: Figure): number {
  return median(passes.map(([ours, floor]) => ours - floor))
}
