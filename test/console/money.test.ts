// The money pages in a real browser: a price from draft to version, a month closed and taken along, a
// statement line by line, and a list exported to its file. One gateway with a past serves all of it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { monthAt, monthBounds, monthPlus } from '../../src/lib/text/month.ts'
import { openStore } from '../../src/store/index.ts'
import { aCharge, aRequest } from '../../src/store/test-stores.ts'
import {
  chromiumPath,
  openBrowser,
  seriousFindings,
  setUp,
  shoot,
  type Visit,
  visit,
} from '../support/console/browser.ts'
import { openPast } from '../support/data/past-months.ts'
import { root, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'

const lastMonth = monthPlus(monthAt(Date.now()), -1)
const charges = 40

if (chromiumPath === undefined) {
  console.error('left out: the money pages in a browser (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('the money pages', () => {
    let gateway: TestGateway
    let browser: Browser
    let first: Visit

    beforeAll(async () => {
      const dataDir = tempDir()
      await fillPast(dataDir)
      gateway = await startGateway({ dataDir })
      for (const content of ['one', 'two', 'three']) await (await gateway.chat(content)).text()
      browser = await openBrowser()
      first = await visit(browser, gateway.url)
      await setUp(first.page, gateway.output())
    }, 60_000)
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
      await form.getByRole('button', { name: 'Activate' }).click()
      const table = page.getByRole('table', { name: 'Versions' })
      await table.getByText('scheduled').waitFor()
      await shoot(page, 'price-versions')
      const after = await versions('txta-plus')
      const coming = after.find(({ id }) => before.every((old) => old.id !== id))
      expect(coming).toMatchObject({ current: false, per_million: { input: '1.60' } })
      expect(coming!.effective_from).toMatch(/^2099-01-0/)
      expect(after.filter(({ id }) => id !== coming!.id)).toEqual(before)
    }, 60_000)

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
    }, 60_000)

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
      await confirm.getByRole('textbox').fill(lastMonth)
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
    }, 90_000)

    test('a charge is credited from its line', async () => {
      const { page } = first
      await page.goto(`/console/bills?open=${encodeURIComponent(`${lastMonth} acme-old`)}`)
      const sheet = page.getByRole('dialog', { name: `acme-old · ${lastMonth}` })
      await sheet.getByRole('tab', { name: 'Lines', exact: true }).click()
      await sheet
        .getByRole('button', { name: /^Credit note for req_/ })
        .first()
        .click()
      const form = page.getByRole('dialog', { name: 'Add credit or adjustment' })
      expect(await form.getByLabel('Amount').inputValue()).toBe('0.001')
      await form.getByRole('button', { name: 'Post' }).click()
      await form.waitFor({ state: 'hidden' })
      const { body } = await gateway.admin('GET', '/accounts/acme-old/ledger?limit=1')
      expect(body.items[0]).toMatchObject({ kind: 'credit', amount: '0.001' })
      expect(body.items[0].note).toMatch(/^Credit note for req_/)
    }, 60_000)

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
      expect(await sheet.getByRole('row').count()).toBe(5)
      await sheet.getByText(/^Upstream only 1$/).click()
      await page.waitForURL(/outcome=upstream_only/)
      await sheet.getByText('Amount differs', { exact: true }).waitFor({ state: 'hidden' })
      expect(await sheet.getByRole('row').count()).toBe(2)
      await sheet.getByText(/^Amount differs 1$/).click()
      await sheet.getByRole('link', { name: /^req_/ }).first().click()
      await page.waitForURL(/\/console\/requests\?open=req_/)
    }, 60_000)

    test('usage by two keys, a view that is kept and an export, in Chinese', async () => {
      const { page, complaints, context } = await visit(browser, gateway.url, {
        language: 'zh',
        theme: 'dark',
      })
      await context.addCookies(await first.context.cookies())
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
    }, 90_000)

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
    }, 60_000)

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
      }, 60_000)
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
    }, 60_000)
  })
}

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
  const { fromMs } = monthBounds(lastMonth)!
  for (let i = 0; i < charges; i++) {
    const request = aRequest({
      atMs: fromMs + i * 11 * 3_600_000,
      accountId,
      model: i % 4 === 0 ? 'txta-turbo' : 'txta-plus',
      chargeNanos: 1_000_000n,
      usage: { inputTokens: 500, outputTokens: 300, cacheReadTokens: 0, cacheWriteTokens: 0 },
    })
    await store.record(request, { ...aCharge(request, 1_000_000n), quantity: 800 })
  }
  await store.close()
}
