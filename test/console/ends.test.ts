// What the console says when something ends: the gateway does not answer, a session is over, a page is not
// there or not for this person, a link is used up, a field is wrong, an answer takes long.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import {
  chromiumPath,
  openBrowser,
  password,
  seriousFindings,
  setUp,
  signIn,
  visit,
} from '../support/console/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

const words = {
  en: {
    down: /^The gateway does not answer\./,
    next: /Trying again in \d s\./,
    now: 'Try now',
    ended: 'Your session ended',
    missing: 'This page does not exist',
    forbidden: 'This page is not for your role',
    unusable: 'This link cannot be used',
    slow: 'Still waiting for the gateway…',
    prices: 'Prices',
  },
  zh: {
    down: /^网关没有响应。/,
    next: /\d 秒后重试。/,
    now: '立即重试',
    ended: '会话已结束',
    missing: '页面不存在',
    forbidden: '你的角色无法访问此页面',
    unusable: '链接无法使用',
    slow: '仍在等待网关响应…',
    prices: '价格',
  },
} as const

if (chromiumPath === undefined) {
  console.error('left out: the ends of the console (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe.each(['en', 'zh'] as const)('in %s', (language) => {
    const w = words[language]
    let gateway: TestGateway
    let browser: Browser
    let page: Page

    beforeAll(async () => {
      gateway = await startGateway()
      browser = await openBrowser()
      page = (await visit(browser, gateway.url, { language })).page
      await setUp(page, gateway.output())
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
    })

    const title = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor()

    test('a path that does not exist has a page that leads home', async () => {
      await page.goto('/console/no/such/page')
      await title(w.missing)
      await page.getByText('/console/no/such/page').waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await page.locator('main').getByRole('button').click()
      await page.waitForURL('**/console/')
    })

    test('a page for another role says for which one the person is signed in', async () => {
      const more = { password, role: 'member', account: 'default' }
      await gateway.admin('POST', '/accounts', { name: 'default' })
      const made = await gateway.admin('POST', '/people', { name: 'mel', ...more })
      expect(made.status).toBe(201)
      const other = (await visit(browser, gateway.url, { language })).page
      await signIn(other, 'mel')
      await other.goto('/console/people')
      await other.getByRole('heading', { level: 1, name: w.forbidden }).waitFor()
      expect(await seriousFindings(other)).toEqual([])
      await other.context().close()
    })

    test('a link that does not work says what to do', async () => {
      const other = (await visit(browser, gateway.url, { language })).page
      await other.goto('/console/invitation#inv_nothing')
      await other.getByRole('heading', { level: 1, name: w.unusable }).waitFor()
      await other.getByRole('button', { name: /^(To the sign-in|前往登录)$/ }).click()
      await other.getByLabel(/^(Password|密码)/).waitFor()
      await other.context().close()
    })

    test('a name is judged while it is typed, with one that would be taken', async () => {
      await page.goto('/console/accounts')
      await page.getByRole('button', { name: /^(New account|新建账户)$/ }).click()
      const field = page.getByRole('dialog').getByRole('textbox').first()
      await field.fill('Fjord Films AS')
      await page.getByText(/fjord-films-as/).waitFor()
      expect(await field.getAttribute('aria-invalid')).toBe('true')
      expect(await seriousFindings(page)).toEqual([])
      await field.fill('fjord-films-as')
      await page.getByText(/fjord-films-as/).waitFor({ state: 'detached' })
      expect(await field.getAttribute('aria-invalid')).not.toBe('true')
    })

    test('an answer that takes long gets a word', async () => {
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      await page.route('**/admin/v1/accounts?**', async (route) => {
        await held
        await route.continue()
      })
      await page.goto('/console/accounts')
      await page.getByText(w.slow).first().waitFor()
      release()
      await page.getByText(w.slow).first().waitFor({ state: 'detached' })
      await page.unroute('**/admin/v1/accounts?**')
    })

    test('a session that is over says so, and the page comes back after the sign-in', async () => {
      await page.goto('/console/prices')
      await title(w.prices)
      await page.context().clearCookies()
      await page.reload()
      await page.getByText(w.ended).waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await page.getByLabel(/^(Name|用户名)/).fill('ada')
      await page.getByLabel(/^(Password|密码)/).fill(password)
      await page.getByRole('button', { name: /^(Sign in|登录)$/ }).click()
      await title(w.prices)
      expect(new URL(page.url()).pathname).toBe('/console/prices')
    })

    test('a gateway that hangs is told of like one that is down, and goes on', async () => {
      await page.goto('/console/accounts')
      await page.getByRole('row', { name: /default/ }).waitFor()
      process.kill(gateway.pid, 'SIGSTOP')
      const banner = page.getByRole('region', { name: w.down })
      try {
        await page.getByRole('link', { name: w.prices }).click()
        await banner.getByText(w.next).waitFor()
        expect(await seriousFindings(page)).toEqual([])
      } finally {
        process.kill(gateway.pid, 'SIGCONT')
      }
      await banner.waitFor({ state: 'detached' })
      await page.getByRole('row', { name: /txta-plus/ }).waitFor()
    })

    test('a gateway that does not answer is asked again; what was there stays', async () => {
      await page.goto('/console/accounts')
      await page.getByRole('row', { name: /default/ }).waitFor()
      await page.evaluate('globalThis.mark = "not loaded again"')
      const port = Number(new URL(gateway.url).port)
      await gateway.stop('SIGKILL')
      await page.getByRole('link', { name: w.prices }).click()
      const banner = page.getByRole('region', { name: w.down })
      await banner.getByText(w.next).waitFor()
      await banner.getByRole('button', { name: w.now }).waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await page.goBack()
      await page.getByRole('row', { name: /default/ }).waitFor()
      gateway = await startGateway({ port, dataDir: gateway.dataDir })
      await banner.waitFor({ state: 'detached' })
      expect(await page.evaluate('globalThis.mark')).toBe('not loaded again')
    })
  })
}
