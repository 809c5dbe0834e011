import { describe, expect, it } from 'vitest'
import type { RunResult } from '../../bench/part-result.ts'
import { renderPage, sentencesOf, summaryOf } from '../../bench/render-page.ts'
import { renderPicture } from '../../bench/render-picture.ts'
import { readText } from '../architecture/source-tree.ts'

describe('the figures of the benchmark', () => {
  const run: RunResult = JSON.parse(readText('bench/results.json'))
  const page = readText('docs/performance.md')

  it('stand in the tables of the page as they were measured', () => {
    expect(renderPage(page, run)).toBe(page)
    const other = page.replaceAll(/^(\| key set of a wallet address \|) [\d.]+/gm, '$1 7')
    expect(other).not.toBe(page)
    expect(renderPage(other, run)).toBe(page)
  })

  it('stand in its sentences', () => {
    const text = page.replaceAll('\n', ' ')
    expect(sentencesOf(run).filter((sentence) => !text.includes(sentence))).toEqual([])
  })

  it('stand in the README', () => {
    expect(readText('README.md')).toContain(summaryOf(run))
  })

  it('are those of the picture', () => {
    expect(readText('docs/benchmark.svg')).toBe(renderPicture(run.results[0]))
  })
})
