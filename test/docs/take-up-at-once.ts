import type { Change, Storage } from 'open-payments-server'

export async function takeUpAtOnce(storage: Storage, kind: 'outgoing-payment' | 'event'): Promise<void> {
  for (const record of await storage.due(kind, Number.MAX_SAFE_INTEGER, 1_000_000))
    await storage.commit([{ ...record, action: 'replace', dueAt: 0 } as Change])
}
