/** Holds the event loop up, as a database does that is waited for without giving control back. */
export function holdUp(milliseconds: number): void {
  const until = performance.now() + milliseconds
  while (performance.now() < until);
}
