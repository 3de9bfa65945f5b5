// Actions of the command palette, each for the roles that may do it, and the menu of each role, in a real browser.
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
  type Visit,
  visit,
} from '../support/console/browser.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'

const config = `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
`
const languages = ['en', 'zh'] as const

if (chromiumPath === undefined) {
  console.error('left out: the command palette (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('the command palette', () => {
    let gateway: TestGateway
    let browser: Browser
    let request: string

    beforeAll(async () => {
      gateway = await startGateway({ config })
      browser = await openBrowser()
      const { page, context } = await visit(browser, gateway.url)
      await setUp(page, gateway.output())
      await context.close()
      for (const [name, more] of [
        ['fin', { role: 'finance' }],
        ['ops', { role: 'operator' }],
        ['mel', { role: 'member', account: 'acme' }],
      ] as const) {
        expect((await gateway.admin('POST', '/people', { name, password, ...more })).status).toBe(
          201,
        )
      }
      const answer = await gateway.chat('hello')
      await answer.text()
      request = answer.headers.get('x-gateway-request-id')!
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
    })

    describe.each(languages)('in %s', (language) => {
      const w = (en: string, zh: string): string => (language === 'en' ? en : zh)

      const sit = async (who: string): Promise<Visit> => {
        const it = await visit(browser, gateway.url, { language })
        await signIn(it.page, who)
        return it
      }
      const search = async (page: Page, text: string) => {
        await page.keyboard.press('Control+k')
        await page.getByRole('dialog').getByRole('textbox').fill(text)
      }
      const options = (page: Page, name: string) =>
        page.getByRole('option', { name: new RegExp(`^${name}`) })
      const pick = async (page: Page, name: string) => {
        await search(page, name)
        await options(page, name).first().waitFor()
        await page.keyboard.press('Enter')
      }

      test('an administrator opens forms from anywhere', async () => {
        const { page, context, complaints } = await sit('ada')
        for (const [action, title = action] of [
          [w('New token', '新建令牌')],
          [w('New account', '新建账户')],
          [w('New channel', '新建渠道')],
          [w('Invite person', '邀请用户')],
        ] as const) {
          await pick(page, action)
          await page.getByRole('dialog', { name: title }).waitFor()
          await page.goto('/console/')
          await page.locator('main h1').waitFor()
        }
        await search(page, w('add channel', '添加 渠道'))
        await options(page, w('New channel', '新建渠道')).waitFor()
        await shoot(page, `palette-${language}`)
        expect(await seriousFindings(page)).toEqual([])
        expect(complaints).toEqual([])
        await context.close()
      })

      test('finance refunds what has the ID, and sets the price of what was found', async () => {
        const { page, context, complaints } = await sit('fin')
        await search(page, request)
        await options(page, w('Refund request', '退款：请求')).click()
        await page.getByRole('dialog', { name: w('Refund', '退款'), exact: true }).waitFor()
        expect(page.url()).toContain(request)
        await page.goto('/console/')
        await page.locator('main h1').waitFor()
        await search(page, 'txta-plus')
        await options(page, w('Set the price of txta-plus', '设置 txta-plus 的价格')).click()
        await page.getByRole('form', { name: w('New version', '新版本') }).waitFor()
        await page.goto('/console/')
        await page.locator('main h1').waitFor()
        await search(page, w('New', '新建'))
        await options(page, w('New codes', '生成兑换码')).waitFor()
        expect(await options(page, w('New account', '新建账户')).count()).toBe(0)
        expect(complaints).toEqual([])
        await context.close()
      })

      test('a member has its own actions, and no group of one page in the menu', async () => {
        const { page, context } = await sit('mel')
        for (const group of await page.locator('nav p').all()) {
          expect(await group.locator('xpath=..').getByRole('link').count()).toBeGreaterThan(1)
        }
        expect(await page.locator('nav p').count()).toBe(3)
        await search(page, request)
        await options(page, w('Open request', '打开请求')).waitFor()
        expect(await options(page, w('Refund', '退款')).count()).toBe(0)
        await page.keyboard.press('Escape')
        await pick(page, w('New token', '新建令牌'))
        await page.getByRole('dialog', { name: w('New token', '新建令牌') }).waitFor()
        await context.close()
      })

      test('theme and language are switched, and the session ends', async () => {
        const { page, context } = await sit('ops')
        await pick(page, w('Switch theme: dark', '切换主题：深色'))
        await page.locator('html[data-mantine-color-scheme=dark]').waitFor({ state: 'attached' })
        await pick(page, w('Switch language: 中文', '切换语言：English'))
        const other = w('zh-CN', 'en')
        await page.locator(`html[lang=${other}]`).waitFor({ state: 'attached' })
        await pick(page, w('退出登录', 'Sign out'))
        await page.getByLabel(/^(Password|密码)/).waitFor()
        await context.close()
      })
    })
  })
}
