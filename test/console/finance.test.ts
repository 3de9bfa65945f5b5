// Finance in a real browser: costs that are made, imported and withdrawn, margins with a loss, and the bills of a month
// as an archive and by e-mail. One gateway.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { monthAt, monthPlus } from '../../src/lib/text/month.ts'
import { newPlace, type Place } from '../../src/store/test-stores.ts'
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
import { openPast } from '../support/data/past-months.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { type MailServerForTests, startMailServer } from '../support/mail-server.ts'
import { unzip } from '../support/unzip.ts'

const config = `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
exchange: { USD: "7.10" }
`
const month = monthPlus(monthAt(Date.now()), -2)
const film = { kind: 'charge', model: 'vfa-2.7-t2v', unit: 'video_second', tier: '720p' } as const
const past = [
  { month, kind: 'credit', amountNanos: 50_000_000_000n, note: 'wire' },
  { month, ...film, quantity: 5, amountNanos: -3_000_000_000n },
  { month: monthPlus(month, 1), ...film, quantity: 5, amountNanos: -3_000_000_000n },
] as const

if (chromiumPath === undefined) {
  console.error('left out: finance in a browser (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('finance in the console', () => {
    let place: Place
    let server: MailServerForTests
    let gateway: TestGateway
    let browser: Browser
    let page: Page

    beforeAll(async () => {
      place = await newPlace('sqlite')
      const store = await place.open()
      for (const name of ['lee', 'kim']) {
        const id = await openPast(store, name, past)
        const email = `${name}@books.example`
        await store.tx((tx) =>
          tx.updateTable('accounts').set({ email }).where('id', '=', id).execute(),
        )
      }
      await store.close()
      server = await startMailServer({ hideSTARTTLS: true })
      const env = {
        GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
        GATEWAY_SMTP_URL: `smtp://127.0.0.1:${server.port}`,
        GATEWAY_SMTP_FROM: 'bills@mail.example',
        GATEWAY_SANDBOX: 'on',
      }
      gateway = await startGateway({ config, dataDir: place.options.dataDir, env })
      browser = await openBrowser()
      const first = await visit(browser, gateway.url)
      await setUp(first.page, gateway.output())
      await first.context.close()
      for (const role of ['finance', 'operator']) {
        await gateway.admin('POST', '/people', { name: `the-${role}`, role, password })
      }
      page = (await visit(browser, gateway.url, { width: 1440 })).page
      await signIn(page, 'the-finance')
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
      await server.stop()
      await place.remove()
    })

    const costs = async () =>
      (await gateway.admin('GET', '/costs')).body.items as { model: string; state: string }[]
    const menu = (name: string) =>
      page.locator('nav').getByRole('link', { name, exact: true }).click()

    test('a cost is made in another currency, a list is imported, and a coming one is withdrawn', async () => {
      await menu('Costs')
      await page.getByText('No costs yet.').waitFor()
      await page.getByText('7.10 CNY for 1 USD').waitFor()
      await page.getByRole('button', { name: 'New version' }).click()
      const dialog = page.getByRole('dialog', { name: 'New version' })
      const choose = async (label: string, name: string) => {
        await dialog.getByRole('combobox', { name: label }).click()
        await page.getByRole('option', { name, exact: true }).click()
      }
      await choose('Channel', 'sandbox')
      await choose('Model', 'txta-plus')
      await choose('Currency', 'USD')
      await dialog.getByLabel('Input', { exact: true }).fill('100')
      await dialog.getByLabel('Output', { exact: true }).fill('100')
      await shoot(page, 'cost-new')
      expect(await seriousFindings(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Activate' }).click()
      await dialog.waitFor({ state: 'hidden' })
      await page.getByRole('row', { name: /sandbox.*txta-plus.*In force.*100\.00 USD/ }).waitFor()
      await page.getByRole('button', { name: 'Import' }).click()
      const loading = page.getByRole('dialog', { name: 'Import' })
      const buffer = Buffer.from(`costs:
  - { channel: sandbox, model: vfa-2.7-t2v, unit: video_second, per_second: { 720p: "0.90", 1080p: "1" } }
  - { channel: sandbox, model: txta-turbo, unit: token, per_million: { input: "9", output: "9" }, effective_from: "2031-03-04T00:00:00Z" }
`)
      await loading
        .locator('input[type=file]')
        .setInputFiles({ name: 'costs.yaml', mimeType: 'application/yaml', buffer })
      await loading.getByRole('button', { name: 'Review' }).click()
      await loading.getByText('New: 2. Unchanged: 0.').waitFor()
      expect(await costs()).toHaveLength(1)
      await loading.getByRole('button', { name: 'Save' }).click()
      await loading.waitFor({ state: 'hidden' })
      await page.getByRole('button', { name: 'Withdraw sandbox txta-turbo' }).click()
      const question = page.getByRole('dialog', { name: 'Withdraw cost' })
      await question.getByRole('button', { name: 'Withdraw cost' }).click()
      await question.waitFor({ state: 'hidden' })
      expect((await costs()).map(({ model }) => model).toSorted()).toEqual([
        'txta-plus',
        'vfa-2.7-t2v',
      ])
      await shoot(page, 'costs')
      expect(await seriousFindings(page)).toEqual([])
    })

    test('margins and costs are whole on a phone, in the dark and in Chinese; a loss is marked', async () => {
      expect((await gateway.chat('hello')).status).toBe(200)
      const body = { model: 'txta-turbo', messages: [{ role: 'user', content: 'hello' }] }
      expect((await gateway.post('/v1/chat/completions', body)).status).toBe(200)
      const {
        page: small,
        context,
        complaints,
      } = await visit(browser, gateway.url, {
        ...{ language: 'zh', theme: 'dark', width: 390 },
      })
      await signIn(small, 'the-operator')
      await small.goto('/console/margins')
      await small.getByText('亏损').first().waitFor()
      await shoot(small, 'margins-phone')
      expect(await seriousFindings(small)).toEqual([])
      await small.goto('/console/costs')
      await small.getByText('生效中').first().waitFor()
      // Operators read costs; finance changes them.
      expect(await small.getByRole('button', { name: '新增版本' }).count()).toBe(0)
      await shoot(small, 'costs-phone')
      expect(await seriousFindings(small)).toEqual([])
      expect(complaints).toEqual([])
      await context.close()
    })

    test('the bills of a month are saved as one archive and sent with progress; one is sent again', async () => {
      expect((await gateway.admin('POST', '/bills/close-all', { month })).body.closed).toBe(2)
      await page.goto(`/console/bills?month=${month}`)
      const saving = page.waitForEvent('download')
      await page.getByRole('link', { name: 'All bills (ZIP with CSV)' }).click()
      const file = await saving
      expect(file.suggestedFilename()).toBe(`bills-${month}.zip`)
      const names = [...unzip(await Bun.file((await file.path())!).bytes()).keys()]
      expect(names).toContain(`bills-${month}.csv`)
      expect(names).toHaveLength(3)
      server.refuse = (at, to) =>
        at === 'recipient' && to.startsWith('kim')
          ? { status: 550, text: 'no such box' }
          : undefined
      await page.getByRole('button', { name: 'Send bills' }).click()
      const dialog = page.getByRole('dialog', { name: `Send the bills of ${month}` })
      await dialog.getByText('Sent: 0 of 2. Left: 2.').waitFor()
      await dialog.getByRole('button', { name: 'Send bills' }).click()
      await dialog.getByText('Sent: 1 of 2. Left: 0. Failed: 1.').waitFor()
      await dialog.getByRole('row', { name: /kim.*no such box/ }).waitFor()
      await shoot(page, 'bills-sent')
      expect(await seriousFindings(page)).toEqual([])
      server.refuse = () => undefined
      await dialog.getByRole('button', { name: 'Send bills' }).click()
      await dialog.getByText('Sent: 2 of 2.').waitFor()
      expect(await dialog.getByRole('button', { name: 'Send bills' }).isDisabled()).toBe(true)
      expect(server.mails).toHaveLength(2)
      await page.goto(`/console/bills?open=${encodeURIComponent(`${month} lee`)}`)
      await page.getByRole('button', { name: 'Send by e-mail' }).click()
      const question = page.getByRole('dialog', { name: 'Send by e-mail' })
      await question.getByRole('button', { name: 'Send by e-mail' }).click()
      await page.getByText('Sent to lee@books.example.').waitFor()
      expect(server.mails.map(({ to }) => to.join()).toSorted()).toEqual([
        ...['kim@books.example', 'lee@books.example', 'lee@books.example'],
      ])
    })
  })
}
