// The console over a gateway that dies without warning and is started again: what is live goes on, in
// the same page and the same session.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { chromiumPath, openBrowser, setUp, visit } from '../support/console/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

if (chromiumPath === undefined) {
  console.error('left out: the console over a restart (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('the console over a restart', () => {
    let gateway: TestGateway
    let browser: Browser

    beforeAll(async () => {
      gateway = await startGateway()
      browser = await openBrowser()
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
    })

    test('shows a task to its end and new requests, without being loaded again', async () => {
      const { page: tasks, context } = await visit(browser, gateway.url)
      await setUp(tasks, gateway.output())
      const film = { model: 'vfa-2.7-t2v', prompt: 'slow [[sim:delay=6s]]', seconds: 5 }
      const created = (await (await gateway.post('/v1/videos', film)).json()) as { id: string }
      await (await gateway.chat('before')).text()

      await tasks.goto(`/console/tasks?open=${created.id}`)
      const sheet = tasks.getByRole('dialog')
      await sheet.getByText('Queued').or(sheet.getByText('Running')).first().waitFor()
      const requests = await context.newPage()
      await requests.goto('/console/requests')
      await requests.getByRole('switch', { name: 'Live' }).click()
      await requests.getByRole('row').nth(1).waitFor()
      const another = await context.newPage()
      await another.goto('/console/settings')
      await another.getByRole('heading', { level: 1 }).waitFor()
      const pages = [tasks, requests, another]
      for (const page of pages) await mark(page)

      const port = Number(new URL(gateway.url).port)
      await gateway.stop('SIGKILL')
      // To a page that was not loaded yet.
      await another.getByRole('link', { name: 'Health' }).click()
      // Long enough for all of them to have asked in vain.
      await Bun.sleep(2_500)
      gateway = await startGateway({ port, dataDir: gateway.dataDir })
      const answer = await gateway.chat('after')
      await answer.text()
      const requestId = answer.headers.get('x-gateway-request-id')!

      await requests.locator(`[title="${requestId}"]`).waitFor()
      await sheet.getByText('Succeeded').first().waitFor()
      await sheet.locator('video').waitFor()
      await another.getByText('OK', { exact: true }).waitFor()
      for (const page of pages) {
        expect(await page.evaluate('globalThis.mark')).toBe('not loaded again')
        await page.getByRole('alert').waitFor({ state: 'hidden' })
      }
    })
  })
}

const mark = (page: Page) => page.evaluate('globalThis.mark = "not loaded again"')
