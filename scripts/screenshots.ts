// Takes the pictures of README.md from `gateway demo`: the overview and the timeline of a task, light and dark.
// `scripts/bun scripts/screenshots.ts` writes docs/images; needs Chromium. Run it when the console has changed so
// that they no longer show it.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { openBrowser, visit } from '../test/support/console/browser.ts'
import { root } from '../test/support/gateway.ts'
import { until } from '../test/support/read.ts'

const folder = join(root, 'docs/images')
const themes = ['light', 'dark'] as const
const settleMs = 2_500
const startMs = 180_000

async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.goto('/console/')
  await page.getByLabel(/^Name/).fill(name)
  await page.getByLabel(/^Password/).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('nav').waitFor()
}

async function shoot(page: Page, name: string): Promise<void> {
  await page.waitForLoadState('load')
  // Charts are drawn when their data are there.
  await Bun.sleep(settleMs)
  await page.screenshot({ path: join(folder, `${name}.png`) })
}

async function takeAll(url: string, password: string): Promise<void> {
  const browser = await openBrowser()
  try {
    for (const theme of themes) {
      const { page, context } = await visit(browser, url, { theme, width: 1280 })
      await signIn(page, 'mara', password)
      const hide = page.getByRole('button', { name: 'Hide', exact: true })
      if ((await hide.count()) > 0) await hide.click()
      await page.getByText('7 days', { exact: true }).first().click()
      // The first minute has none.
      await page
        .locator('nav')
        .getByRole('link', { name: /^Alerts \d/ })
        .waitFor()
      await shoot(page, `overview-${theme}`)
      await page.goto('/console/tasks?state=succeeded')
      await page.locator('main [role="row"], main tbody tr').nth(1).click()
      const timeline = page.getByRole('heading', { name: 'Timeline', exact: true })
      await timeline.evaluate((heading) => heading.scrollIntoView({ block: 'center' }))
      await shoot(page, `task-${theme}`)
      await context.close()
    }
  } finally {
    await browser.close()
  }
}

mkdirSync(folder, { recursive: true })
const child = Bun.spawn([join(root, 'bin/gateway'), 'demo', '--port', '0'], { stdout: 'pipe' })
let output = ''
void (async () => {
  for await (const bytes of child.stdout) output += new TextDecoder().decode(bytes)
})()
try {
  const url = await until('the demo is ready', () => /^ready (\S+)$/m.exec(output)?.[1], startMs)
  await takeAll(url, /Password\s+(\S+)/.exec(output)![1]!)
} finally {
  child.kill('SIGINT')
  await child.exited
}
