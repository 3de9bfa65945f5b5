// What is wrong comes first, in a real browser: a channel that is down is named on top of the overview, in
// the menu and in the title; it is taken out there, and brought back.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Locator, Page } from 'playwright-core'
import {
  chromiumPath,
  goTo,
  openBrowser,
  password,
  seriousFindings,
  setUp,
  shoot,
  signIn,
  type Visit,
  visit,
} from '../support/console/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/read.ts'
import { jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

if (chromiumPath === undefined) {
  console.error('left out: problems in a browser (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('what is wrong comes first', () => {
    let gateway: TestGateway
    let upstream: TestUpstream
    let browser: Browser
    let it: Visit

    const alerts = async () => (await gateway.admin('GET', '/alerts')).body.items as unknown[]

    beforeAll(async () => {
      upstream = startUpstream(() =>
        jsonReply({ error: { message: 'Incorrect API key provided' } }, { status: 401 }),
      )
      gateway = await startGateway({ env: { GATEWAY_EGRESS_ALLOW: '127.0.0.1/32' } })
      browser = await openBrowser()
      it = await visit(browser, gateway.url)
      await setUp(it.page, gateway.output())
      await gateway.admin('POST', '/people', { name: 'fin', role: 'finance', password })
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
      await upstream.stop()
    })

    test('nothing is said while nothing is wrong', async () => {
      const { page } = it
      await page.goto('/console/')
      await page.getByText('No open alerts').waitFor()
      expect(await page.getByRole('region', { name: 'What is wrong' }).count()).toBe(0)
      expect(await page.title()).toBe('Overview · Model Gateway')
    })

    test('a channel that is down is named, counted, taken out and brought back', async () => {
      const made = await gateway.admin('POST', '/channels', {
        ...{ name: 'azure-backup', keys: ['upk-0123456789abcdef'], priority: 50 },
        ...{ protocols: { chat: `${upstream.url}/v1` }, models: { 'txta-plus': '*' } },
      })
      expect(made.status).toBe(201)
      await until('an alert', async () => {
        await (await gateway.chat('hello')).text()
        return (await alerts()).length > 0 || undefined
      })
      const { page } = it
      await page.reload()
      const strip = page.getByRole('region', { name: 'What is wrong' })
      await strip.getByText(/^azure-backup is down since/).waitFor()
      await page.getByRole('link', { name: 'Alerts 1', exact: true }).waitFor()
      await until('the title', async () =>
        (await page.title()) === '(1) Overview · Model Gateway' ? true : undefined,
      )
      const box = await strip.boundingBox()
      expect(box!.y).toBeLessThan(200)
      await shoot(page, 'problems')
      expect(await seriousFindings(page)).toEqual([])
      await strip.getByRole('button', { name: 'Take out' }).click()
      await strip.getByText('azure-backup gets no new requests.').waitFor()
      expect((await gateway.admin('GET', '/channels/azure-backup')).body.disabled).toBe(true)
      await strip.getByRole('button', { name: 'Bring back' }).click()
      await strip.getByText('azure-backup gets no new requests.').waitFor({ state: 'hidden' })
      expect((await gateway.admin('GET', '/channels/azure-backup')).body.disabled).toBe(false)
    })

    test('finance reads it on a phone, in Chinese, and has no button', async () => {
      await until('an alert', async () => {
        await (await gateway.chat('hello')).text()
        return (await alerts()).length > 0 || undefined
      })
      const look = { language: 'zh', theme: 'dark', width: 390 } as const
      const { page, context } = await visit(browser, gateway.url, look)
      await signIn(page, 'fin')
      const strip = page.getByRole('region', { name: '当前问题' })
      await strip.getByText('渠道“azure-backup”不可用：所有密钥均被拒绝').waitFor()
      await page.getByRole('link', { name: '1 条未处理告警' }).waitFor()
      expect(await strip.getByRole('button').count()).toBe(0)
      await shoot(page, 'problems-zh-dark-390')
      expect(await seriousFindings(page)).toEqual([])
      await context.close()
    })

    /** Every word that a channel's health can have. */
    const words =
      /^(Good|Down|Key rejected|Degraded|Blocked|Failing|Probing|Taken out|Test failed|No calls yet)$/
    const wordsOf = async (page: Page): Promise<string[]> => {
      const shown = async (box: Locator) => (await box.getByText(words).first().textContent()) ?? ''
      await goTo(page, '/console/channels')
      const inList = await shown(page.getByRole('row').filter({ hasText: 'azure-backup' }))
      await page.getByRole('row').filter({ hasText: 'azure-backup' }).click()
      const inDrawer = await shown(page.getByRole('dialog', { name: 'azure-backup' }))
      await goTo(page, '/console/')
      const onOverview = page.locator('tr, [role=row], li').filter({ hasText: 'azure-backup' })
      return [inList, inDrawer, await shown(onOverview.locator('.health-link').first())]
    }

    test('its health is one word in list, drawer and overview, also after a restart', async () => {
      const { page } = it
      const [before, ...others] = await wordsOf(page)
      expect(['Down', 'Key rejected']).toContain(before!)
      expect(others).toEqual([before!, before!])
      await page.getByRole('link', { name: 'Alerts 1', exact: true }).waitFor()

      const port = Number(new URL(gateway.url).port)
      await gateway.stop()
      const env = { GATEWAY_EGRESS_ALLOW: '127.0.0.1/32' }
      gateway = await startGateway({ port, dataDir: gateway.dataDir, env })
      // A page that was open shows for a moment what the gateway said before.
      await page.reload()
      const [after, ...same] = await wordsOf(page)
      expect(['Down', 'Key rejected']).toContain(after!)
      expect(same).toEqual([after!, after!])
      await page.getByRole('link', { name: 'Alerts 1', exact: true }).waitFor()
      const strip = page.getByRole('region', { name: 'What is wrong' })
      await strip.getByText(/^azure-backup is down since/).waitFor()
    })

    test('the drawer names the last errors with their times, each with its request', async () => {
      const { page } = it
      await goTo(page, '/console/channels?open=azure-backup')
      const errors = page.getByRole('dialog').getByRole('region', { name: 'Last errors' })
      const link = errors.getByRole('link').first()
      await link.waitFor()
      expect(await errors.textContent()).toMatch(/401|Incorrect API key|rejected/)
      const time = link.locator('time')
      expect(Date.parse((await time.getAttribute('datetime')) ?? '')).toBeGreaterThan(0)
      await link.click()
      await page.waitForURL(/\/console\/requests\?open=req_/)
      await page.getByRole('dialog').filter({ hasText: 'azure-backup' }).waitFor()
    })
  })
}
