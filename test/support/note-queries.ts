import { vi } from 'vitest'

/** Notes every query that `URLSearchParams` is given, until the globals are no longer stubbed. */
export function noteQueries(): readonly string[] {
  const given: string[] = []
  class NotedParams extends URLSearchParams {
    constructor(query: string) {
      given.push(query)
      super(query)
    }
  }
  vi.stubGlobal('URLSearchParams', NotedParams)
  return given
}
