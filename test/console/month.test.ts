// The month page in a real browser: finance sees the steps and a channel with its difference, takes the file for a
// dispute and closes the month; in Chinese, too.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { monthAt, monthPlus } from '../../src/lib/text/month.ts'
import {
  chromiumPath,
  openBrowser,
  password,
  seriousFindings,
  setUp,
  signIn,
  visit,
} from '../support/console/browser.ts'
import { adminToken, startGateway, type TestGateway } from '../support/gateway.ts'

const month = monthPlus(monthAt(Date.now()), -1)
const config = `
channels:
  - name: cloud-a
    keys: [upk-0123456789abcdef]
    protocols: { chat: "http://127.0.0.1:9/v1" }
    models: { txta-plus: up-plus }
`

if (chromiumPath === undefined) {
  console.error('left out: the month page in a browser (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('the month page of the console', () => {
    let gateway: TestGateway
    let browser: Browser
    beforeAll(async () => {
      gateway = await startGateway({ config })
      browser = await openBrowser()
      const { page, context } = await visit(browser, gateway.url)
      await setUp(page, gateway.output())
      await context.close()
      await gateway.admin('POST', '/people', { name: 'fin', role: 'finance', password })
      const query = new URLSearchParams({
        ...{ channel: 'cloud-a', from: `${month}-01`, to: `${monthPlus(month, 1)}-01` },
      })
      const made = await fetch(`${gateway.url}/admin/v1/statements?${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'text/csv' },
        body: `Request ID,Time,Model,Tokens,Cost\nup-9,${month}-02,up-plus,25,12.50\n`,
      })
      expect(made.status).toBe(201)
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
    })

    test('finance takes the dispute file, and closes with a reason', async () => {
      const { page, context } = await visit(browser, gateway.url)
      await signIn(page, 'fin')
      await page.locator('nav').getByRole('link', { name: 'Month close', exact: true }).click()
      const steps = page.getByRole('region', { name: 'Checklist' })
      await steps.getByRole('link', { name: 'Statements pulled' }).waitFor()
      expect(await steps.getByRole('listitem').count()).toBe(5)
      await steps.getByText('1 of 1 channels').waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await page.getByRole('row', { name: /cloud-a/ }).click()
      const drawer = page.getByRole('dialog', { name: `cloud-a · ${month}` })
      await drawer.getByText('Only at the upstream').first().waitFor()
      const coming = page.waitForEvent('download')
      await drawer.getByRole('link', { name: 'Dispute file' }).click()
      const csv = await Bun.file(await (await coming).path()).text()
      expect(csv).toContain(`upstream_only,up-9,${month}-02`)
      expect(await seriousFindings(page)).toEqual([])
      await drawer.getByRole('button', { name: 'Close month' }).click()
      const asked = page.getByRole('dialog', { name: `Close ${month} of cloud-a` })
      await asked.getByText('1 lines are not explained').waitFor()
      expect(await asked.getByRole('button', { name: 'Close month' }).isDisabled()).toBe(true)
      await asked.getByLabel(/^Note/).fill('invoice 4711')
      await asked.getByLabel(/^Why it is closed/).fill('below the limit')
      await asked.getByRole('button', { name: 'Close month' }).click()
      await drawer.getByText('Closed by fin').waitFor()
      await drawer.getByText('below the limit').waitFor()
      const { body } = await gateway.admin('GET', `/months/${month}/channels`)
      expect(body.items[0].closing.booked).toMatchObject({ amount: '12.50', note: 'invoice 4711' })
      await context.close()
    })

    test('in Chinese, on a phone', async () => {
      const { page, context } = await visit(browser, gateway.url, { language: 'zh', width: 390 })
      await signIn(page, 'fin')
      await page.goto(`${gateway.url}/console/month?month=${month}&channel=cloud-a`)
      await page.getByText('由 fin 结账').waitFor()
      await page.getByText('仅上游有').first().waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await context.close()
    })
  })
}
