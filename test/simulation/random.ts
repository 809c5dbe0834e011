/** Choices that look random, and are the same for the same seed. */
export interface Random {
  /** From 0 up to, but not, 1. */
  next(): number
  /** A whole number of both or one between them. */
  between(least: number, most: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
  /** One of some things, each as often as its weight says. */
  weigh<T>(list: readonly (readonly [weight: number, thing: T])[]): T
  bytes(length: number): Uint8Array
}

/** Chris Doty-Humphrey's sfc32: 128 bits of state, so that the numbers of one seed are not those of another further on. */
export function randomFrom(seed: number): Random {
  let [a, b, c, counter] = [0x9e3779b9, 0x243f6a88, seed | 0, 1]
  const draw = (): number => {
    const drawn = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + drawn) | 0
    return drawn >>> 0
  }
  for (let round = 0; round < 15; round++) draw()
  const next = (): number => draw() / 2 ** 32
  const at = <T>(list: readonly T[], index: number): T => {
    if (index >= list.length) throw new Error('there is nothing to choose from')
    return list[index] as T
  }
  return {
    next,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    chance: (probability) => probability > 0 && next() < probability,
    pick: (list) => at(list, Math.floor(next() * list.length)),
    weigh(list) {
      let left = next() * list.reduce((sum, [weight]) => sum + weight, 0)
      for (const [weight, thing] of list) {
        left -= weight
        if (left < 0) return thing
      }
      return at(list, 0)[1]
    },
    bytes: (length) => Uint8Array.from({ length }, draw),
  }
}
