const CONTENT = ['content-digest', 'content-length', 'content-type']

/** The `Idempotency-Key` of a request, signed with the rest. */
export function keyed(key: string) {
  return {
    headers: { 'idempotency-key': key },
    components: ['@method', '@target-uri', 'authorization', ...CONTENT, 'idempotency-key'],
  }
}
