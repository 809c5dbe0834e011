import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ApiReport, reportApi } from './api-report.ts'
import { describeImports, makeBareProject, specifiersOf } from './check-imports.ts'
import { describeProgram } from './check-program.ts'
import { describeTarball, type PackageUnderTest } from './check-tarball.ts'
import { describeTypes, makeTypedProject } from './check-types.ts'
import { installPackage, packPackage } from './pack-package.ts'

const work = realpathSync(mkdtempSync(join(tmpdir(), 'package-')))

describe('the package', { timeout: 60_000 }, () => {
  let underTest: PackageUnderTest
  let entries: readonly string[]
  let reports: readonly ApiReport[]

  beforeAll(async () => {
    const [packed, repeated] = await Promise.all([packPackage(join(work, 'one')), packPackage(join(work, 'another'))])
    const installed = await installPackage(packed.tarball, join(work, 'consumer'))
    underTest = { packed, repeated, installed }
    const { exports } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
    entries = Object.keys(exports).filter((entry) => !entry.endsWith('.json'))
    reports = reportApi(installed, entries)
    makeTypedProject(installed, join(work, 'typed'))
    makeBareProject(installed, join(work, 'bare'))
  }, 300_000)

  afterAll(() => rmSync(work, { recursive: true, force: true }))

  describeTarball(() => underTest)
  describeTypes(() => join(work, 'typed'))
  describeImports(() => {
    const names = specifiersOf(entries)
    return {
      folder: join(work, 'bare'),
      values: Object.fromEntries(names.map((name, index) => [name, reports[index]?.values ?? []])),
    }
  })
  describeProgram(() => underTest)

  it('has the public API that was reviewed', async () => {
    expect(reports.map(({ entry }) => entry)).toEqual(entries)
    for (const { entry, text } of reports) {
      const name = entry === '.' ? 'index' : entry.slice(2).replace('/', '-')
      await expect(text).toMatchFileSnapshot(`api/${name}.md`)
    }
  })
})
