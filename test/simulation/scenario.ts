import type { Edit } from './core-without.ts'
import type { Shape } from './shape.ts'
import type { Stage } from './stage.ts'
import type { WorldOptions } from './world.ts'

/** A protection, and how to take it out of the library. */
export interface Protection {
  readonly what: string
  readonly edits: readonly Edit[]
  /** What is found where it is missing. */
  readonly finds: RegExp
}

/** Something that can go wrong, played in the order in which it goes wrong. */
export interface Scenario {
  readonly name: string
  readonly shape?: Partial<Shape>
  readonly alterLedger?: NonNullable<WorldOptions['alterLedger']>
  play(stage: Stage): Promise<void>
  /** Each is taken out by itself. */
  readonly without: readonly Protection[]
  /** Where it is the wallet's own part that is broken: what is found with the library as it is. */
  readonly finds?: RegExp
}
