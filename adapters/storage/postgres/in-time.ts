/** Waits at most `seconds` for an answer. Rejects if none has come by then; the work may still happen. */
export async function inTime<T>(answer: PromiseLike<T>, seconds: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the database did not answer within ${seconds} s`)), seconds * 1000)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
