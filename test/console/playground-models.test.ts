// The model that the playground begins with, in a real browser: the cheapest that can be called, and after a call the one
// that was asked, also in another tab of the browser.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { chromiumPath, openBrowser, setUp, visit } from '../support/console/browser.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'

const config = `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
prices:
  - { model: txta-max, unit: token, per_million: { input: "9.00", output: "9.00" } }
  - { model: txta-plus, unit: token, per_million: { input: "0.01", output: "0.01" } }
`

if (chromiumPath === undefined) {
  console.error('left out: models of the playground (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('the model that the playground begins with', () => {
    let gateway: TestGateway
    let browser: Browser

    beforeAll(async () => {
      gateway = await startGateway({ config })
      browser = await openBrowser()
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
    })

    const chosen = async (page: Page, path = '/console/playground'): Promise<string> => {
      await page.goto(path)
      const model = page.getByRole('combobox', { name: 'Model', exact: true })
      await page.locator('input[value^=txt], input[value^=vf]').first().waitFor()
      return model.inputValue()
    }

    test('is the cheapest, then the last one', async () => {
      const { page, context } = await visit(browser, gateway.url)
      await setUp(page, gateway.output())
      expect(await chosen(page)).toBe('txta-plus')
      const model = page.getByRole('combobox', { name: 'Model', exact: true })
      await model.click()
      await page.getByRole('option', { name: 'txta-turbo', exact: true }).click()
      await page.getByRole('button', { name: /^Send/ }).click()
      await page.getByText(/0\.0/).first().waitFor()
      const other = await context.newPage()
      expect(await chosen(other)).toBe('txta-turbo')
      expect(await chosen(other, '/console/playground?model=txta-max')).toBe('txta-max')
    })
  })
}
