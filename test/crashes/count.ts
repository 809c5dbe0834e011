/** Counts one more, or several. */
export function count<K>(counts: Map<K, number>, what: K, times = 1): void {
  counts.set(what, (counts.get(what) ?? 0) + times)
}
