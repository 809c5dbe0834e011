/** How a server is mounted: by an adapter of the library (`fetch`: that of Bun and Deno), or on Node by `openPayments.fetch` in Hono's server. */
export const HOSTS = ['node', 'express', 'fetch'] as const
export type HostName = (typeof HOSTS)[number]

/** Where a server keeps its records. */
export const STORAGES = ['memory', 'sqlite', 'postgres'] as const
export type StorageName = (typeof STORAGES)[number]

/** Who verifies the signatures: the runtime's own cryptography, or libsodium in its place (the floor keeps the runtime's). */
export const VERIFIERS = ['host', 'libsodium'] as const
export type VerifierName = (typeof VERIFIERS)[number]
