// The task centre in a real browser: a first task by one click, its way step by step, several called off
// at once, the same again.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { BatchClient, line } from '../batches/client.ts'
import {
  chromiumPath,
  openBrowser,
  seriousFindings,
  setUp,
  shoot,
  type Visit,
  visit,
} from '../support/console/browser.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'

if (chromiumPath === undefined) {
  console.error('left out: the task centre in a browser (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('the task centre', () => {
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
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
    })

    const make = async (prompt: string): Promise<string> => {
      const input = { model: 'vfa-2.7-t2v', prompt, seconds: 5, resolution: '720p' }
      const made = await gateway.post('/v1/videos', input)
      return ((await made.json()) as { id: string }).id
    }
    const stateOf = async (id: string) => (await gateway.admin('GET', `/tasks/${id}`)).body.state

    test('makes a first task of a picture when there is none', async () => {
      await page.goto('/console/tasks')
      await page.getByRole('button', { name: 'Image → video' }).click()
      await page.getByRole('row', { name: /A cat walks/ }).waitFor()
      const { items } = (await gateway.admin('GET', '/tasks')).body
      expect(items[0].request.images).toBe(1)
    })

    test('shows those of a time alone, as the address has it', async () => {
      const id = await make('a late one')
      const { body } = await gateway.admin('GET', `/tasks/${id}`)
      await page.goto('/console/tasks')
      const row = page.getByRole('row', { name: /A cat walks/ })
      await row.waitFor()
      await page.getByRole('button', { name: '+ Filter' }).click()
      await page.getByRole('menuitem', { name: 'From' }).waitFor()
      await page.keyboard.press('Escape')
      const from = encodeURIComponent(body.created_at)
      await page.goto(`/console/tasks?from=${from}`)
      await page.getByRole('row', { name: /a late one/ }).waitFor()
      expect(await row.count()).toBe(0)
      await page.getByRole('button', { name: /^Remove filter “From”/ }).click()
      await row.waitFor()
      await page.goto(`/console/tasks?to=${from}`)
      await row.waitFor()
      expect(await page.getByRole('row', { name: /a late one/ }).count()).toBe(0)
    })

    test('tells every step of a task, and why polls failed', async () => {
      const id = await make('a boat [[sim:poll=503]]')
      await page.goto(`/console/tasks?open=${id}`)
      const steps = page.getByRole('dialog').getByRole('list', { name: 'Timeline' })
      await steps.getByText('2 polls failed').waitFor()
      await steps.getByText(/told to answer 503/).waitFor()
      await steps.getByText('Ended').waitFor()
      const told = await steps.getByRole('listitem').allInnerTexts()
      const titles = told.map((text) => text.split('\n')[0])
      expect(titles.slice(0, 3)).toEqual(['Created', 'Accepted by the upstream', '2 polls failed'])
      expect(titles.at(-1)).toBe('Ended')
      expect(await seriousFindings(page)).toEqual([])
      await shoot(page, 'task-timeline')
    })

    test('makes the same again, and opens it', async () => {
      const id = await make('a lighthouse')
      await page.goto(`/console/tasks?open=${id}`)
      await page.getByRole('button', { name: 'Run again' }).click()
      await page
        .getByRole('dialog', { name: 'Run again' })
        .getByRole('button', { name: 'Run again' })
        .click()
      await page.waitForURL((url) => !url.href.includes(id) && url.href.includes('open=video_'))
      const again = new URL(page.url()).searchParams.get('open')
      const { body } = await gateway.admin('GET', `/tasks/${again}`)
      expect(body).toMatchObject({ account: 'acme', token: 'test', request: { seconds: 5 } })
      expect(body.request.prompt).toBe('a lighthouse')
      const { items } = (await gateway.admin('GET', '/audit-log?limit=1')).body
      expect(items[0]).toMatchObject({ action: 'task.rerun', before: { task: id } })
    })

    test('calls off several at once, with statistics open', async () => {
      const ids = await Promise.all([1, 2, 3].map((i) => make(`slow ${i} [[sim:delay=90s]]`)))
      await page.goto('/console/tasks?plots=on&state=queued')
      await page.getByText('Durations').waitFor()
      await page.getByRole('checkbox', { name: `Select ${ids[0]}` }).check()
      await page.getByRole('checkbox', { name: `Select ${ids[1]}` }).check()
      await page.getByRole('button', { name: 'Cancel 2 tasks' }).click()
      const dialog = page.getByRole('dialog', { name: 'Cancel 2 tasks' })
      await dialog.getByRole('button', { name: 'Cancel 2 tasks' }).click()
      await page.getByRole('row', { name: /slow 1/ }).waitFor({ state: 'hidden' })
      const states = await Promise.all(ids.map(stateOf))
      expect(states).toEqual(['cancelled', 'cancelled', 'queued'])
      expect(await seriousFindings(page)).toEqual([])
    })

    test('shows how far a batch is and what it has cost, and cancels it', async () => {
      const client = new BatchClient(gateway.url, apiToken)
      const slow = { model: 'txta-plus' }
      const held = Array.from({ length: 60 }, (_, n) => line(n, 'x [[sim:delay=8s]]', slow))
      const { id } = await client.start([line(100, 'x', slow), ...held])
      await page.goto('/console/tasks')
      await page.getByText('Batches', { exact: true }).click()
      const row = page.getByRole('row', { name: /61/ })
      await row.getByText('1%').waitFor()
      await row.getByRole('progressbar', { name: 'Progress' }).waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await row.getByRole('button', { name: 'Cancel batch' }).click()
      const dialog = page.getByRole('dialog', { name: 'Cancel batch' })
      await dialog.getByRole('button', { name: 'Cancel batch' }).click()
      await row.getByText(/^Cancell/).waitFor()
      const { body } = await gateway.admin('GET', `/batches/${id}`)
      expect(['cancelling', 'cancelled']).toContain(body.state)
    })

    test('enlarges pictures and sets them side by side', async () => {
      const input = { model: 'imga-plus', prompt: 'boats', n: 2 }
      await (await gateway.post('/v1/images/generations', input)).json()
      const { items } = (await gateway.admin('GET', '/tasks?interface=images')).body
      await page.goto(`/console/tasks?open=${items[0].id}`)
      await page.getByRole('button', { name: 'Enlarge image 1' }).click()
      const box = page.getByRole('dialog', { name: 'Image 1 of 2' })
      await box.getByRole('button', { name: 'Compare with next' }).click()
      expect(await box.locator('img').count()).toBe(2)
      await page.keyboard.press('ArrowRight')
      await page.getByRole('dialog', { name: 'Image 2 of 2' }).waitFor()
      await page.keyboard.press('Escape')
      expect(it.complaints).toEqual([])
    })
  })
}
