// Alerts in the console, by the mouse: a rule that fires, a secret that is shown once, alerts that are
// resolved by hand and one that only its cause resolves.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import {
  chromiumPath,
  goTo,
  openBrowser,
  seriousFindings,
  setUp,
  shoot,
  signIn,
  untilPage,
  type Visit,
  visit,
} from '../support/console/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type NoticeReceiver, startReceiver } from '../support/notices.ts'
import { untilTrue } from '../support/read.ts'

const languages = {
  en: {
    ...{ alerts: 'Alerts', subscriptions: 'Subscriptions', add: 'New subscription' },
    ...{ rate: 'Error rate (by rules)', name: 'Name', above: 'Above (%)', min: 'Min. requests' },
    ...{ create: 'Create', done: 'Done', test: 'Send test', resolve: 'Resolve' },
    ...{ requests: 'Requests' },
    ...{
      delivered: 'The test was delivered',
      deliveries: 'Deliveries',
      disable: 'Disable',
      disabled: 'Disabled',
    },
    ...{ delete: 'Delete', confirm: 'Delete subscription', model: 'txta-plus' },
    rule: 'Model txta-plus: above 50% within 5 min, at least 4 requests',
  },
  zh: {
    ...{ alerts: '告警', subscriptions: '通知订阅', add: '新建订阅' },
    ...{ rate: '错误率（按规则）', name: '名称', above: '高于（%）', min: '最少请求数' },
    ...{ create: '新建', done: '完成', test: '发送测试', resolve: '处理完毕' },
    ...{ requests: '查看请求' },
    ...{ delivered: '测试已送达', deliveries: '投递记录', disable: '停用', disabled: '已停用' },
    ...{ delete: '删除', confirm: '删除订阅', model: 'txta-turbo' },
    rule: '模型 txta-turbo：5 分钟内高于 50%，至少 4 个请求',
  },
} as const

if (chromiumPath === undefined) {
  console.error('left out: alerts in the console (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('alerts in the console', () => {
    let gateway: TestGateway
    let receiver: NoticeReceiver
    let browser: Browser
    let first: Visit

    beforeAll(async () => {
      receiver = startReceiver()
      const env = { GATEWAY_EGRESS_ALLOW: '127.0.0.1/32', GATEWAY_SANDBOX: 'on' }
      gateway = await startGateway({ env })
      browser = await openBrowser()
      first = await visit(browser, gateway.url)
      await setUp(first.page, gateway.output())
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
      receiver.stop()
    })

    const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

    test('one is resolved by a person, and one by its cause alone', async () => {
      const { page } = first
      const lost = await gateway.chat('[[sim:tokens=60]] [[sim:cut=20]]', { stream: true })
      await lost.text()
      await gateway.admin('PUT', '/models/unpriced-1', { kind: 'text', interfaces: ['chat'] })
      await gateway.admin('POST', '/channels', {
        ...{ name: 'other', keys: ['k'], models: { 'unpriced-1': '*' } },
        protocols: { chat: 'http://127.0.0.1:9/v1' },
      })
      const open = async () => (await gateway.admin('GET', '/alerts')).body.items
      await untilTrue(open, ({ length }) => length === 2)
      await goTo(page, '/console/alerts')
      await page.getByText('Missing price').waitFor()
      // Somebody looks after one: it stays open, and is not counted.
      await untilPage(page, 'document.title.startsWith("(2) ")')
      await button(page, 'Acknowledge').first().click()
      await page.getByText(/^ada looks after it/).waitFor()
      await untilPage(page, 'document.title.startsWith("(1) ")')
      expect(await open()).toHaveLength(2)
      // The loss can be resolved, the missing price cannot.
      await button(page, 'Resolve').click()
      await button(page, 'Resolve').waitFor({ state: 'hidden' })
      const [missing, ...others] = await open()
      expect([missing.kind, others]).toEqual(['missing_price', []])
      const refused = await gateway.admin('POST', `/alerts/${missing.id}/resolve`)
      expect(refused.status).toBe(409)
      expect(refused.body.error.message).toContain('still has no price')
      await page.getByRole('tab', { name: 'History' }).click()
      const row = page.getByRole('row').filter({ hasText: 'Loss' })
      await row.waitFor()
      expect(await row.textContent()).toContain('ada')
      await page.getByRole('tab', { name: 'Open' }).click()
      await page.getByRole('link', { name: 'Set price' }).click()
      await page.waitForURL(/\/console\/prices\?open=unpriced-1/)
      await page.getByRole('dialog').getByText('unpriced-1').first().waitFor()
      await gateway.admin('POST', '/prices', {
        ...{ model: 'unpriced-1', unit: 'token', per_million: { input: '1', output: '1' } },
      })
      await untilTrue(open, ({ length }) => length === 0)
      const { items } = (await gateway.admin('GET', '/alerts?resolved=true')).body
      const by = Object.fromEntries(
        items.map((each: { kind: string; resolved_by: string | null }) => [
          each.kind,
          each.resolved_by,
        ]),
      )
      expect(by).toEqual({ loss: 'ada', missing_price: null })
    })

    test('one that was acknowledged and occurs again asks for attention again, and says so', async () => {
      const { page } = first
      const lose = async () =>
        (await gateway.chat('[[sim:tokens=60]] [[sim:cut=20]]', { stream: true })).text()
      const open = async () => (await gateway.admin('GET', '/alerts')).body.items
      await lose()
      await goTo(page, '/console/alerts')
      await button(page, 'Acknowledge').click()
      await page.getByText(/^ada looks after it/).waitFor()
      await untilPage(page, 'document.title === "Alerts · Model Gateway"')
      await lose()
      await page.getByText(/^Occurred again .*, after it was acknowledged$/).waitFor()
      await untilPage(page, 'document.title.startsWith("(1) ")')
      const [alert] = await open()
      expect(alert).toMatchObject({ kind: 'loss', times: 2, acknowledged_by: null })
      await button(page, 'Acknowledge').click()
      await page.getByText(/^ada looks after it/).waitFor()
      expect((await open())[0].recurred_at).toBeNull()
      await button(page, 'Resolve').click()
      await button(page, 'Resolve').waitFor({ state: 'hidden' })
    })

    test.each(['en', 'zh'] as const)('a rule is made in %s, and it fires', async (language) => {
      const t = languages[language]
      const { page, context, complaints } = await visit(browser, gateway.url, { language })
      await signIn(page)
      await page.locator('nav').getByRole('link', { name: t.alerts }).click()
      await page.getByRole('tab', { name: t.subscriptions }).click()
      await button(page, t.add).click()
      const form = page.getByRole('dialog')
      await form.getByLabel('URL').fill(receiver.url(`/${language}`))
      await form.getByLabel(t.rate).click()
      await form.getByRole('combobox', { name: t.name }).click()
      await page.getByRole('option', { name: t.model, exact: true }).click()
      await form.getByLabel(t.above).fill('50')
      await form.getByLabel(t.min).fill('4')
      await shoot(page, `alert-rule-${language}`)
      expect(await seriousFindings(page)).toEqual([])
      await button(page, t.create).click()
      // A secret that is shown once stays until it is put away.
      const secret = page.locator('pre', { hasText: 'whsec_' })
      await secret.waitFor()
      await page.keyboard.press('Escape')
      receiver.knows(`/${language}`, (await secret.textContent()) ?? '')
      await button(page, t.done).click()
      await secret.waitFor({ state: 'detached' })

      const row = page.locator('[role=row][data-clickable]', { hasText: `/${language}` })
      await row.click()
      await page.getByText(t.rule).waitFor()
      await button(page, t.test).click()
      await page.getByText(t.delivered).waitFor()
      for (let n = 0; n < 5; n++) {
        const failed = await gateway.chat('[[sim:status=500]]', { model: t.model })
        expect(failed.status).toBeGreaterThan(499)
      }
      const deliveries = page.getByRole('table', { name: t.deliveries })
      await deliveries.getByText(t.rate).waitFor({ timeout: 90_000 })
      const fired = await receiver.first(
        ({ type, path }) => type === 'error_rate' && path === `/${language}`,
      )
      expect(fired.data).toMatchObject({ model: t.model, rate: 1 })
      expect(fired.data.total).toBeGreaterThan(3)
      await shoot(page, `alert-deliveries-${language}`)
      const tab = await context.newPage()
      await tab.goto(`${gateway.url}/console/alerts`)
      const requests = tab.locator('main').getByRole('link', { name: t.requests, exact: true })
      await requests.waitFor()
      expect(await button(tab, t.resolve).count()).toBe(0)
      await shoot(tab, `alert-open-${language}`)
      expect(await seriousFindings(tab)).toEqual([])
      await requests.click()
      await tab.waitForURL(new RegExp(`/console/requests\\?model=${t.model}$`))
      await tab.close()
      expect(await seriousFindings(page)).toEqual([])

      await button(page, t.disable).click()
      await page.getByRole('dialog').getByText(t.disabled, { exact: true }).waitFor()
      await button(page, t.delete).click()
      await button(page, t.confirm).click()
      await row.waitFor({ state: 'detached' })
      expect((await gateway.admin('GET', '/webhooks')).body.items).toEqual([])
      // The alert ends with its rule.
      const left = async () => (await gateway.admin('GET', '/alerts?kind=error_rate')).body.items
      await untilTrue(left, ({ length }) => length === 0)
      expect(receiver.forged).toEqual([])
      expect(complaints).toEqual([])
      await context.close()
    })
  })
}
