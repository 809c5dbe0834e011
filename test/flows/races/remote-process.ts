import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'

interface Call {
  readonly number: number
  readonly call: unknown
}

type Reply = { readonly number: number; readonly answer: unknown } | { readonly number: number; readonly error: string }

/** A process that answers calls, several at a time. */
export interface RemoteProcess<Asked, Answered = unknown> {
  ask(call: Asked): Promise<Answered>
  stop(): Promise<void>
}

/** The caller's end of a process that was started for `answerCalls`. */
export function callerOf<Asked, Answered = unknown>(child: ChildProcess): RemoteProcess<Asked, Answered> {
  const waiting = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>()
  let calls = 0
  child.on('message', (reply: Reply) => {
    const caller = waiting.get(reply.number)
    waiting.delete(reply.number)
    if ('error' in reply) caller?.reject(new Error(reply.error))
    else caller?.resolve(reply.answer)
  })
  child.on('exit', () => {
    for (const caller of waiting.values()) caller.reject(new Error('the process has ended'))
  })
  return {
    ask: (call) =>
      new Promise((resolve, reject) => {
        const number = ++calls
        waiting.set(number, { resolve: (answer) => resolve(answer as Answered), reject })
        child.send({ number, call } satisfies Call, (error) => error && reject(error))
      }),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

/** The other end, in the process: answers every call, and ends with whoever started it. */
export function answerCalls<Asked, Answered>(answer: (call: Asked) => Promise<Answered>): void {
  process.on('disconnect', () => process.exit())
  process.on('message', ({ number, call }: { readonly number: number; readonly call: Asked }) => {
    const reply = (result: Reply): boolean | undefined => process.send?.(result)
    answer(call).then(
      (answered) => reply({ number, answer: answered }),
      (error: unknown) => reply({ number, error: String(error) }),
    )
  })
}
