/** Lets everybody else go on: what waits for it takes a while, like a call to a database. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** The same, so many times. */
export async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left--) await turn()
}
