// A new account by the wizard, when things go wrong: the person goes back and leaves, the gateway dies between two
// calls or before its answer arrives. Nothing is made twice, and what is left is said and made later.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page, Route } from 'playwright-core'
import {
  chromiumPath,
  openBrowser,
  seriousFindings,
  setUp,
  shoot,
  signIn,
  visit,
} from '../support/console/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

if (chromiumPath === undefined) {
  console.error('left out: a new account by the wizard (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('a new account by the wizard', () => {
    let gateway: TestGateway
    let browser: Browser
    let page: Page

    beforeAll(async () => {
      gateway = await startGateway()
      browser = await openBrowser()
      page = (await visit(browser, gateway.url, { width: 1280 })).page
      await setUp(page, gateway.output())
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
    })

    const dialog = () => page.getByRole('dialog', { name: 'New account' })
    const press = (name: string) => dialog().getByRole('button', { name, exact: true }).click()
    const begin = async (name: string) => {
      await page.goto('/console/accounts')
      await page.getByRole('button', { name: 'New account' }).click()
      await dialog().getByLabel('Name').first().fill(name)
    }
    const toLastStep = async () => {
      for (const text of ['First credit', 'E-mail addresses', 'Name of the first token']) {
        await press('Next')
        await dialog().getByLabel(text).first().waitFor()
      }
    }
    const names = async () =>
      (await gateway.admin('GET', '/accounts')).body.items.map(
        ({ name }: { name: string }) => name,
      ) as string[]
    const itemsOf = async (path: string) =>
      (await gateway.admin('GET', path)).body.items as unknown[]

    test('steps are left and come back as they were; who leaves has made nothing', async () => {
      await begin('fjord')
      await dialog().getByLabel('Display name').fill('Fjord Films AS')
      await press('Next')
      await dialog().getByLabel('First credit').fill('5.00')
      expect(await seriousFindings(page)).toEqual([])
      await press('Back')
      expect(await dialog().getByLabel('Display name').inputValue()).toBe('Fjord Films AS')
      await press('Next')
      expect(await dialog().getByLabel('First credit').inputValue()).toBe('5.00')
      await press('Next')
      await dialog().getByRole('combobox').fill('nobody')
      await page.keyboard.press('Enter')
      await dialog().getByText('Not an e-mail address: nobody').waitFor()
      expect(await dialog().getByRole('button', { name: 'Create' }).isDisabled()).toBe(true)
      await press('Cancel')
      await dialog().waitFor({ state: 'hidden' })
      expect(await names()).toEqual(['acme'])
    })

    test('a gateway that dies after the account: the rest is said, and made by the same button', async () => {
      await begin('fjord')
      await toLastStep()
      await press('Back')
      await dialog().getByRole('combobox').fill('ada@fjord.example')
      await page.keyboard.press('Enter')
      await press('Next')
      await dialog().getByLabel('Name of the first token').fill('website')
      await page.route('**/admin/v1/tokens', (route) => route.abort())
      await press('Create')
      await dialog().getByText('Not done yet: website').waitFor()
      // Without a mail server the link is handed on.
      await dialog().getByText('Hand this link to ada@fjord.example; it works once.').waitFor()
      await shoot(page, 'account-wizard-broken')
      expect(await seriousFindings(page)).toEqual([])
      await page.unroute('**/admin/v1/tokens')
      await press('Try again')
      const secret = dialog().getByLabel('Copy the secret now')
      expect(await secret.textContent()).toMatch(/^sk-/)
      expect(await dialog().getByText('Not done yet').count()).toBe(0)
      expect(await itemsOf('/invitations')).toHaveLength(1)
      expect(await itemsOf('/tokens?account=fjord')).toHaveLength(1)
      await shoot(page, 'account-wizard-done')
      await press('Open the account')
      await page.getByRole('heading', { level: 1, name: 'fjord' }).waitFor()
    })

    test('an account whose answer was lost is taken as made, one of another person is not', async () => {
      const lose = async (route: Route) => {
        if (route.request().method() !== 'POST') return route.continue()
        await route.fetch()
        return route.abort()
      }
      await begin('lost')
      await page.route('**/admin/v1/accounts', lose)
      await press('Create')
      await dialog().getByRole('alert').waitFor()
      await page.unroute('**/admin/v1/accounts', lose)
      await press('Create')
      await page.getByRole('heading', { level: 1, name: 'lost' }).waitFor()
      expect((await names()).toSorted()).toEqual(['acme', 'fjord', 'lost'])
      await begin('lost')
      await press('Create')
      await dialog()
        .getByText(/already|exists/)
        .first()
        .waitFor()
    })

    test('on a phone, in the dark and in Chinese', async () => {
      const look = { language: 'zh', theme: 'dark', width: 390 } as const
      const { page: small, context } = await visit(browser, gateway.url, look)
      await signIn(small)
      await small.goto('/console/accounts')
      await small.getByRole('button', { name: '新建账户' }).click()
      const form = small.getByRole('dialog', { name: '新建账户' })
      await form.getByLabel('显示名称').waitFor()
      await shoot(small, 'account-wizard-zh-dark-390')
      expect(await seriousFindings(small)).toEqual([])
      await context.close()
    })
  })
}
