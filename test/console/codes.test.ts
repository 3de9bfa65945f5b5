// Codes in a real browser: finance makes them in bulk, sees them once and deletes one; a member redeems
// one and reads how else money is added.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
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
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'

const config = `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
top_up: { text: "Transfer to IBAN XX00 0000, and name your account.", url: "https://pay.example/{account}" }
`

if (chromiumPath === undefined) {
  console.error('left out: codes in a browser (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('codes in the console', () => {
    let gateway: TestGateway
    let browser: Browser
    let codes: string[] = []

    const balance = async () => (await gateway.admin('GET', '/accounts/acme')).body.balance

    beforeAll(async () => {
      gateway = await startGateway({ config })
      browser = await openBrowser()
      const { page, context } = await visit(browser, gateway.url)
      await setUp(page, gateway.output())
      await context.close()
      await gateway.admin('POST', '/people', { name: 'fin', role: 'finance', password })
      await gateway.admin('POST', '/people', { name: 'ops', role: 'operator', password })
      await gateway.admin('POST', '/people', {
        ...{ name: 'mel', role: 'member', account: 'acme', password },
      })
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
    })

    test('finance makes codes in bulk, which are shown once', async () => {
      const { page, context } = await visit(browser, gateway.url)
      await signIn(page, 'fin')
      await page.locator('nav').getByRole('link', { name: 'Codes', exact: true }).click()
      await page.getByText('No codes yet.').waitFor()
      await page.getByRole('button', { name: 'New codes' }).click()
      const dialog = page.getByRole('dialog', { name: 'New codes' })
      await dialog.getByLabel(/^Amount of each/).fill('20')
      await dialog.getByLabel('How many').fill('3')
      await dialog.getByLabel('Note').fill('spring')
      await dialog.getByLabel(/^Works until/).fill('2020-01-01T00:00')
      expect(await seriousFindings(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Make codes' }).click()
      await dialog.getByRole('alert').waitFor()
      await dialog.getByLabel(/^Works until/).fill('')
      await dialog.getByRole('button', { name: 'Make codes' }).click()
      const shown = await dialog.getByLabel('Codes', { exact: true }).textContent()
      codes = (shown ?? '').split('\n')
      expect(codes).toHaveLength(3)
      for (const code of codes) expect(code).toMatch(/^[A-Z2-9]{20}$/)
      const coming = page.waitForEvent('download')
      await dialog.getByRole('button', { name: 'Download CSV' }).click()
      const csv = await Bun.file(await (await coming).path()).text()
      expect(csv).toContain('id,code,amount,currency')
      for (const code of codes) expect(csv).toContain(`,${code},20,CNY`)
      await page.keyboard.press('Escape')
      await shoot(page, 'codes-made')
      expect(await seriousFindings(page)).toEqual([])
      await dialog.getByRole('button', { name: 'I have saved them' }).click()
      await page
        .getByRole('row', { name: /20\.00 Open/ })
        .nth(2)
        .waitFor()
      expect(await page.content()).not.toContain(codes[0]!)
      await context.close()
    })

    test('a member redeems one, is told why another is refused, and how money is added', async () => {
      const { page, context } = await visit(browser, gateway.url, { theme: 'dark', width: 390 })
      await signIn(page, 'mel')
      await page.getByText('Transfer to IBAN XX00 0000').waitFor()
      const link = page.getByRole('link', { name: 'Add money' })
      expect(await link.getAttribute('href')).toBe('https://pay.example/acme')
      const field = page.getByLabel('Redemption code')
      await field.fill('ABCDEFGHJKLM')
      await page.getByRole('button', { name: 'Redeem' }).click()
      await page.getByText('There is no such code. Check its letters.').waitFor()
      await field.fill(codes[0]!.toLowerCase())
      await page.getByRole('button', { name: 'Redeem' }).click()
      await page.getByText('20.00 CNY credited. The balance is now 120.00 CNY.').waitFor()
      expect(await balance()).toBe('120.00')
      await field.fill(codes[0]!)
      await page.getByRole('button', { name: 'Redeem' }).click()
      await page.getByText('This code was redeemed, has expired or was withdrawn.').waitFor()
      expect(await balance()).toBe('120.00')
      await field.scrollIntoViewIfNeeded()
      await shoot(page, 'redeem-dark-390')
      expect(await seriousFindings(page)).toEqual([])
      await context.close()
    })

    test('the list says who redeemed it; one that was not is deleted, in Chinese', async () => {
      const { page, context } = await visit(browser, gateway.url, { language: 'zh', width: 1440 })
      await signIn(page, 'fin')
      await page.goto('/console/codes')
      await page.getByRole('row', { name: /20\.00 已使用 acme/ }).waitFor()
      await shoot(page, 'codes-zh')
      expect(await seriousFindings(page)).toEqual([])
      await page.getByRole('button', { name: /^删除/ }).first().click()
      const dialog = page.getByRole('dialog', { name: '删除兑换码' })
      await dialog.getByText('金额为 20.00 CNY 的兑换码将失效').waitFor()
      await dialog.getByRole('button', { name: '删除兑换码' }).click()
      await dialog.waitFor({ state: 'hidden' })
      const { body } = await gateway.admin('GET', '/codes')
      expect(body.items).toHaveLength(2)
      await page
        .getByRole('row', { name: /未使用/ })
        .nth(1)
        .waitFor({ state: 'hidden' })
      await context.close()
    })

    test('the page is not for operators', async () => {
      const { page, context } = await visit(browser, gateway.url)
      await signIn(page, 'ops')
      expect(await page.locator('nav').getByRole('link', { name: 'Codes' }).count()).toBe(0)
      await page.goto('/console/codes')
      await page.getByRole('heading', { name: 'This page is not for your role' }).waitFor()
      await context.close()
    })
  })
}
