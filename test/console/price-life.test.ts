// The life of a price in a real browser: prices stand in columns and are found, one is scheduled, its day
// and its author are shown, the customer reads it, and it is withdrawn after a question.
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

if (chromiumPath === undefined) {
  console.error(
    'left out: the life of a price in a browser (install Chromium, or set TEST_CHROMIUM)',
  )
} else {
  describe('the life of a price', () => {
    let gateway: TestGateway
    let browser: Browser
    let page: Page

    beforeAll(async () => {
      gateway = await startGateway()
      browser = await openBrowser()
      page = (await visit(browser, gateway.url, { width: 1440 })).page
      await setUp(page, gateway.output())
      await gateway.admin('POST', '/people', { name: 'ops', role: 'operator', password })
      await gateway.admin('POST', '/people', {
        ...{ name: 'mel', role: 'member', account: 'acme', password },
      })
    }, 60_000)
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
    })

    const versions = async () =>
      (await gateway.admin('GET', '/prices?model=txta-plus')).body.items as { state: string }[]
    const row = () => page.getByRole('row', { name: /^txta-plus / })

    test('a price has a column for each amount, and is found by its model', async () => {
      const terms = {
        unit: 'token',
        per_million: { input: '1.25', output: '5', cache_read: '0.125' },
      }
      const hours = [{ from: '00:30', to: '08:30', zone: 'Asia/Shanghai', factor: '0.5' }]
      const made = await gateway.admin('POST', '/prices', { model: 'txta-plus', ...terms, hours })
      expect(made.status).toBe(201)
      await page.goto('/console/prices')
      await page.getByLabel('Find a model').fill('PLUS')
      await row().waitFor()
      for (const title of ['Input, CNY/M', 'Output, CNY/M', 'Cache read, CNY/M', 'Video, CNY/s']) {
        await page.getByRole('columnheader', { name: title }).waitFor()
      }
      const cells = await row().getByRole('cell').allTextContents()
      expect(cells.slice(0, 8)).toEqual([
        ...['txta-plus', '1.25', '5.00', '0.125', '–', '–', '–', 'hours: 1'],
      ])
      expect(await page.getByRole('row', { name: /^vfa-/ }).count()).toBe(0)
      await shoot(page, 'prices-columns')
      expect(await seriousFindings(page)).toEqual([])
    }, 40_000)

    test('one is scheduled; the list and the customer say what changes when', async () => {
      await row().click()
      const drawer = page.getByRole('dialog').first()
      await drawer.getByRole('button', { name: 'New version' }).click()
      await drawer.getByRole('button', { name: 'Activate' }).waitFor()
      await drawer.getByLabel(/^Effective from/).fill('2031-03-04T12:00')
      await drawer.getByLabel('Input', { exact: true }).fill('2.5')
      await drawer.getByRole('button', { name: 'Schedule' }).click()
      await drawer.getByRole('row', { name: /ada scheduled Withdraw/ }).waitFor()
      await shoot(page, 'price-scheduled')
      expect(await seriousFindings(page)).toEqual([])
      await page.keyboard.press('Escape')
      await row().getByText('changes on 4 Mar 2031').waitFor()
      const { page: theirs, context } = await visit(browser, gateway.url)
      await signIn(theirs, 'mel')
      await theirs.getByLabel('Find a model').fill('txta-plus')
      await theirs.getByText('Changes on 4 Mar 2031 to:').waitFor()
      await theirs.getByText(/Input 2\.50/).waitFor()
      await context.close()
    }, 40_000)

    test('an operator sees it and cannot withdraw it; a question comes first', async () => {
      const { page: theirs, context } = await visit(browser, gateway.url)
      await signIn(theirs, 'ops')
      await theirs.goto('/console/prices?open=txta-plus')
      await theirs.getByRole('dialog').getByText('scheduled', { exact: true }).waitFor()
      expect(await theirs.getByRole('button', { name: 'Withdraw' }).count()).toBe(0)
      await context.close()
      await row().click()
      const drawer = page.getByRole('dialog').first()
      await drawer.getByRole('button', { name: 'Withdraw' }).click()
      const question = page.getByRole('dialog', { name: 'Withdraw price' })
      await question.getByRole('button', { name: 'Keep it' }).click()
      await question.waitFor({ state: 'hidden' })
      expect((await versions()).filter(({ state }) => state === 'scheduled')).toHaveLength(1)
      await drawer.getByRole('button', { name: 'Withdraw' }).click()
      expect(await seriousFindings(page)).toEqual([])
      await question.getByRole('button', { name: 'Withdraw price' }).click()
      await question.waitFor({ state: 'hidden' })
      await drawer.getByText('scheduled', { exact: true }).waitFor({ state: 'hidden' })
      expect((await versions()).filter(({ state }) => state === 'scheduled')).toHaveLength(0)
      await page.keyboard.press('Escape')
      await row().getByText('in force').waitFor()
    }, 40_000)
  })
}
