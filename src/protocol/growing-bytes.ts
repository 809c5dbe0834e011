/**
 * The first `length` of some bytes, and a chunk behind them; there may be room for more behind that. Chunks that are kept
 * until the last one has come take a hundred times as much memory as their bytes if they have one byte each.
 * @spec T-36
 */
export function growBytes(bytes: Uint8Array, length: number, chunk: Uint8Array): Uint8Array {
  if (length === 0) return chunk
  const needed = length + chunk.length
  const grown = needed <= bytes.length ? bytes : new Uint8Array(2 * needed)
  if (grown !== bytes) grown.set(bytes.subarray(0, length))
  grown.set(chunk, length)
  return grown
}
