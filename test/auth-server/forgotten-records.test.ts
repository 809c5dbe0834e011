import type { Change, RecordKind, Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import {
  type AuthWallet,
  approvedGrant,
  authWallet,
  cancel,
  PLAIN_REQUEST,
  resume,
  revoke,
  rotate,
} from './auth-wallet.ts'

/** A storage that forgets the records of one kind once it was asked for them so many times. */
function forgetfulStorage(): { readonly storage: Storage; forget(kind: RecordKind, after: number): void } {
  const inner = memoryStorage()
  let forgotten: RecordKind | undefined
  let left = 0
  return {
    storage: {
      ...inner,
      async get(keys) {
        if (forgotten === undefined || keys.every(({ kind }) => kind !== forgotten) || left-- > 0)
          return inner.get(keys)
        return keys.map(() => undefined)
      },
      async commit(changes) {
        const isGone = (change: Change): boolean => left <= 0 && change.kind === forgotten && change.action !== 'insert'
        const conflicts = changes.flatMap((change, index) => (isGone(change) ? [index] : []))
        return conflicts.length > 0 ? { conflicts } : inner.commit(changes)
      },
    },
    forget: (kind, after) => {
      forgotten = kind
      left = after
    },
  }
}

describe('a grant that is over', () => {
  const DAY = 24 * 3600 * 1000

  it('T-37 is forgotten after 30 days where no owner gave it, though it was given', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    expect((await cancel(wallet, grant)).status).toBe(204)
    const grants = async () => {
      await wallet.openPayments.sweep()
      return (await wallet.records()).filter(({ kind }) => kind === 'grant')
    }
    wallet.clock.advance(30 * DAY - 1)
    expect(await grants()).toHaveLength(1)
    wallet.clock.advance(1)
    expect(await grants()).toEqual([])
  })
})

describe('a record that is deleted while a request is under way', () => {
  async function forgetting(): Promise<{ readonly wallet: AuthWallet; forget(kind: RecordKind, after: number): void }> {
    const { storage, forget } = forgetfulStorage()
    return { wallet: await authWallet({ storage }), forget }
  }

  it('1.2 of a grant to be continued is 404 invalid_continuation', async () => {
    const { wallet, forget } = await forgetting()
    const { pending, interactRef } = await approvedGrant(wallet)
    forget('grant', 1)
    const answer = await resume(wallet, pending, { interact_ref: interactRef })
    expect([answer.status, answer.body.error.code]).toEqual([404, 'invalid_continuation'])
  })

  it('CON-8 of a grant to be cancelled is gone, as it should be', async () => {
    const { wallet, forget } = await forgetting()
    const grant = await wallet.ask(PLAIN_REQUEST)
    forget('grant', 1)
    expect((await cancel(wallet, grant)).status).toBe(204)
  })

  it.each([
    ['access-token', 1],
    ['grant', 0],
  ] as const)('1.2 of a rotation, its %s, is 404 invalid_rotation', async (kind, after) => {
    const { wallet, forget } = await forgetting()
    const grant = await wallet.ask(PLAIN_REQUEST)
    forget(kind, after)
    const answer = await rotate(wallet, grant)
    expect([answer.status, answer.body.error.code]).toEqual([404, 'invalid_rotation'])
  })

  it('1.2 of a repeated rotation, its new token, is 404 invalid_rotation', async () => {
    const { wallet, forget } = await forgetting()
    const grant = await wallet.ask(PLAIN_REQUEST)
    expect((await rotate(wallet, grant)).status).toBe(200)
    forget('access-token', 1)
    const answer = await rotate(wallet, grant)
    expect([answer.status, answer.body.error.code]).toEqual([404, 'invalid_rotation'])
  })

  it('TOK-9 of a token to be revoked is gone, as it should be', async () => {
    const { wallet, forget } = await forgetting()
    const grant = await wallet.ask(PLAIN_REQUEST)
    forget('access-token', 1)
    expect((await revoke(wallet, grant)).status).toBe(204)
  })
})
