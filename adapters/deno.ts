/**
 * For `Deno.serve`.
 *
 * @module open-payments-server/deno
 */

export { type ServeOptions as DenoOptions, serveHandler } from './serve-handler.ts'
