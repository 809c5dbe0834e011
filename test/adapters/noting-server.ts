/** A server that notes from whom it is asked, in the two ways in which hosts ask. */
export function createNotingServer(owns: () => Promise<boolean> = async () => true) {
  const asked: (string | undefined)[] = []
  return {
    asked,
    owns,
    handle: async ({ source }: { readonly source?: string | undefined }) => {
      asked.push(source)
      return { status: 204, headers: {} }
    },
    fetch: async (_request: Request, options: { readonly source?: string | undefined } = {}) => {
      asked.push(options.source)
      return new Response()
    },
  }
}

export type NotingServer = ReturnType<typeof createNotingServer>
