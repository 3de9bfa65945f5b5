// Who customers are and who sends their bills, in a real browser: an account with a real name in any
// script is made, described and found; the issuer is set.
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
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { untilTrue } from '../support/read.ts'

const config = (more = '') => `
accounts: [{ name: acme, balance: "100.00", display_name: "Acme GmbH" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
${more}`

if (chromiumPath === undefined) {
  console.error('left out: profiles in a browser (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('profiles in the console', () => {
    let gateway: TestGateway
    let browser: Browser
    let page: Page

    beforeAll(async () => {
      gateway = await startGateway({ config: config() })
      browser = await openBrowser()
      page = (await visit(browser, gateway.url)).page
      await setUp(page, gateway.output())
      await gateway.admin('POST', '/people', { name: 'fin', role: 'finance', password })
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
    })

    const account = async (name: string) => (await gateway.admin('GET', `/accounts/${name}`)).body

    test('an account gets its real name when it is made, and lists show it', async () => {
      await page.goto('/console/accounts')
      await page.getByRole('button', { name: 'New account' }).click()
      const dialog = page.getByRole('dialog', { name: 'New account' })
      await dialog.getByLabel(/^Name/).fill('huaxia')
      await dialog.getByLabel('Display name').fill('华夏影视')
      expect(await seriousFindings(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Create' }).click()
      await page.getByRole('heading', { level: 1, name: '华夏影视' }).waitFor()
      await page.goto('/console/accounts')
      await page.getByRole('row', { name: /华夏影视 huaxia/ }).waitFor()
      await page.goto('/console/bills')
      await page.getByRole('row', { name: /华夏影视 huaxia/ }).waitFor()
      await page.goto('/console/tokens')
      await page.getByRole('row', { name: /Acme GmbH acme/ }).waitFor()
    })

    test('the profile is a form: what is emptied is taken away, refusals stay on it', async () => {
      await page.goto('/console/accounts?open=huaxia')
      const drawer = page.locator('main')
      await drawer.getByRole('tab', { name: 'Profile' }).click()
      await drawer.getByLabel('Legal name').fill('华夏影视有限公司')
      await drawer.getByLabel('Address').fill('北京市朝阳区 1 号\n100020')
      await drawer.getByLabel('Tax ID').fill('91110105MA00000000')
      await drawer.getByLabel('E-mail for bills').fill('billing@huaxia.example')
      await drawer.getByLabel('Contact').fill('李雷')
      await drawer.getByRole('button', { name: 'Save profile' }).click()
      const said = page.getByRole('region', { name: 'Last action' })
      await said.getByText('The profile is saved.').waitFor()
      await shoot(page, 'account-profile')
      expect(await seriousFindings(page)).toEqual([])
      expect(await account('huaxia')).toMatchObject({
        display_name: '华夏影视',
        legal_name: '华夏影视有限公司',
        address: '北京市朝阳区 1 号\n100020',
        tax_id: '91110105MA00000000',
        email: 'billing@huaxia.example',
        contact: '李雷',
      })
      await drawer.getByLabel('Contact').fill('')
      await drawer.getByRole('button', { name: 'Save profile' }).click()
      const contact = async () => (await account('huaxia')).contact
      await untilTrue(contact, (each) => each === null)
      expect((await account('huaxia')).legal_name).toBe('华夏影视有限公司')
      await said.getByRole('button', { name: /^Undo/ }).click()
      await untilTrue(contact, (each) => each === '李雷')
      await untilTrue(
        () => drawer.getByLabel('Contact').inputValue(),
        (each) => each === '李雷',
      )
      await page.goto('/console/accounts?open=acme')
      await drawer.getByRole('tab', { name: 'Profile' }).click()
      await drawer.getByLabel('Display name').fill('Acme AG')
      await drawer.getByRole('button', { name: 'Save profile' }).click()
      await drawer.getByRole('alert').waitFor()
      expect((await account('acme')).display_name).toBe('Acme GmbH')
    })

    test('it is found by any of its names', async () => {
      await page.goto('/console/accounts')
      await page.getByLabel('Find an account').fill('有限公司')
      await page.getByRole('row', { name: /huaxia/ }).waitFor()
      await page.getByRole('row', { name: /acme/ }).waitFor({ state: 'hidden' })
      await page.keyboard.press('Escape')
      await page.goto('/console/')
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('textbox', { name: 'Search or paste an ID' }).fill('华夏')
      await page.getByRole('option', { name: 'huaxia Account · 华夏影视' }).click()
      await page.waitForURL(/accounts\?open=huaxia/)
      await page.goto('/console/tokens')
      await page.getByRole('button', { name: 'New token' }).click()
      await page.getByRole('combobox', { name: 'Account' }).fill('华夏')
      await page.getByRole('option', { name: 'huaxia · 华夏影视' }).click()
      await page.getByRole('combobox', { name: 'Account' }).click()
      await page.getByRole('option', { name: 'acme · Acme GmbH' }).waitFor()
    })

    test('finance corrects profiles and says who sends the bills', async () => {
      const { page: theirs, context } = await visit(browser, gateway.url, {
        ...{ language: 'zh', theme: 'dark', width: 390 },
      })
      await signIn(theirs, 'fin')
      await theirs.goto('/console/accounts?open=huaxia')
      await theirs.getByRole('tab', { name: '客户资料' }).click()
      await theirs.getByRole('button', { name: '保存资料' }).waitFor()
      expect(await theirs.getByLabel('法定名称').inputValue()).toBe('华夏影视有限公司')
      await theirs.goto('/console/settings')
      await theirs.getByLabel('账单上的名称').fill('网关有限公司')
      await theirs.getByLabel('地址').fill('上海市\n200000')
      await theirs.getByRole('button', { name: '保存出具方' }).click()
      await theirs.getByText('出具方已保存。').waitFor()
      await theirs.getByText('账单由谁出具').scrollIntoViewIfNeeded()
      await shoot(theirs, 'issuer-zh-dark-390')
      expect(await seriousFindings(theirs)).toEqual([])
      const { body } = await gateway.admin('GET', '/issuer')
      expect(body).toEqual({
        issuer: { name: '网关有限公司', address: '上海市\n200000' },
        source: 'api',
      })
      await context.close()
    })

    test('an issuer of the file is shown, not edited', async () => {
      const issuer = 'issuer: { name: "Example Ltd", tax_id: EX123 }'
      const declared = await startGateway({ config: config(issuer) })
      const { page: theirs, context } = await visit(browser, declared.url)
      await setUp(theirs, declared.output())
      await theirs.goto('/console/settings')
      await theirs.getByText('Example Ltd').first().waitFor()
      expect(await theirs.getByRole('button', { name: 'Save issuer' }).count()).toBe(0)
      await context.close()
      await declared.stop()
    })
  })
}
