// What is drawn depends on the seed and the number of the run alone, so that one failing request can be made again.

/** Choices that look random and are the same for the same seed. */
export interface Random {
  /** An integer from 0 up to, but not, `end`. */
  below(end: number): number
  /** Whether something happens that happens once in `times`. */
  oneIn(times: number): boolean
  pick<T>(list: readonly T[]): T
  /** A part of a text: a stretch of random place and length. */
  stretch(text: string): { readonly from: number; readonly to: number }
}

/** Numbers for one run of one seed. */
export function randomFor(seed: number, run: number): Random {
  let state = Math.imul(seed, 0x9e3779b1) ^ Math.imul(run + 1, 0x85ebca6b)
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const below = (end: number): number => next() % end
  return {
    below,
    oneIn: (times) => below(times) === 0,
    pick(list) {
      const index = below(list.length)
      for (const [at, item] of list.entries()) if (at === index) return item
      throw new Error('there is nothing to pick from')
    },
    stretch(text) {
      const from = below(text.length + 1)
      return { from, to: Math.min(text.length, from + below(8)) }
    },
  }
}

const settingOf = (name: string, byDefault: number): number => Number(process.env[name] ?? byDefault)

/** `FUZZ_SEED` draws other requests; the default is the same ones each time. */
export const SEED = settingOf('FUZZ_SEED', 1)

/** How many of `share` in a hundred of all runs a test does; `FUZZ_RUNS` is the number of all. */
export function runs(share: number): number {
  return Math.ceil((settingOf('FUZZ_RUNS', 2_000) * share) / 100)
}

/** What must be seen in `count` runs where `bound` must be in `enough` of them: never more, and less where they are fewer. */
export function inProportion(bound: number, count: number, enough: number): number {
  return bound * Math.min(1, count / enough)
}

/** The limit of a fuzz test, in milliseconds. */
export const FUZZ_TIMEOUT = 60_000 + settingOf('FUZZ_RUNS', 2_000) * 20
