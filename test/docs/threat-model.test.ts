import { expect, it } from 'vitest'
import { readText } from '../architecture/source-tree.ts'
import { readSpecMap } from '../spec-map/spec-map.ts'

it('the threat model has every threat of the spec map once, and a test that proves it', () => {
  const threats = readSpecMap().filter(({ id }) => id.startsWith('T-'))
  const rows = [...readText('docs/threat-model.md').matchAll(/^\| (T-\d+) \| .* \| `([^`]+)` \|$/gm)]
  expect(rows.map(([, id = '']) => id).sort()).toEqual(threats.map(({ id }) => id).sort())
  const unproved = rows.filter(
    ([, id, path]) => !threats.some((threat) => threat.id === id && threat.tests.some((test) => test.path === path)),
  )
  expect(unproved.map(([row]) => row)).toEqual([])
})
