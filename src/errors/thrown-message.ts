/** What a thrown value says. JavaScript throws anything, not only errors. */
export function thrownMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : 'a value that is not an Error was thrown'
}
