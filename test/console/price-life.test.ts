// The life of a price in a real browser: prices stand in columns and are found, one is scheduled, its day
// and its author are shown, the customer reads it, and it is withdrawn after a question.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Locator, Page } from 'playwright-core'
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

/** Drags from one cell to another. */
async function paint(page: Page, from: Locator, to: Locator): Promise<void> {
  await from.scrollIntoViewIfNeeded()
  const [one, other] = [(await from.boundingBox())!, (await to.boundingBox())!]
  await page.mouse.move(one.x + one.width / 2, one.y + one.height / 2)
  await page.mouse.down()
  await page.mouse.move(other.x + other.width / 2, other.y + other.height / 2, { steps: 4 })
  await page.mouse.up()
}

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
    })
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
        ...['txta-plus', '1.25', '5.00', '0.125', '–', '–', '–', 'Hours: 1'],
      ])
      expect(await page.getByRole('row', { name: /^vfa-/ }).count()).toBe(0)
      await shoot(page, 'prices-columns')
      expect(await seriousFindings(page)).toEqual([])
    })

    test('one is scheduled; the list and the customer say what changes when', async () => {
      await row().click()
      const drawer = page.getByRole('dialog').first()
      await drawer.getByRole('button', { name: 'New version' }).click()
      await drawer.getByRole('button', { name: 'Activate' }).waitFor()
      await drawer.getByLabel(/^Effective from/).fill('2031-03-04T12:00')
      await drawer.getByLabel('Input', { exact: true }).fill('2.5')
      await drawer.getByRole('button', { name: 'Schedule' }).click()
      await drawer.getByRole('row', { name: /ada Scheduled Withdraw/ }).waitFor()
      await shoot(page, 'price-scheduled')
      expect(await seriousFindings(page)).toEqual([])
      await page.keyboard.press('Escape')
      await row().getByText('changes on 4 Mar 2031').waitFor()
      const { page: theirs, context } = await visit(browser, gateway.url)
      await signIn(theirs, 'mel')
      // The first page says it, with what it will be; the page of prices has it in its column.
      await theirs.getByText('changes on 4 Mar 2031 to').waitFor()
      await theirs.getByText(/Input 2\.50/).waitFor()
      await theirs.getByRole('link', { name: 'All prices' }).click()
      await theirs.getByLabel('Find a model').fill('txta-plus')
      await shoot(theirs, 'customer-prices')
      await theirs.getByRole('row', { name: /^txta-plus .*Changes on 4 Mar 2031/ }).click()
      const shown = theirs.getByRole('dialog', { name: 'txta-plus' })
      await shown.getByText(/Input 2\.50/).waitFor()
      expect(await seriousFindings(theirs)).toEqual([])
      await context.close()
    })

    test('an operator sees it and cannot withdraw it; a question comes first', async () => {
      const { page: theirs, context } = await visit(browser, gateway.url)
      await signIn(theirs, 'ops')
      await theirs.goto('/console/prices?open=txta-plus')
      await theirs.getByRole('dialog').getByText('Scheduled', { exact: true }).waitFor()
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
      await drawer.getByText('Scheduled', { exact: true }).waitFor({ state: 'hidden' })
      expect((await versions()).filter(({ state }) => state === 'scheduled')).toHaveLength(0)
      await page.keyboard.press('Escape')
      await row().getByText('in force').waitFor()
    })

    test('its hours are a week that is read, and painted by pointer and keyboard', async () => {
      await row().click()
      const drawer = page.getByRole('dialog').first()
      const shown = drawer.getByRole('grid', { name: 'Hours of the week, Asia/Shanghai' }).first()
      await shown.getByRole('gridcell', { name: 'Mon 00:00–01:00: 00:30–01:00 × 0.5' }).waitFor()
      await shown.getByRole('gridcell', { name: 'Sun 07:00–08:00: × 0.5' }).waitFor()
      await shown.getByRole('gridcell', { name: 'Sun 09:00–10:00: plain price' }).waitFor()
      await drawer.getByRole('button', { name: 'New version' }).click()
      const form = drawer.getByRole('form', { name: 'New version' })
      const grid = form.getByRole('grid')
      const cell = (name: string) => grid.getByRole('gridcell', { name: new RegExp(`^${name}`) })
      await form.getByRole('button', { name: 'Add factor' }).click()
      await form.getByRole('textbox', { name: 'Factor B' }).fill('2')
      await paint(page, cell('Mon 09:00'), cell('Fri 17:00'))
      await grid.getByRole('gridcell', { name: 'Wed 12:00–13:00: × 2' }).waitFor()
      // By the keyboard: from Saturday 10:00 two hours more, and one of Friday cleared.
      await cell('Sat 10:00').focus()
      await page.keyboard.press('Space')
      await page.keyboard.press('Shift+ArrowRight')
      await page.keyboard.press('ArrowUp')
      await page.keyboard.press('Enter')
      await form.getByText('5 of 16 windows').waitFor()
      await shoot(page, 'price-hours')
      expect(await seriousFindings(page)).toEqual([])
      await form.getByRole('button', { name: 'Activate' }).click()
      await form.waitFor({ state: 'hidden' })
      const { body } = await gateway.admin('GET', '/prices?model=txta-plus')
      const zone = 'Asia/Shanghai'
      expect(body.items.find((each: { current: boolean }) => each.current).hours).toEqual([
        { from: '00:30', to: '08:30', zone, factor: '0.5' },
        { days: ['mon', 'tue', 'wed', 'thu'], from: '09:00', to: '18:00', zone, factor: '2' },
        { days: ['fri'], from: '09:00', to: '11:00', zone, factor: '2' },
        { days: ['fri'], from: '12:00', to: '18:00', zone, factor: '2' },
        { days: ['sat'], from: '10:00', to: '12:00', zone, factor: '2' },
      ])
    })

    test.each(['light', 'dark'] as const)('a customer reads them in Chinese, %s', async (theme) => {
      const { page: theirs, context } = await visit(browser, gateway.url, {
        language: 'zh',
        theme,
      })
      await signIn(theirs, 'mel')
      await theirs.goto('/console/prices?open=txta-plus')
      const week = theirs.getByRole('grid', { name: '一周时段，Asia/Shanghai' })
      await week.getByRole('gridcell', { name: '周一 09:00–10:00: × 2' }).waitFor()
      await week.scrollIntoViewIfNeeded()
      expect(await week.getAttribute('aria-readonly')).toBe('true')
      await shoot(theirs, `price-hours-customer-${theme}`)
      expect(await seriousFindings(theirs)).toEqual([])
      await context.close()
    })
  })
}
