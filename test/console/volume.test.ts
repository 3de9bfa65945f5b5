// The console over a month of a busy gateway: every page has its rows, and the oldest of a million is
// found like the newest. How fast that is, is for the bench: `npm run bench -- --only console`.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { menuPaths } from '../../bench/console/pages.ts'
import { chromiumPath, openBrowser, setUp, type Visit, visit } from '../support/console/browser.ts'
import { watchTraffic } from '../support/console/traffic.ts'
import { root, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'

const requests = 1_000_000

if (chromiumPath === undefined || process.env['TEST_CONSOLE_VOLUME'] !== '1') {
  console.error('left out: the console over a million requests (set TEST_CONSOLE_VOLUME=1)')
} else {
  describe('over a million requests', () => {
    let gateway: TestGateway
    let browser: Browser
    let it: Visit
    let quiet: () => Promise<void>

    beforeAll(async () => {
      const dataDir = tempDir()
      const first = await startGateway({ dataDir })
      await first.stop()
      const program = join(root, 'bench/console/fill.ts')
      const command = [join(root, 'scripts/bun'), program, dataDir, String(requests)]
      expect(await Bun.spawn(command, { stdout: 'ignore' }).exited).toBe(0)
      gateway = await startGateway({ dataDir })
      browser = await openBrowser()
      it = await visit(browser, gateway.url)
      quiet = watchTraffic(it.page)
      await setUp(it.page, gateway.output())
    }, 300_000)
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
    })

    test('every page comes up', async () => {
      for (const path of menuPaths) {
        await it.page.goto(`/console${path}`)
        await it.page.getByRole('heading', { level: 1 }).waitFor()
        await quiet()
        expect([path, await it.page.locator('.table-box, h1').count()]).not.toEqual([path, 0])
      }
    })

    test('a list draws what is in sight and goes on to the next page', async () => {
      const { page } = it
      for (const path of ['/console/requests', '/console/tasks']) {
        await page.goto(path)
        const rows = page.locator('[role=row][data-clickable]')
        await rows.first().waitFor()
        expect(await rows.count()).toBeLessThan(51)
        await page.getByRole('button', { name: 'Load more' }).click()
        await page.locator('[role=table][aria-rowcount="100"]').waitFor()
        expect(await rows.count()).toBeLessThan(51)
      }
    })

    test('a part of a list does not claim an order that the address asks for', async () => {
      const { page } = it
      await page.goto('/console/requests?sort=-status')
      await page.locator('[role=row][data-clickable]').first().waitFor()
      expect(await page.locator('[aria-sort]').count()).toBe(0)
    })

    test('the oldest one is found by its id', async () => {
      const { page } = it
      // As they are made: by number, the first one being 0.
      await page.goto('/console/requests?id=chatcmpl-00000000000000000000')
      await page.locator('[role=row][data-clickable]').first().click()
      await page.getByRole('dialog').getByTitle('chatcmpl-00000000000000000000').waitFor()
    })
  })
}
