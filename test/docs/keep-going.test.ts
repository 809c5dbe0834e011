import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { keepGoing } from './keep-going.ts'
import { codeBlocksOf } from './markdown.ts'

const textOf = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8')

it.each([
  ['docs/operations.md', 'keep-going.ts'],
  ['docs/production.md', 'end-on-signal.ts'],
])('%s has %s word by word', (page, file) => {
  expect(codeBlocksOf(page).map(({ code }) => code)).toContain(textOf(file))
})

describe('the timers of the pages', () => {
  it('go on at once while there is more to do, also after a failure, and end when they are stopped', async () => {
    const answers = [
      () => 100,
      () => {
        throw new Error('the storage is away')
      },
    ]
    let calls = 0
    let wake = (): void => undefined
    const paused = new Promise<void>((resolve) => {
      wake = resolve
    })
    const recover = async (): Promise<number> => {
      const answer = answers[calls++]
      if (calls === answers.length) wake()
      return answer?.() ?? 0
    }
    let isSwept = false
    const stop = keepGoing({
      recover,
      sweep: async () => {
        await paused
        isSwept = true
        return 1
      },
    })
    await paused
    await stop()
    expect({ calls, isSwept }).toEqual({ calls: 2, isSwept: true })
  })
})
