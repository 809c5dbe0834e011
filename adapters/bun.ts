/**
 * For `Bun.serve`.
 *
 * @module open-payments-server/bun
 */

export { type ServeOptions as BunOptions, serveHandler } from './serve-handler.ts'
