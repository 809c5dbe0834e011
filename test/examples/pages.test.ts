import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')

it.each([
  ['ledger.md', 'my-ledger.test.ts'],
  ['reconciliation.md', 'reconcile.ts'],
  ['reconciliation.md', 'read-books.ts'],
  ['reconciliation.md', 'read-sqlite-books.ts'],
  ['reconciliation.md', 'nightly.ts'],
  ['reconciliation.md', 'read-received.ts'],
  ['reconciliation.md', 'tell-ledger.ts'],
])('docs/%s has %s word by word, which the tests run', (page, file) => {
  const blocks = [...read(`../../docs/${page}`).matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code)
  expect(blocks).toContain(read(file))
})
