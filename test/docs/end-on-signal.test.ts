import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { codeBlocksOf } from './markdown.ts'

it('docs/production.md has end-on-signal.ts word by word', () => {
  const text = readFileSync(new URL('end-on-signal.ts', import.meta.url), 'utf8')
  expect(codeBlocksOf('docs/production.md').map(({ code }) => code)).toContain(text)
})
