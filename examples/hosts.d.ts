// The parts that these examples use of hosts whose own types are not installed here.

declare const Bun: {
  readonly env: Readonly<Record<string, string | undefined>>
  serve(options: {
    readonly hostname: string
    readonly port: number
    readonly fetch: (request: Request) => Response | Promise<Response>
  }): unknown
}

declare const Deno: {
  readonly env: { get(name: string): string | undefined }
  serve(
    options: { readonly hostname: string; readonly port: number; readonly onListen: () => void },
    handler: (request: Request) => Response | Promise<Response>,
  ): unknown
}

interface DurableObjectStorage {
  readonly sql: {
    exec(
      query: string,
      ...bindings: readonly (string | number | bigint | null)[]
    ): { one(): Record<string, unknown>; toArray(): Record<string, unknown>[] }
  }
  transactionSync<T>(closure: () => T): T
  setAlarm(time: number): Promise<void>
}

interface DurableObjectState {
  readonly storage: DurableObjectStorage
  blockConcurrencyWhile(callback: () => Promise<void>): Promise<void>
}

interface DurableObjectNamespace {
  getByName(name: string): { fetch(request: Request): Promise<Response> }
}

// Every host that has streams can iterate them.
interface ReadableStream<R> {
  [Symbol.asyncIterator](): AsyncIterableIterator<R>
}
