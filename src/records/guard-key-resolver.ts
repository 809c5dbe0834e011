import type { Context } from '../ports/context.ts'
import type { KeyResolver } from '../ports/key-resolver.ts'
import { askHost } from './ask-host.ts'
import { tellFault } from './tell-fault.ts'

/** More than the 3 seconds of the default, which a host's own resolver may call. */
const ANSWER_MILLISECONDS = 4000

/**
 * A key resolver of the host, with its failures turned into ours: if a call fails or a key set is late, an event is emitted;
 * then the key set is "unavailable", or the client has no name.
 */
export function guardKeyResolver(resolver: KeyResolver, context: Pick<Context, 'clock' | 'emit'>): KeyResolver {
  return {
    keySet: (...asked) => askHost(context, 'the key resolver', ANSWER_MILLISECONDS, () => resolver.keySet(...asked)),
    async publicName(...asked) {
      try {
        const name: unknown = await resolver.publicName(...asked)
        return typeof name === 'string' ? name : undefined
      } catch (cause) {
        tellFault(context, 'the key resolver failed', cause)
        return undefined
      }
    },
  }
}
