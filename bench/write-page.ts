import { readFileSync, writeFileSync } from 'node:fs'
import type { RunResult } from './part-result.ts'
import { renderPage, sentencesOf, summaryOf } from './render-page.ts'
import { renderPicture } from './render-picture.ts'
import { say } from './say.ts'

// After a whole run, from the folder of the project: what its pages show of it.
const PAGE = 'docs/performance.md'

const run: RunResult = JSON.parse(readFileSync('bench/results.json', 'utf8'))
const page = renderPage(readFileSync(PAGE, 'utf8'), run)
writeFileSync(PAGE, page)
writeFileSync('docs/benchmark.svg', renderPicture(run.results[0]))
const missing = sentencesOf(run).filter((sentence) => !page.replaceAll('\n', ' ').includes(sentence))
if (!readFileSync('README.md', 'utf8').includes(summaryOf(run))) missing.push(summaryOf(run))
for (const sentence of missing) say(`to be written by hand: ${sentence}`)
