import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { authWallet, CONSENT_REQUEST } from '../auth-server/auth-wallet.ts'
import { AUTH, BASE, decideAs, FINISH } from '../support/test-wallet.ts'

describe('the authServer of a wallet address', () => {
  it.each([AUTH, BASE, `${BASE}/op/auth`])(
    'WAS-4 %s is, byte for byte, the grant endpoint in the finish hash',
    async (authServer) => {
      const wallet = await authWallet({ authServer })
      const document = await wallet.sendRaw({
        method: 'GET',
        target: '/alice',
        headerLines: () => [],
        bytes: async () => new Uint8Array(),
      })
      const published = /"authServer":"([^"]*)"/.exec(document.text ?? '')?.[1]
      const pending = await wallet.ask(CONSENT_REQUEST)
      const redirect = await decideAs(wallet, pending)
      const parts = [FINISH.nonce, pending.body.interact.finish, redirect?.searchParams.get('interact_ref'), published]
      const hash = createHash('sha256').update(parts.join('\n')).digest('base64')
      expect([published, redirect?.searchParams.get('hash')]).toEqual([authServer, hash])
    },
  )
})
