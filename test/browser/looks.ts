import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import axe, { type RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

const RUN = {
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] },
  rules: { 'target-size': { enabled: true } },
} satisfies RunOptions

/** What axe finds wrong with a page as it is now; of contrasts also what it cannot tell. */
export async function findViolations(page: Page): Promise<readonly string[]> {
  // The checker is large, and stays for as long as the document does.
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axe.source)
  const checker = await page.evaluateHandle<typeof axe>('window.axe')
  const { violations, incomplete } = await checker.evaluate((injected, run) => injected.run(document, run), RUN)
  const unsure = incomplete.filter(({ id }) => id === 'color-contrast')
  return [...violations, ...unsure].flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  )
}

/** Expects that axe has nothing to say against a page as it is now. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await findViolations(page)).toEqual([])
}

function inspect(): readonly string[] {
  const root = document.documentElement
  const faults: string[] = []
  if (root.scrollWidth > root.clientWidth) faults.push(`scrolls sideways: ${root.scrollWidth} > ${root.clientWidth}`)
  const elements = [...document.body.querySelectorAll<HTMLElement>('*')].filter((element) => element.checkVisibility())
  for (const element of elements) {
    const style = getComputedStyle(element)
    const { left, right, width, height } = element.getBoundingClientRect()
    const name = `${element.tagName} ${element.textContent.slice(0, 40)}`
    const hasText = [...element.childNodes].some((node) => node instanceof Text && node.data.trim() !== '')
    if (hasText && Number.parseFloat(style.fontSize) < 16) faults.push(`${name} is written in ${style.fontSize}`)
    if (width > 0 && (left < 0 || right > root.clientWidth)) faults.push(`${name} sticks out`)
    if (element.scrollWidth > element.clientWidth + 1 && style.display !== 'inline') faults.push(`${name} overflows`)
    if (element.matches('a, button, input') && (width < 44 || height < 44)) faults.push(`${name} is ${width}×${height}`)
    if (style.transitionDuration !== '0s') faults.push(`${name} moves`)
  }
  // What a mouse may press changes in time; what is seen must not.
  const unseen = ['pointerEvents', 'offset', 'computedOffset', 'easing', 'composite']
  for (const { effect } of document.getAnimations()) {
    const keyframes = effect instanceof KeyframeEffect ? effect.getKeyframes() : [{ unknown: true }]
    const seen = keyframes.flatMap((keyframe) => Object.keys(keyframe)).filter((name) => !unseen.includes(name))
    if (seen.length > 0) faults.push(`something moves: ${seen}`)
  }
  return faults
}

/** What makes a page hard to read or to touch at its present size. */
export function findIllegible(page: Page): Promise<readonly string[]> {
  return page.evaluate(inspect)
}

/** Expects that a page can be read and touched at its present size, and holds still. */
export async function expectLegible(page: Page): Promise<void> {
  expect(await findIllegible(page)).toEqual([])
}

/** A page that says nothing says nothing wrong. */
async function expectText(page: Page): Promise<void> {
  expect(await page.locator('h1').count()).toBe(1)
  expect((await page.locator('h1').boundingBox())?.width).toBeGreaterThan(50)
}

const PHONE = { width: 360, height: 740 }
const DESKTOP = { width: 1280, height: 800 }

/**
 * Expects a page to be accessible and legible in light and in dark, on a phone and on a desk; to be legible where it is
 * 320 pixels wide, at 200 %, and with letters of twice the size. Where `SCREENSHOTS` names a folder, the page is drawn
 * into it.
 */
export async function expectGoodLooks(page: Page, name: string): Promise<void> {
  const { SCREENSHOTS } = process.env
  await expectText(page)
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [size, viewport] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize(viewport)
      await expectAccessible(page)
      await expectLegible(page)
      if (SCREENSHOTS === undefined) continue
      mkdirSync(SCREENSHOTS, { recursive: true })
      await page.screenshot({
        path: join(SCREENSHOTS, `${name} ${size} ${colorScheme}.png`.replaceAll(' ', '-')),
        fullPage: true,
      })
    }
  }
  await page.setViewportSize({ width: 320, height: 640 })
  await expectLegible(page)
  // What a desk shows at 200 %.
  await page.setViewportSize({ width: DESKTOP.width / 2, height: DESKTOP.height / 2 })
  await expectLegible(page)
  await page.setViewportSize(PHONE)
  await page.evaluate(() => {
    document.documentElement.style.fontSize = '200%'
  })
  await expectLegible(page)
  await page.evaluate(() => {
    document.documentElement.style.fontSize = ''
  })
}
