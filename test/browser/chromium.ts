import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'

const MODULES = fileURLToPath(new URL('../../node_modules/', import.meta.url))

/** Open Sans, which comes with the browser, and nothing else: a page is laid out alike on every machine. */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">fonts</dir><cachedir prefix="xdg">fonts</cachedir></fontconfig>
`

/**
 * The folder of the Chromium that comes from npm. It is packed; the first run unpacks it beside the other packages, under
 * another name until it is whole, so that neither a crash nor a second process leaves half a browser.
 */
async function unpackChromium(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(MODULES, '@sparticuz/chromium/package.json'), 'utf8'))
  const cache = join(MODULES, '.cache')
  const folder = join(cache, `chromium-${version}`)
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  const unfinished = mkdtempSync(join(cache, 'unfinished-'))
  // In a process of its own: the package unpacks into the temp folder, and brings the libraries that a plain machine
  // lacks only where it believes to be in the one environment that it knows.
  const program = `import chromium from '@sparticuz/chromium'; await chromium.executablePath()`
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: MODULES,
    env: { ...process.env, TMPDIR: unfinished, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' },
  })
  writeFileSync(join(unfinished, 'fonts.conf'), FONTS)
  try {
    renameSync(unfinished, folder)
  } catch (error) {
    rmSync(unfinished, { recursive: true })
    // Another process was quicker.
    if (!existsSync(folder)) throw error
  }
  return folder
}

/**
 * A Chromium without a window: the one from npm, which is for Linux on x64, or that at `CHROMIUM_PATH`. It keeps every rule of the web that its
 * users' browsers keep; only its own sandbox is off, since tests run as root in containers.
 */
export async function launchBrowser(): Promise<Browser> {
  const { CHROMIUM_PATH } = process.env
  if (CHROMIUM_PATH !== undefined) return chromium.launch({ executablePath: CHROMIUM_PATH })
  const folder = await unpackChromium()
  return chromium.launch({
    executablePath: join(folder, 'chromium'),
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
      XDG_CACHE_HOME: folder,
    },
  })
}
