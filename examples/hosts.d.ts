// What these examples use of the hosts whose own types are not installed here.

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
