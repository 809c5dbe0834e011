import process from 'node:process'

const settingOf = (name: string): number | undefined => {
  const text = process.env[name]
  if (text === undefined) return undefined
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${name} must be a whole number, not ${text}`)
  return value
}

/** `SIMULATION_SEED`: the first seed; the following ones are played after it. */
export const FIRST_SEED = settingOf('SIMULATION_SEED') ?? 1

/** `SIMULATION_RUNS`: how many seeds are played. */
export const RUNS = settingOf('SIMULATION_RUNS') ?? 50

/** Whether the first 300 seeds are among these, of which it is known what they meet: `npm run test:all` plays them. */
export const HAS_KNOWN_RUNS = FIRST_SEED === 1 && RUNS >= 300
