// Takes the screenshots of README.md: the overview and the timeline of a task, light and dark, over sandbox data of a
// day. `scripts/bun scripts/screenshots.ts` writes docs/images; needs Chromium. Run it when the console has
// changed so that they no longer show it.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { openBrowser, setUp, signIn, visit } from '../test/support/console/browser.ts'
import { root, startGateway, type TestGateway, tempDir } from '../test/support/gateway.ts'
import { until } from '../test/support/read.ts'

const folder = join(root, 'docs/images')
const themes = ['light', 'dark'] as const
const logRows = '12000'
const settleMs = 1_500
const waitMs = 60_000

const config = `
accounts:
  - { name: acme, balance: "5000.00" }
  - { name: globex, balance: "5000.00" }
tokens:
  - { account: acme, name: website, token: sk-test-0123456789abcdefghijklmnop }
  - { account: globex, name: research, token: sk-test-1123456789abcdefghijklmnop }
`

/** A gateway that looks as if it had been used for a month. */
async function startFilled(): Promise<TestGateway> {
  const dataDir = tempDir()
  const first = await startGateway({ dataDir, config })
  await first.stop()
  const fill = join(root, 'bench/console/fill.ts')
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, fill, dataDir, logRows])
  if (exitCode !== 0) throw new Error(`not filled: ${stderr}`)
  return startGateway({ dataDir, config, env: { GATEWAY_SANDBOX_TASK_SECONDS: '4' } })
}

/** Calls of every kind; the id of the video whose timeline is shown. */
async function callAll(gateway: TestGateway): Promise<string> {
  const prompts = ['Write a haiku.', 'Sum up this text.', '[[sim:status=429]] Hello', 'Translate.']
  await Promise.all(prompts.map((prompt) => gateway.chat(prompt)))
  await gateway.post('/v1/images/generations', { model: 'imga-plus', prompt: 'a lighthouse' })
  const made = await gateway.post('/v1/videos', {
    ...{ model: 'vfb-1.1-t2v', prompt: 'A sailing boat at sunrise, seen from above' },
    ...{ seconds: 5, resolution: '720p' },
  })
  const { id } = (await made.json()) as { id: string }
  await until(
    'the video is made',
    async () => {
      const { body } = await gateway.admin('GET', `/tasks/${id}`)
      return body.state === 'succeeded' ? true : undefined
    },
    waitMs,
  )
  return id
}

async function shoot(page: Page, name: string): Promise<void> {
  await page.locator('main').waitFor()
  await page.waitForLoadState('networkidle')
  // Charts are drawn when their data are there.
  await Bun.sleep(settleMs)
  await page.screenshot({ path: join(folder, `${name}.png`) })
}

async function takeAll(gateway: TestGateway, id: string): Promise<void> {
  const browser = await openBrowser()
  try {
    for (const theme of themes) {
      const { page, context } = await visit(browser, gateway.url, { theme, width: 1280 })
      if (theme === 'light') await setUp(page, gateway.output())
      else await signIn(page)
      await page.goto('/console/')
      await page.getByRole('button', { name: 'Hide', exact: true }).click()
      await page.getByText('7 days', { exact: true }).click()
      await shoot(page, `overview-${theme}`)
      await page.goto(`/console/tasks?open=${id}`)
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
const gateway = await startFilled()
try {
  await takeAll(gateway, await callAll(gateway))
} finally {
  await gateway.stop()
}
