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
export const RUNS = settingOf('SIMULATION_RUNS') ?? 300

/** Whether these are the runs of every test run, of which it is known what they meet. */
export const IS_DEFAULT = settingOf('SIMULATION_SEED') === undefined && RUNS >= 300
