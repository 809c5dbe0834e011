import type { HttpRequest } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { testWallet } from '../support/test-wallet.ts'

describe('handle', () => {
  // A host in JavaScript may hand over whatever it likes, and waits for a promise.
  it.each(['GET', 'POST'])('answers or rejects, and never throws, at a %s without a target', async (method) => {
    const { openPayments } = await testWallet()
    const request: HttpRequest = { method, target: '', headerLines: () => [], bytes: () => new Uint8Array() }
    Reflect.deleteProperty(request, 'target')
    const answer = openPayments.handle(request)
    expect(answer).toBeInstanceOf(Promise)
    const status = await answer.then(
      (response) => response.status,
      (cause: unknown) => cause instanceof TypeError && 500,
    )
    expect(status).toBe(500)
  })
})
