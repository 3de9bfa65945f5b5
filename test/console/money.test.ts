// The money pages in a real browser: a price from draft to version, a month closed and taken along, a
// statement line by line, and a list exported to its file. One gateway with a past serves all of it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { monthAt, monthBounds, monthPlus } from '../../src/lib/text/month.ts'
import { insertPrice } from '../../src/store/catalog/prices.ts'
import { openStore } from '../../src/store/index.ts'
import { aRequest, charged } from '../../src/store/test-stores.ts'
import {
  chromiumPath,
  openBrowser,
  seriousFindings,
  setUp,
  shoot,
  type Visit,
  visit,
} from '../support/console/browser.ts'
import { switchToEnglish } from '../support/console/menu.ts'
import { openPast } from '../support/data/past-months.ts'
import { root, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'

const thisMonth = monthAt(Date.now())
const lastMonth = monthPlus(monthAt(Date.now()), -1)
const monthBefore = monthPlus(lastMonth, -1)
const charges = 40

if (chromiumPath === undefined) {
  console.error('left out: the money pages in a browser (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('the money pages', () => {
    let gateway: TestGateway
    let browser: Browser
    let first: Visit
    let chinese: Visit

    beforeAll(async () => {
      const dataDir = tempDir()
      await fillPast(dataDir)
      gateway = await startGateway({ dataDir })
      for (const content of ['one', 'two', 'three']) await (await gateway.chat(content)).text()
      browser = await openBrowser()
      first = await visit(browser, gateway.url, { language: 'zh' })
      await setUp(first.page, gateway.output())
      await switchToEnglish(first.page)
      chinese = await visit(browser, gateway.url, { language: 'zh', theme: 'dark', width: 1440 })
      await chinese.context.addCookies(await first.context.cookies())
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
    })

    const versions = async (model: string) =>
      (await gateway.admin('GET', `/prices?model=${model}`)).body.items as {
        id: string
        per_million: { input: string; output: string }
        current: boolean
        effective_from: string
      }[]

    test('a price is edited, tried on last month, and comes into force when it should', async () => {
      const { page } = first
      const before = await versions('txta-plus')
      await page.goto('/console/prices?open=txta-plus')
      await page.getByRole('button', { name: 'New version' }).click()
      const form = page.getByRole('form', { name: 'New version' })
      await form.getByLabel('Input', { exact: true }).fill('1.6')
      await form.getByText('+ "input": "1.6",').waitFor()
      await form.getByRole('button', { name: 'Preview against last month' }).click()
      const preview = page.getByRole('table', { name: `${lastMonth} at the new prices` })
      // 30 calls of 500 and 300 tokens: 30 × (500 × 1.6 + 300 × 2) / 1,000,000.
      const row = preview.getByRole('row', { name: /acme-old txta-plus/ })
      expect(await row.textContent()).toBe('acme-oldtxta-plus0.03 CNY0.04 CNY0.01 CNY')
      await shoot(page, 'price-preview')
      expect(await seriousFindings(page)).toEqual([])
      await form.getByLabel(/^Effective from/).fill('2099-01-02T03:04')
      await form.getByRole('button', { name: 'Schedule' }).click()
      const table = page.getByRole('table', { name: 'Versions' })
      await table.getByText('scheduled').waitFor()
      await shoot(page, 'price-versions')
      const after = await versions('txta-plus')
      const coming = after.find(({ id }) => before.every((old) => old.id !== id))
      expect(coming).toMatchObject({ current: false, per_million: { input: '1.60' } })
      expect(coming!.effective_from).toMatch(/^2099-01-0/)
      expect(after.filter(({ id }) => id !== coming!.id)).toEqual(before)
    })

    test('a list of prices is looked at before it is saved, whether from a file or by per cent', async () => {
      const { page } = first
      await page.goto('/console/prices')
      await page.getByRole('button', { name: 'Import prices' }).click()
      const dialog = page.getByRole('dialog', { name: 'Import prices' })
      await dialog.locator('input[type=file]').setInputFiles({
        name: 'prices.yaml',
        mimeType: 'application/yaml',
        buffer: Buffer.from(
          'prices:\n- { model: txta-turbo, unit: token, per_million: { input: "9.00", output: "18.00" } }\n',
        ),
      })
      await dialog.getByRole('button', { name: 'Review changes' }).click()
      await dialog.getByText('New versions: 1. Unchanged: 0.').waitFor()
      await shoot(page, 'price-import')
      const before = await versions('txta-turbo')
      await dialog.getByRole('button', { name: 'Activate' }).click()
      await dialog.getByRole('status').waitFor()
      await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
      const after = await versions('txta-turbo')
      expect(after).toHaveLength(before.length + 1)
      expect(after.find(({ current }) => current)!.per_million.input).toBe('9.00')

      await page.getByRole('button', { name: 'Import prices' }).click()
      await dialog.getByRole('combobox', { name: 'Format' }).click()
      await page.getByRole('option', { name: /^LiteLLM/ }).click()
      await dialog.locator('input[type=file]').setInputFiles({
        name: 'model_prices_and_context_window.json',
        mimeType: 'application/json',
        buffer: Buffer.from(publicFile),
      })
      await dialog.getByLabel(/^Rate/).fill('7')
      await dialog.getByLabel(/^Margin/).fill('1.1')
      await dialog.getByLabel('Only models that match').fill('txta-*')
      await dialog.getByRole('button', { name: 'Review changes' }).click()
      await dialog.getByText('New versions: 1. Unchanged: 0.').waitFor()
      expect(await dialog.getByRole('table', { name: 'Changes' }).textContent()).toContain('7.70')
      await shoot(page, 'price-import-public')
      expect(await seriousFindings(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Preview against last month' }).click()
      await dialog.getByText('No charges for this model').waitFor()
      await dialog.getByRole('button', { name: 'Activate' }).click()
      await dialog.getByRole('status').waitFor()
      await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
      const published = (await versions('txta-vl-plus')).find(({ current }) => current)!
      expect(published.per_million).toMatchObject({ input: '7.70', output: '15.40' })

      await page.getByRole('button', { name: 'Adjust by %' }).click()
      const raise = page.getByRole('dialog', { name: 'Adjust by %' })
      await raise.getByLabel(/^Percent/).fill('10')
      await raise.getByRole('combobox', { name: 'Models' }).click()
      await page.getByRole('option', { name: 'txta-turbo' }).click()
      await page.keyboard.press('Tab')
      await raise.getByRole('button', { name: 'Review changes' }).click()
      await raise.getByText('+10%').waitFor()
      await raise.getByRole('button', { name: 'Activate' }).click()
      await raise.getByRole('status').waitFor()
      const raised = (await versions('txta-turbo')).find(({ current }) => current)!
      expect(raised.per_million).toMatchObject({ input: '9.90', output: '19.80' })
    })

    test('tiers and a price per tool call are edited as fields, for one account, in Chinese', async () => {
      const { page } = chinese
      await page.goto('/console/prices')
      await page.getByRole('row', { name: /^txta-plus / }).click()
      await page.getByRole('button', { name: '新版本' }).click()
      const form = page.getByRole('form', { name: '新版本' })
      await form.getByRole('combobox', { name: '适用账户' }).click()
      await page.getByRole('option', { name: 'acme-old' }).click()
      await form.getByRole('button', { name: '添加档位' }).click()
      await form.getByLabel('第 1 档：输入不超过').fill('64000')
      await form.getByLabel('输入 (以上)', { exact: true }).fill('3')
      await form.getByRole('button', { name: '添加工具' }).click()
      await form.getByLabel('每次调用 (web_search)').fill('0.05')
      await form.getByRole('button', { name: '按上月用量试算' }).click()
      await page.getByRole('table', { name: `${lastMonth} 按新价的消费` }).waitFor()
      await shoot(page, 'price-tiers-zh-dark')
      expect(await seriousFindings(page)).toEqual([])
      await form.getByRole('button', { name: '启用' }).click()
      await form.waitFor({ state: 'hidden' })
      const { body } = await gateway.admin('GET', '/prices?model=txta-plus&account=acme-old')
      expect(body.items[0]).toMatchObject({
        current: true,
        tiers: [{ up_to: 64_000 }, { per_million: { input: '3.00' } }],
        per_call: { web_search: '0.05' },
      })
    })

    test('a model is added by hand with limits and price, and a customer sees it', async () => {
      const { page } = first
      await page.goto('/console/models')
      await page.getByRole('button', { name: 'Add model' }).click()
      await page.getByRole('menuitem', { name: 'By hand' }).click()
      const drawer = page.getByRole('dialog', { name: 'New model' })
      await drawer.getByRole('textbox', { name: 'Name', exact: true }).fill('house-writer')
      await drawer.getByLabel('Display name').fill('House Writer')
      await drawer.getByLabel('Context window (tokens)').fill('64000')
      await drawer.getByLabel('Max output tokens').fill('2048')
      await drawer.getByLabel(/^Also serve it/).uncheck()
      await drawer.getByLabel('Input', { exact: true }).fill('0.6')
      await drawer.getByLabel('Output', { exact: true }).fill('1.5')
      await shoot(page, 'model-by-hand')
      expect(await seriousFindings(page)).toEqual([])
      await drawer.getByRole('button', { name: 'Save model' }).click()
      await page.getByRole('dialog', { name: 'house-writer' }).getByText('64,000').waitFor()
      const { body } = await gateway.admin('GET', '/models?limit=500')
      const made = body.items.find((each: { name: string }) => each.name === 'house-writer')
      expect(made).toMatchObject({
        ...{ display_name: 'House Writer', context_window: 64_000, max_output_tokens: 2_048 },
        ...{ translate: false, source: 'api', price_id: expect.any(String) },
      })
      await page.keyboard.press('Escape')
      await page.getByRole('tab', { name: 'What customers see' }).click()
      await page.getByRole('combobox', { name: 'Account' }).click()
      await page.getByRole('option', { name: 'acme-old' }).click()
      const table = page.getByRole('table', { name: 'What customers see' })
      const row = table.getByRole('row', { name: /^txta-plus / })
      await row.getByTitle('web_search 0.05 CNY / call').waitFor()
      await table.getByRole('row', { name: /^house-writer / }).waitFor()
      await shoot(page, 'models-customer')
      expect(await seriousFindings(page)).toEqual([])
    })

    test('a month is closed, and what was taken along is proven without the gateway', async () => {
      const { page } = first
      await page.goto(`/console/bills?month=${lastMonth}`)
      await page.getByRole('row', { name: /acme-old/ }).click()
      const sheet = page.getByRole('dialog', { name: `acme-old · ${lastMonth}` })
      await sheet.getByRole('tab', { name: 'By day' }).click()
      await sheet.getByRole('table', { name: 'By day' }).waitFor()
      await shoot(page, 'bill-days')
      await sheet.getByRole('tab', { name: 'Lines', exact: true }).click()
      await sheet.getByRole('link', { name: /^req_/ }).first().waitFor()
      await shoot(page, 'bill-lines')
      expect(await seriousFindings(page)).toEqual([])
      await sheet.getByRole('button', { name: 'Close month' }).click()
      const confirm = page.getByRole('dialog', { name: 'Close month' })
      await confirm.getByRole('button', { name: 'Close month' }).click()
      await sheet.getByText('Closed', { exact: true }).waitFor()
      await sheet.getByRole('button', { name: 'Close month' }).waitFor({ state: 'hidden' })
      const { body } = await gateway.admin('GET', `/bills?account=acme-old&month=${lastMonth}`)
      expect(body).toMatchObject({ state: 'closed', charge_count: charges })

      const download = page.waitForEvent('download')
      await sheet.getByRole('link', { name: 'Download CSV' }).click()
      const file = await keep(await (await download).path())
      expect(await verify(file)).toBe(0)
      // One changed amount is found.
      const lines = readFileSync(file, 'utf8')
      const changed = await keep(undefined, lines.replace(',-0.001,', ',-0.002,'))
      expect(await verify(changed)).not.toBe(0)
    })

    test('a month is closed and verified for all accounts, in both languages', async () => {
      const { page } = first
      await page.goto('/console/bills')
      await page.getByRole('combobox', { name: 'Month' }).click()
      await page.getByRole('option', { name: lastMonth }).click()
      const totals = page.getByRole('region', { name: `Totals of ${lastMonth}` })
      await totals.getByText('1 of 2 open').waitFor()
      const sums = (await gateway.admin('GET', `/bills/totals?month=${lastMonth}`)).body
      expect(sums).toMatchObject({ accounts: 2, open: 1, charges: '0.04' })
      await totals.getByText('0.04 CNY').waitFor()
      const accounts = page.getByRole('table', { name: `Accounts in ${lastMonth}` })
      await accounts.getByRole('columnheader', { name: 'Closing balance, CNY' }).waitFor()
      await totals.getByRole('button', { name: 'Close month for all' }).click()
      const dialog = page.getByRole('dialog', { name: `Close ${lastMonth} for all accounts` })
      await dialog.getByRole('button', { name: 'Close month for all' }).click()
      await dialog.getByText('Closed: 0. Closed before: 1. Refused: 1.').waitFor()
      await dialog.getByRole('row', { name: /^late-closer .*close it first$/ }).waitFor()
      await shoot(page, 'bills-close-all')
      expect(await seriousFindings(page)).toEqual([])

      const zh = chinese.page
      for (const [month, says] of [
        [monthBefore, '已结账 2 个，此前已结 0 个，未能结账 0 个。'],
        [lastMonth, '已结账 1 个，此前已结 1 个，未能结账 0 个。'],
      ] as const) {
        await zh.goto(`/console/bills?month=${month}`)
        await zh.getByRole('button', { name: '全部结账' }).click()
        const closing = zh.getByRole('dialog', { name: `为全部账户结账 ${month}` })
        await closing.getByRole('button', { name: '全部结账' }).click()
        await closing.getByText(says).waitFor()
        await closing.getByRole('button', { name: '核验账本' }).click()
        await closing.getByText(/^核验通过：/).waitFor()
      }
      await shoot(zh, 'bills-verified-zh-dark')
      expect(await seriousFindings(zh)).toEqual([])
    })

    test('a bill is shared by a link that needs no sign-in', async () => {
      const { page } = first
      await page.goto(`/console/bills?account=acme-old`)
      await page.getByRole('heading', { name: 'Bills of acme-old' }).waitFor()
      await page.goto(`/console/bills?open=${encodeURIComponent(`${lastMonth} acme-old`)}`)
      await page.getByRole('button', { name: 'Share link' }).click()
      const dialog = page.getByRole('dialog', { name: 'Share link' })
      await dialog.getByRole('button', { name: 'Create link' }).click()
      const link = (await dialog.getByLabel('Share link').textContent())!
      const answer = await fetch(`${gateway.url}${new URL(link).pathname}${new URL(link).search}`)
      expect(answer.status).toBe(200)
      expect(await answer.text()).toContain('acme-old')

      const links = dialog.getByRole('table', { name: 'Links to this bill' })
      await links.getByRole('row', { name: /^ada / }).waitFor()
      await shoot(page, 'bill-links')
      expect(await seriousFindings(page)).toEqual([])
      await links.getByRole('button', { name: /^Revoke link of / }).click()
      const question = page.getByRole('dialog', { name: 'Revoke link' })
      await question.getByText('This cannot be undone.').waitFor()
      await question.getByRole('button', { name: 'Revoke link' }).click()
      await links.waitFor({ state: 'hidden' })
      const gone = await fetch(`${gateway.url}${new URL(link).pathname}${new URL(link).search}`)
      expect(gone.status).toBe(404)
    })

    test('a charge is credited from its line', async () => {
      const { page } = first
      await page.goto(`/console/bills?open=${encodeURIComponent(`${lastMonth} acme-old`)}`)
      const sheet = page.getByRole('dialog', { name: `acme-old · ${lastMonth}` })
      await sheet.getByRole('tab', { name: 'Lines', exact: true }).click()
      await sheet
        .getByRole('button', { name: /^Credit note for req_/ })
        .first()
        .click()
      const form = page.getByRole('dialog', { name: 'Credit or take back · acme-old' })
      expect(await form.getByLabel('Amount').inputValue()).toBe('0.001')
      await form.getByRole('button', { name: 'Add credit' }).click()
      await form.getByText(/^Booked 0.00 CNY on the bill of /).waitFor()
      const { body } = await gateway.admin('GET', '/accounts/acme-old/ledger?limit=1')
      expect(body.items[0]).toMatchObject({ kind: 'credit', amount: '0.001' })
      expect(body.items[0].note).toMatch(/^Credit note for req_/)
      await form.getByRole('link', { name: `Open the bill of ${thisMonth}` }).click()
      await form.waitFor({ state: 'hidden' })
      await page.getByRole('dialog', { name: `acme-old · ${thisMonth}` }).waitFor()
    })

    test('a statement is taken in and shown line by line', async () => {
      const { page } = first
      const { body } = await gateway.admin('GET', '/requests?channel=sandbox')
      const ids = (body.items as { upstream_request_id: string; charge: string; at: string }[]).map(
        ({ upstream_request_id: id, charge, at }) => ({ id, charge, at }),
      )
      expect(ids).toHaveLength(3)
      const table = [
        'time,request id,model,amount',
        `${ids[0]!.at},${ids[0]!.id},txta-plus,${ids[0]!.charge}`,
        `${ids[1]!.at},${ids[1]!.id},txta-plus,5.00`,
        `${ids[1]!.at},nobody-knows,txta-plus,0.10`,
      ].join('\n')
      await page.goto('/console/bills?tab=reconcile')
      await page.locator('input[type=file]').setInputFiles({
        name: 'november.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(`${table}\n`),
      })
      await page.getByRole('combobox', { name: 'Channel' }).click()
      await page.getByRole('option', { name: 'sandbox' }).click()
      await page.getByRole('button', { name: 'Import options' }).click()
      await page.getByLabel('Cost factor').fill('1')
      await page.getByRole('button', { name: 'Compare' }).click()
      const sheet = page.getByRole('dialog', { name: 'november.csv · sandbox' })
      await sheet.getByRole('row', { name: /nobody-knows/ }).waitFor()
      await shoot(page, 'statement-lines')
      expect(await seriousFindings(page)).toEqual([])
      const lines = sheet.getByRole('table', { name: 'Lines' })
      const sums = sheet.getByRole('table', { name: 'By outcome' })
      // What does not match comes first: three lines, the matched one is not among them.
      expect(await lines.getByRole('row').count()).toBe(4)
      await sums.getByRole('row', { name: /^Amount differs 1 5\.00 CNY/ }).waitFor()
      expect(await sums.getByRole('row').last().textContent()).toStartWith('Total4')
      await sheet.getByText(/^All lines 4$/).click()
      await lines.getByText('Matched').waitFor()
      await sheet.getByText(/^Upstream only 1$/).click()
      await page.waitForURL(/outcome=upstream_only/)
      await lines.getByText('Amount differs', { exact: true }).waitFor({ state: 'hidden' })
      expect(await lines.getByRole('row').count()).toBe(2)
      await sheet.getByText(/^Amount differs 1$/).click()
      await sheet.getByRole('link', { name: /^req_/ }).first().click()
      await page.waitForURL(/\/console\/requests\?open=req_/)
    })

    test('usage by two keys, a view that is kept and an export, in Chinese', async () => {
      const { page, complaints, context } = await visit(browser, gateway.url, {
        language: 'zh',
        theme: 'dark',
      })
      await context.addCookies(await first.context.cookies())
      await page.goto(`/console/usage?days=${lastMonth}&account=acme-old`)
      await page.getByRole('cell', { name: 'txta-turbo', exact: true }).waitFor()
      await page.goto('/console/usage?days=90&compare=1')
      await page.getByRole('combobox', { name: '二级分组' }).click()
      await page.getByRole('option', { name: '账户' }).click()
      await page.getByRole('cell', { name: 'txta-plus / acme-old' }).waitFor()
      await page.getByRole('button', { name: '已存视图' }).click()
      await page.getByRole('menuitem', { name: '保存当前筛选…' }).click()
      await page.getByRole('textbox', { name: '视图名称' }).fill('季度')
      await page.getByRole('button', { name: '保存', exact: true }).click()
      await page.getByRole('button', { name: '已存视图' }).waitFor()
      await shoot(page, 'usage-zh-dark')
      expect(await seriousFindings(page)).toEqual([])
      await page.goto('/console/usage')
      await page.getByRole('button', { name: '已存视图' }).click()
      await page.getByRole('menuitem', { name: '季度' }).click()
      await page.waitForURL(/subgroup=account/)

      await page.goto('/console/bills?account=acme-old')
      const ledger = await exportFrom(page, () =>
        page.getByRole('button', { name: '导出流水' }).click(),
      )
      expect(ledger.trimEnd().split('\r\n').length).toBeGreaterThan(charges)
      expect(complaints).toEqual([])
      await context.close()
    })

    test('what is wide scrolls by itself on a phone, and the keyboard reaches it', async () => {
      const { page, context, complaints } = await visit(browser, gateway.url, { width: 390 })
      await context.addCookies(await first.context.cookies())
      const bill = encodeURIComponent(`${lastMonth} acme-old`)
      const paths = ['prices?open=txta-plus', `bills?open=${bill}`, 'usage?days=90']
      for (const path of paths) {
        await page.goto(`/console/${path}`)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.waitForLoadState('networkidle')
        expect([path, await seriousFindings(page)]).toEqual([path, []])
        const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
        expect([path, wide <= 390]).toEqual([path, true])
      }
      expect(complaints).toEqual([])
      await context.close()
    })

    for (const path of ['requests', 'tasks', 'audit-log']) {
      test(`${path} are exported as they are filtered`, async () => {
        const { page } = first
        const filter = path === 'requests' ? '?account=acme' : ''
        await page.goto(`/console/${path}${filter}`)
        const text = await exportFrom(page, () =>
          page.getByRole('button', { name: 'Export', exact: true }).click(),
        )
        const rows = text.trimEnd().split('\r\n').length - 1
        const { body } = await gateway.admin('GET', `/${path}?limit=500${filter.replace('?', '&')}`)
        if (path === 'requests') expect(rows).toBe(3)
        else expect(rows).toBe(body.items.length)
      })
    }

    test('an account gets a tag, and what its calls cost is told by it', async () => {
      const { page } = first
      await page.goto('/console/accounts?open=acme')
      await page.getByRole('button', { name: 'Edit settings' }).click()
      const form = page.getByRole('dialog', { name: 'Edit settings · acme' })
      await form.getByRole('combobox', { name: 'Tag names' }).fill('team')
      await page.keyboard.press('Enter')
      await shoot(page, 'account-tags')
      expect(await seriousFindings(page)).toEqual([])
      await form.getByRole('button', { name: 'Save' }).click()
      await form.waitFor({ state: 'hidden' })
      const message = { role: 'user', content: 'four' }
      const body = { model: 'txta-plus', messages: [message], user: 'alice' }
      const tagged = { 'x-gateway-tags': 'team=red' }
      await (await gateway.post('/v1/chat/completions', body, tagged)).text()

      await page.goto('/console/requests?tag=team%3Dred')
      await page.getByText('team=red', { exact: true }).first().waitFor()
      await page.goto('/console/usage?group=tag%3Ateam')
      const totals = page.getByRole('table', { name: 'Totals' })
      const row = totals.getByRole('row', { name: /^red / })
      await row.getByRole('link', { name: 'Requests' }).click()
      await page.waitForURL(/tag=team%3Dred/)
      const month = monthAt(Date.now())
      await page.goto(`/console/bills?open=${encodeURIComponent(`${month} acme`)}`)
      const bill = page.getByRole('dialog', { name: `acme · ${month}` })
      await bill.getByRole('tab', { name: 'By tag' }).click()
      await bill.getByRole('row', { name: /^red 1 / }).waitFor()
      await bill.getByRole('row', { name: /^\(none\) 3 / }).waitFor()
      expect(await seriousFindings(page)).toEqual([])
    })

    test('a virtual model is made and called from the playground, in both languages', async () => {
      for (const { words, name, page } of [
        { words: english, name: 'coder', page: first.page },
        { words: inChinese, name: 'coder-zh', page: chinese.page },
      ]) {
        await page.goto('/console/models')
        await page.getByRole('button', { name: words.add }).click()
        await page.getByRole('menuitem', { name: words.virtual }).click()
        const drawer = page.getByRole('dialog', { name: words.newVirtual })
        await drawer.getByRole('textbox', { name: words.name }).fill(name)
        await drawer.getByText(words.byWeight).click()
        for (const member of ['txta-plus', 'txta-turbo']) {
          await drawer.getByRole('combobox', { name: words.addMember }).click()
          await page.getByRole('option', { name: member, exact: true }).click()
        }
        await shoot(page, `model-virtual-${name}`)
        expect(await seriousFindings(page)).toEqual([])
        await drawer.getByRole('button', { name: words.save }).click()
        const made = page.getByRole('dialog', { name, exact: true })
        await made.getByRole('button', { name: words.tryIt }).click()
        await page.waitForURL(/playground/)
        await page.getByRole('button', { name: words.send }).click()
        await page.getByText(words.cost).waitFor()
        const { body } = await gateway.admin('GET', `/requests?model=${name}`)
        expect(body.items[0].served_model).toMatch(/^txta-(plus|turbo)$/)
      }
    })
  })
}

/** Dollars per token, as LiteLLM's list has them. */
const publicFile = JSON.stringify({
  'txta-vl-plus': {
    mode: 'chat',
    input_cost_per_token: 1e-6,
    output_cost_per_token: 2e-6,
  },
  other: { mode: 'chat', input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 },
})

const english = {
  add: 'Add model',
  virtual: 'Virtual model',
  newVirtual: 'New virtual model',
  name: 'Name',
  byWeight: 'By weight',
  addMember: 'Add member',
  save: 'Save model',
  tryIt: 'Try in playground',
  send: /^Send/,
  cost: /^Cost: 0\.0/,
} as const

const inChinese = {
  add: '添加模型',
  virtual: '虚拟模型',
  newVirtual: '新建虚拟模型',
  name: '名称',
  byWeight: '按权重',
  addMember: '添加成员',
  save: '保存模型',
  tryIt: '在调试台试用',
  send: /^发送/,
  cost: /^(费用|消费)[：:] ?0\.0/,
} as const

/** From the menu of the button to what is in the file. */
async function exportFrom(page: Page, open: () => Promise<void>): Promise<string> {
  await open()
  const download = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: /^CSV/ }).click()
  return readFileSync(await (await download).path(), 'utf8')
}

async function keep(path: string | undefined, text?: string): Promise<string> {
  const file = join(tempDir(), 'bill.csv')
  writeFileSync(file, text ?? readFileSync(path!))
  return file
}

/** The exit code of `gateway verify`, which asks nobody. */
async function verify(file: string): Promise<number> {
  const run = Bun.spawn([join(root, 'bin/gateway'), 'verify', file], {
    env: ownEnv,
    stdout: 'ignore',
    stderr: 'ignore',
  })
  return run.exited
}

/** An account that paid for calls last month, over several days. */
async function fillPast(dataDir: string): Promise<void> {
  const store = await openStore({ dataDir })
  const credit = {
    month: lastMonth,
    kind: 'credit',
    amountNanos: 5_000_000_000n,
  } as const
  const accountId = await openPast(store, 'acme-old', [credit])
  // Its earlier month has to be closed first.
  await openPast(store, 'late-closer', [{ ...credit, month: monthBefore }])
  const { fromMs } = monthBounds(lastMonth)!
  const rates = { inputNanos: 800_000_000n, outputNanos: 2_000_000_000n }
  await store.tx(async (tx) => {
    for (const model of ['txta-plus', 'txta-turbo']) {
      const terms = { unit: 'token', tiers: [rates] } as const
      const price = { id: `price_of_${model}`, model, terms, effectiveFromMs: fromMs } as const
      await insertPrice(tx, { ...price, source: 'api' }, fromMs)
    }
  })
  for (let i = 0; i < charges; i++) {
    const model = i % 4 === 0 ? 'txta-turbo' : 'txta-plus'
    const request = aRequest({
      atMs: fromMs + i * 11 * 3_600_000,
      accountId,
      model,
      priceId: `price_of_${model}`,
      chargeNanos: 1_000_000n,
      usage: { inputTokens: 500, outputTokens: 300, cacheReadTokens: 0, cacheWriteTokens: 0 },
    })
    await store.record(charged(request, 1_000_000n, { quantity: 800 }))
  }
  await store.close()
}
