// Lists that the server sorts, in a real browser: a heading sorts over all rows, also those that are not loaded yet.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import {
  chromiumPath,
  goTo,
  openBrowser,
  seriousFindings,
  setUp,
  type Visit,
  visit,
} from '../support/console/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { untilTrue } from '../support/read.ts'

/** More than a page of the console. */
const many = 60
/** Neither the newest nor the oldest. */
const dearest = 37

if (chromiumPath === undefined) {
  console.error('left out: sorted lists in a browser (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('lists that the server sorts', () => {
    let gateway: TestGateway
    let browser: Browser
    let it: Visit
    let page: Page

    beforeAll(async () => {
      gateway = await startGateway({ env: { GATEWAY_SANDBOX_TASK_SECONDS: '1' } })
      browser = await openBrowser()
      it = await visit(browser, gateway.url)
      page = it.page
      await setUp(page, gateway.output())
      for (let i = 0; i < many; i++) {
        await gateway.admin('POST', '/accounts', { name: `team-${i}`, balance: `${1 + i}.00` })
        const tokens = i === dearest ? 900 : 5 + (i % 3)
        await (await gateway.chat(`[[sim:tokens=${tokens}]]`)).text()
      }
    })
    afterAll(async () => {
      expect(it.complaints).toEqual([])
      await browser.close()
      await gateway.stop()
    })

    const heading = (name: RegExp) => page.getByRole('columnheader', { name }).getByRole('button')
    const sorted = (direction: string) => page.locator(`[aria-sort=${direction}]`)
    const firstRow = () => page.locator('[role=row][data-clickable]').first()

    test('the dearest of all requests comes first', async () => {
      const list = '/requests?limit=1&sort=charge&order=desc'
      const [most] = (await gateway.admin('GET', list)).body.items
      expect(most.usage.output_tokens).toBe(900)
      await goTo(page, '/console/requests')
      await page.getByRole('button', { name: 'Load more' }).waitFor()
      await heading(/^Cost/).click()
      await sorted('descending').waitFor()
      await firstRow().getByTitle(most.request_id).waitFor()
      expect(new URL(page.url()).searchParams.get('sort')).toBe('-cost')
      expect(await page.getByRole('switch', { name: 'Live' }).count()).toBe(0)
      await page.getByRole('button', { name: 'Load more' }).click()
      await page.getByRole('button', { name: 'Load more' }).waitFor({ state: 'hidden' })
      const rows = page.locator('[role=table]')
      expect(await rows.getAttribute('aria-rowcount')).toBe(String(many))
      expect(await seriousFindings(page)).toEqual([])
    })

    test('the oldest request comes first, also after a reload', async () => {
      const list = '/requests?limit=1&sort=time&order=asc'
      const [oldest] = (await gateway.admin('GET', list)).body.items
      await goTo(page, '/console/requests')
      await heading(/^Time/).click()
      await sorted('ascending').waitFor()
      await firstRow().getByTitle(oldest.request_id).waitFor()
      await page.reload()
      await firstRow().getByTitle(oldest.request_id).waitFor()
    })

    test('accounts are sorted by their balance', async () => {
      await goTo(page, '/console/accounts')
      await page.getByRole('button', { name: 'Load more' }).waitFor()
      await heading(/^Balance/).click()
      await sorted('descending').waitFor()
      const [most] = (await gateway.admin('GET', '/accounts?limit=1&sort=balance&order=desc')).body
        .items
      await firstRow().getByText(most.name, { exact: true }).waitFor()
      await heading(/^Balance/).click()
      await sorted('ascending').waitFor()
      await firstRow().getByText('team-0', { exact: true }).waitFor()
    })

    test('the dearest task comes first, and the one that took longest', async () => {
      const make = async (seconds: number) => {
        const input = {
          model: 'vfa-2.7-t2v',
          prompt: `a cat ${seconds}`,
          seconds,
          resolution: '720p',
        }
        const made = await gateway.post('/v1/videos', input)
        return ((await made.json()) as { id: string }).id
      }
      const ids = [await make(5), await make(10), await make(5)]
      for (const id of ids) {
        const stateOf = async () => (await gateway.admin('GET', `/tasks/${id}`)).body.state
        await untilTrue(stateOf, (state) => state === 'succeeded')
      }
      await goTo(page, '/console/tasks')
      await heading(/^Cost/).click()
      await sorted('descending').waitFor()
      await firstRow().getByText('a cat 10').waitFor()
      const list = '/tasks?limit=1&sort=duration&order=asc'
      const [quickest] = (await gateway.admin('GET', list)).body.items
      expect(ids).toContain(quickest.id)
      // A request that made a task is sorted by what the task was charged.
      const dear = (await gateway.admin('GET', '/requests?limit=1&sort=charge&order=desc')).body
      expect(dear.items[0].task_id).toBe(ids[1])
    })
  })
}
