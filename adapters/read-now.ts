/**
 * Reads what may be gone in the next turn, such as the address of a connection. What is thrown meanwhile is thrown to the
 * one who asks for the result: so it concerns no request that is passed on to the wallet's own routes.
 */
export function readNow<T>(read: () => T): () => T {
  try {
    const value = read()
    return () => value
  } catch (error) {
    return () => {
      throw error
    }
  }
}
