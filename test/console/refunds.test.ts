// Refunds in a real browser: at a request and at a task, a part and all that is left, refused in words,
// and only by those who may.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import {
  chromiumPath,
  openBrowser,
  password,
  seriousFindings,
  setUp,
  shoot,
  signIn,
  visit,
} from '../support/console/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/read.ts'

if (chromiumPath === undefined) {
  console.error('left out: refunds in a browser (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('refunds in the console', () => {
    let gateway: TestGateway
    let browser: Browser
    let page: Page
    let request: string
    let task: string

    const get = async (path: string) => (await gateway.admin('GET', path)).body

    beforeAll(async () => {
      gateway = await startGateway({ env: { GATEWAY_SANDBOX_TASK_SECONDS: '1' } })
      browser = await openBrowser()
      page = (await visit(browser, gateway.url)).page
      await setUp(page, gateway.output())
      const answer = await gateway.chat('hello [[sim:tokens=20]]')
      await answer.text()
      request = answer.headers.get('x-gateway-request-id')!
      const video = { model: 'vfa-2.7-t2v', prompt: 'a cat', seconds: 5, resolution: '720p' }
      task = ((await (await gateway.post('/v1/videos', video)).json()) as { id: string }).id
      await until('the task', async () => (await get(`/tasks/${task}`)).finished_at ?? undefined)
      for (const [name, role] of [
        ['fin', 'finance'],
        ['ops', 'operator'],
      ] as const) {
        await gateway.admin('POST', '/people', { name, role, password })
      }
      await gateway.admin('POST', '/people', {
        ...{ name: 'mel', role: 'member', account: 'acme', password },
      })
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
    })

    test('a part of a task is refunded, then all that is left, and nothing more', async () => {
      const { charge } = await get(`/tasks/${task}`)
      expect(Number(charge)).toBeGreaterThan(0.2)
      await page.goto(`/console/tasks?open=${task}`)
      const drawer = page.getByRole('dialog').first()
      await drawer.getByRole('button', { name: 'Refund' }).click()
      const dialog = page.getByRole('dialog', { name: 'Refund' })
      await dialog.getByLabel(/^Amount/).fill('9999')
      await dialog.getByText(/^Only .* of the charge is left\.$/).waitFor()
      await dialog.getByLabel('Reason').fill('the sound is missing')
      await dialog.getByRole('button', { name: 'Refund' }).click()
      await dialog.getByText('The refund is more than is left of the charge.').waitFor()
      await dialog.getByLabel(/^Amount/).fill('0.2')
      await shoot(page, 'refund-form')
      expect(await seriousFindings(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Refund' }).click()
      await dialog.getByText('Refunded 0.20 CNY.').waitFor()
      await dialog.getByRole('button', { name: 'Done' }).click()
      expect((await get(`/tasks/${task}`)).refunded).toBe('0.20')
      await drawer.getByText('the sound is missing').first().waitFor()
      await drawer.getByRole('button', { name: 'Refund' }).click()
      await dialog.getByRole('row', { name: 'Refunded 0.20 CNY' }).waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'hidden' })
      await drawer.getByRole('button', { name: 'Refund' }).click()
      await dialog.getByLabel('Reason').fill('goodwill')
      await dialog.getByRole('button', { name: 'Refund' }).click()
      await dialog.getByRole('button', { name: 'Done' }).click()
      expect((await get(`/tasks/${task}`)).refunded).toBe(charge)
      await drawer.getByText('Refunded', { exact: true }).first().waitFor()
      expect(await drawer.getByRole('button', { name: 'Refund' }).count()).toBe(0)
    })

    test('finance refunds a request; what another one took first is said', async () => {
      const { page: theirs, context } = await visit(browser, gateway.url, {
        ...{ language: 'zh', theme: 'dark', width: 390 },
      })
      await signIn(theirs, 'fin')
      await theirs.goto(`/console/requests?open=${request}`)
      await theirs.getByRole('button', { name: '退款' }).click()
      const dialog = theirs.getByRole('dialog', { name: '退款' })
      await dialog.getByLabel('原因').fill('回答被截断')
      const other = await gateway.admin('POST', `/requests/${request}/refunds`, { reason: 'first' })
      expect(other.status).toBe(201)
      await dialog.getByRole('button', { name: '退款' }).click()
      await dialog.getByRole('alert').waitFor()
      expect(await dialog.getByRole('alert').textContent()).toMatch(
        /没有可退款的消费。|退款金额超过该笔消费的未退金额。/,
      )
      await shoot(theirs, 'refund-zh-dark-390')
      expect(await seriousFindings(theirs)).toEqual([])
      await dialog.getByRole('row', { name: /^可退 0.00 CNY/ }).waitFor()
      await dialog.getByRole('button', { name: '取消' }).click()
      const { charge, refunded } = await get(`/requests/${request}`)
      expect(refunded).toBe(charge)
      await context.close()
    })

    test('a request of a task is refunded at its task', async () => {
      const { request_id } = await get(`/tasks/${task}`)
      await page.goto(`/console/requests?open=${request_id}`)
      const drawer = page.getByRole('dialog').first()
      await drawer.getByText('Refunded', { exact: true }).first().waitFor()
      expect(await drawer.getByRole('button', { name: 'Refund' }).count()).toBe(0)
    })

    test('operators and members see what was refunded, and no button', async () => {
      const answer = await gateway.chat('once more [[sim:tokens=20]]')
      await answer.text()
      const id = answer.headers.get('x-gateway-request-id')!
      await gateway.admin('POST', `/requests/${id}/refunds`, { amount: '0.000001', reason: 'part' })
      for (const name of ['ops', 'mel']) {
        const { page: theirs, context } = await visit(browser, gateway.url)
        await signIn(theirs, name)
        await theirs.goto(`/console/requests?open=${id}`)
        await theirs.getByRole('dialog').getByText('0.000001 CNY').first().waitFor()
        expect(await theirs.getByRole('button', { name: 'Refund' }).count()).toBe(0)
        await context.close()
      }
    })
  })
}
