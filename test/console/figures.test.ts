// Every figure on a page is what the admin API says, over one set of data with text, images, videos that
// are billed by the second and by token, failures and several tokens.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { chromiumPath, openBrowser, setUp, type Visit, visit } from '../support/console/browser.ts'
import { compareTable } from '../support/console/columns.ts'
import { headed, watchTraffic } from '../support/console/traffic.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/read.ts'

const config = `
accounts: [{ name: acme, balance: "1000.00" }, { name: beta, balance: "50.00" }]
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: beta, name: other, token: sk-other-0123456789abcdefghijklmnop }
`

interface TaskRow {
  id: string
  state: string
  finished_at: string | null
}

async function textOf(place: Locator): Promise<string> {
  await place.waitFor()
  return (await place.allInnerTexts()).join(' ')
}

/** What a cell or a card shows as a number: `1,234.5 CNY` is 1234.5. */
const numberIn = (text: string): number =>
  Number(/-?[\d,]*\.?\d+/.exec(text)?.[0].replaceAll(',', ''))

if (chromiumPath === undefined) {
  console.error('left out: figures in a browser (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('figures', () => {
    let gateway: TestGateway
    let browser: Browser
    let it: Visit
    let quiet: () => Promise<void>

    beforeAll(async () => {
      gateway = await startGateway({ config, env: { GATEWAY_SANDBOX_TASK_SECONDS: '0' } })
      browser = await openBrowser()
      it = await visit(browser, gateway.url, { width: 1440 })
      quiet = watchTraffic(it.page)
      await setUp(it.page, gateway.output())
      await fill(gateway)
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
    })

    const read = async (path: string) => (await gateway.admin('GET', path)).body

    async function open(path: string): Promise<Page> {
      await it.page.goto(path)
      await headed(it.page)
      await quiet()
      return it.page
    }

    /** Text of each line of a card. */
    async function card(page: Page, name: RegExp): Promise<string> {
      const text = await textOf(page.locator('main').getByRole('link', { name }).first())
      return text.replaceAll(/\s+/g, ' ')
    }

    test('of the overview', async () => {
      const page = await open('/console/?range=month')
      const { total } = await read(`/usage?${lastDays(30)}&by=unit`)
      const traffic = (await read(`/traffic?${lastDays(30)}&by=status`)).items
      const tasks = (await read('/tasks?limit=500')).items as TaskRow[]
      const requests = sum(traffic.map((row: { requests: number }) => row.requests))
      const good = sum(
        traffic.map((row: { requests: number; status: number }) =>
          row.status < 400 ? row.requests : 0,
        ),
      )
      const spend = await card(page, /^Charges/)
      expect(numberIn(spend.replace(/^\D+/, ''))).toBeCloseTo(Number(total.amount), 2)
      expect(await card(page, /^Requests/)).toContain(` ${requests}`)
      const success = numberIn((await card(page, /^Success/)).replace(/^\D+/, ''))
      expect(success).toBeCloseTo((good / requests) * 100, 1)
      // No cost is known here.
      expect([total.cost_unknown, await card(page, /Margin/)]).toEqual([
        ...[total.charges, expect.stringMatching(/Margin –$/)],
      ])
      expect(await card(page, /^Tasks/)).toContain(` ${tasks.length}`)
    })

    test('of the usage explorer, measure by measure', async () => {
      const rows = (await read(`/usage?${lastDays(30)}&by=model,unit`)).items as {
        model: string
        unit: string
        amount: string
        charges: number
        quantity: number
        input_tokens: number
        output_tokens: number
      }[]
      const measures = {
        amount: (row: (typeof rows)[0]) => Number(row.amount),
        charges: (row: (typeof rows)[0]) => row.charges,
        input_tokens: (row: (typeof rows)[0]) => row.input_tokens ?? 0,
        output_tokens: (row: (typeof rows)[0]) => row.output_tokens ?? 0,
        images: (row: (typeof rows)[0]) => (row.unit === 'image' ? row.quantity : 0),
        video_seconds: (row: (typeof rows)[0]) => (row.unit === 'video_second' ? row.quantity : 0),
        video_tokens: (row: (typeof rows)[0]) => (row.unit === 'video_token' ? row.quantity : 0),
      }
      for (const [measure, amountOf] of Object.entries(measures)) {
        const page = await open(`/console/usage?measure=${measure}&top=10`)
        for (const model of ['txta-plus', 'imga-plus', 'vfa-2.7-t2v', 'vidmodel-1-0-pro']) {
          const row = page.getByRole('row', { name: new RegExp(`^${model}\\b`) })
          const shown = numberIn(await textOf(row.getByRole('cell').nth(1)))
          const value = sum(rows.filter((each) => each.model === model).map(amountOf))
          expect([measure, model, round(shown)]).toEqual([measure, model, round(value)])
        }
        const total = page
          .getByRole('row', { name: /^Total/ })
          .getByRole('cell')
          .first()
        const whole = round(sum(rows.map(amountOf)))
        expect([measure, round(numberIn(await textOf(total)))]).toEqual([measure, whole])
      }
    })

    test('of tokens: what was spent, and when each was last used', async () => {
      const { items } = await read('/tokens?spend=true')
      const newest = (await read('/requests?limit=50')).items as {
        at: string
        token_id: string
      }[]
      const page = await open('/console/tokens')
      const headings = await page.getByRole('columnheader').allInnerTexts()
      const column = headings.findIndex((heading) => heading.includes('CNY'))
      for (const { id, name, spend, last_used_at } of items) {
        const used = newest.find(({ token_id }) => token_id === id)
        expect([name, last_used_at]).toEqual([name, used?.at ?? null])
        const row = page.getByRole('row', { name: new RegExp(`\\b${name}\\b`) })
        const shown = await row.locator('time').first().getAttribute('datetime')
        expect([name, shown]).toEqual([name, last_used_at])
        const spent = await textOf(row.getByRole('cell').nth(column))
        expect([name, round(numberIn(spent))]).toEqual([name, round(Number(spend))])
      }
    })

    test('of tasks: statistics, and what the request of a video cost', async () => {
      const tasks = (await read('/tasks?limit=500')).items as TaskRow[]
      const { slots, durations } = await read('/tasks/summary?hours=24')
      const counted = new Map<string, number>()
      for (const { counts } of slots as { counts: Record<string, number> }[]) {
        for (const [state, count] of Object.entries(counts)) {
          counted.set(state, (counted.get(state) ?? 0) + count)
        }
      }
      const states = Map.groupBy(tasks, ({ state }) => state)
      expect(Object.fromEntries(counted)).toEqual(
        Object.fromEntries([...states].map(([state, of]) => [state, of.length])),
      )
      const page = await open('/console/tasks?plots=on')
      for (const { model, tasks: count } of durations) {
        await page.getByText(model, { exact: true }).first().waitFor()
        await page
          .getByText(new RegExp(`^${count} tasks · median`))
          .first()
          .waitFor()
      }
      const made = (await read('/tasks?model=vidmodel-1-0-pro&state=succeeded')).items[0]
      const request = await read(`/requests/${made.request_id}`)
      expect(Number(request.charge)).toBeGreaterThan(0)
      expect(request.charge).toBe(made.charge)
      await page.goto(`/console/requests?open=${made.request_id}`)
      const cost = page.getByRole('dialog').getByRole('row', { name: /^Cost/ }).first()
      expect(round(numberIn(await textOf(cost)))).toBe(round(Number(made.charge)))
    })

    test('of bills and of the gateway', async () => {
      const month = new Date().toISOString().slice(0, 7)
      const page = await open('/console/bills')
      for (const account of ['acme', 'beta']) {
        const bill = await read(`/bills?account=${account}&month=${month}`)
        const row = page.getByRole('row', { name: new RegExp(account) }).first()
        const shown = (await textOf(row))
          .match(/-?[\d,]+\.\d+/g)
          ?.map(numberIn)
          .map(round)
        expect(shown).toContain(round(Number(bill.charges)))
      }
      await open('/console/health')
      const health = await read('/health')
      const work = await textOf(page.getByRole('row', { name: /^Callbacks/ }))
      expect(work).toContain(String(health.jobs[1].waiting))
      await page.getByText(health.version).first().waitFor()
    })

    /** With all columns, on a screen that has room for them. */
    async function openWide(name: string, columns: readonly string[] = []) {
      const choice = JSON.stringify(Object.fromEntries(columns.map((id) => [id, true])))
      const key = JSON.stringify(`gateway-columns ada /${name}`)
      await it.page.setViewportSize({ width: 2600, height: 1200 })
      await it.page.evaluate(`localStorage.setItem(${key}, ${JSON.stringify(choice)})`)
      const page = await open(`/console/${name}`)
      return page.locator('main').getByRole('table').first()
    }
    interface Usage {
      input_tokens: number
      output_tokens: number
      cache_read_tokens: number
    }

    test('of every column of requests and tasks', async () => {
      const requests = (await read('/requests?limit=100')).items as {
        charge: string
        total_ms: number
        first_byte_ms: number | null
        stream: boolean
        usage: Usage | { images: number } | null
      }[]
      const tokens = ({ usage }: (typeof requests)[0]) =>
        usage !== null && 'input_tokens' in usage ? usage : undefined
      await compareTable(await openWide('requests', ['cached', 'rate']), requests, [
        ['Cost', ({ charge }) => charge],
        ['Total', ({ total_ms }) => total_ms],
        ['First byte', ({ first_byte_ms }) => first_byte_ms],
        [
          'Tokens in / out',
          (row) => tokens(row) && [tokens(row)!.input_tokens, tokens(row)!.output_tokens],
        ],
        ['Cache read', (row) => tokens(row)?.cache_read_tokens],
        ['Tokens/s', (row) => rateOf(row, tokens(row)?.output_tokens)],
      ])
      const tasks = (await read('/tasks?limit=100')).items as {
        charge: string
        checks: number
        created_at: string
        finished_at: string
      }[]
      await compareTable(await openWide('tasks', ['polls']), tasks, [
        ['Cost', ({ charge }) => charge],
        ['Polls', ({ checks }) => checks],
        ['Duration', (task) => Date.parse(task.finished_at) - Date.parse(task.created_at)],
      ])
    })

    test('of every column of accounts, tokens, models and channels', async () => {
      const month = new Date().toISOString().slice(0, 7)
      const bills = (await read(`/bills/accounts?month=${month}`)).items as {
        account: string
        charges: string
      }[]
      const accounts = (await read('/accounts')).items as Record<string, string>[]
      await compareTable(await openWide('accounts'), accounts, [
        ['Balance', (row) => row['balance']],
        ['Held', (row) => row['held']],
        ['Available', (row) => row['available']],
        [
          'Charges this month',
          (row) => bills.find(({ account }) => account === row['name'])?.charges,
        ],
      ])
      const tokens = (await read('/tokens?spend=true')).items as { spend: string }[]
      await compareTable(await openWide('tokens'), tokens, [
        ['Charges, 30 days', ({ spend }) => spend],
      ])
      const models = (await read('/models?limit=500')).items as Record<string, number | null>[]
      await compareTable(await openWide('models'), models.slice(0, 10), [
        ['Context', (row) => row['context_window']],
        ['Max output', (row) => row['max_output_tokens']],
      ])
      const channels = (await read('/channels')).items as {
        priority: number
        weight: number
        max_concurrency: number
        health: { busy: number }
      }[]
      await compareTable(await openWide('channels'), channels, [
        ['In flight', ({ health, max_concurrency }) => [health.busy, max_concurrency]],
        ['Priority / weight', ({ priority, weight }) => [priority, weight]],
      ])
    })

    test('of every column of bills, down to their lines', async () => {
      const [task] = (await read('/tasks?model=vfa-2.7-t2v&state=succeeded')).items as TaskRow[]
      await gateway.admin('POST', `/tasks/${task!.id}/refunds`, { reason: 'a dark video' })
      const month = new Date().toISOString().slice(0, 7)
      type Amounts = Record<string, string>
      const months = (await read(`/bills/accounts?month=${month}`)).items as Amounts[]
      await compareTable(await openWide('bills'), months, [
        ['Opening balance', (row) => row['opening_balance']],
        ['Credits', (row) => row['credits']],
        ['Adjustments', (row) => row['adjustments']],
        ['Charges', (row) => row['charges']],
        ['Refunds', (row) => row['refunds']],
        ['Closing balance', (row) => row['closing_balance']],
      ])
      const bill = await read(`/bills?account=acme&month=${month}&by=day&lines=true&limit=100`)
      const page = await open(`/console/bills?open=${encodeURIComponent(`${month} acme`)}`)
      const drawer = page.getByRole('dialog')
      const tab = async (name: string, table = name) => {
        await drawer.getByRole('tab', { name, exact: true }).click()
        return drawer.getByRole('table', { name: table })
      }
      interface Row {
        charges: number
        quantity: number
        estimated: number
        amount: string
      }
      const amount = ({ amount: of }: Row) => of
      const count = [
        ['Number of charges', ({ charges }: Row) => charges],
        ['Amount', amount],
      ] as const
      const whole = [
        ...count,
        ['Quantity', ({ quantity }: Row) => quantity],
        ['Estimated', ({ estimated }: Row) => estimated],
      ] as const
      await compareTable<Row>(await tab('By model'), bill.totals, whole)
      await compareTable<Row>(await tab('By token'), bill.tokens, count)
      await compareTable<Row>(await tab('By day'), bill.breakdown, count)
      const movements = await tab('Credits, adjustments and refunds')
      await compareTable<Row>(movements, bill.movements, [['Amount', amount]])
      await movements.getByRole('cell', { name: 'Refund', exact: true }).waitFor()
      const lines = await tab('Lines')
      await compareTable<Row>(lines, bill.lines, [
        ['Amount', amount],
        ['Quantity', ({ quantity }) => quantity],
      ])
      await lines.getByRole('cell', { name: 'Refund', exact: true }).waitFor()
    })
  })
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)

/** Of streams alone: what came behind the first byte. */
function rateOf(
  row: { stream: boolean; total_ms: number; first_byte_ms: number | null },
  output: number | undefined,
): number | undefined {
  if (!row.stream || output === undefined || row.first_byte_ms === null) return undefined
  const ms = row.total_ms - row.first_byte_ms
  return ms <= 0 ? undefined : (output / ms) * 1_000
}

/** As far as a page shows it. */
const round = (value: number): number => Math.round(value * 100) / 100

function lastDays(days: number): string {
  const untilMs = Math.ceil(Date.now() / 3_600_000) * 3_600_000
  const at = (ms: number) => encodeURIComponent(new Date(ms).toISOString())
  return `from=${at(untilMs - days * 86_400_000)}&to=${at(untilMs)}`
}

async function fill(gateway: TestGateway): Promise<void> {
  const other = { authorization: 'Bearer sk-other-0123456789abcdefghijklmnop' }
  const chat = (content: string, headers = {}, stream = false) =>
    gateway.post(
      '/v1/chat/completions',
      { model: 'txta-plus', messages: [{ role: 'user', content }], stream },
      headers,
    )
  const video = (model: string, prompt: string) =>
    gateway.post('/v1/videos', { model, prompt, seconds: 5, resolution: '720p' })
  const calls = [
    () => chat('hello [[sim:tokens=50000]]'),
    () => chat('again [[sim:tokens=70000]]', other),
    () => chat('a stream [[sim:tokens=40]] [[sim:chunk=2ms]]', {}, true),
    () => chat('[[sim:status=500]]'),
    () => chat('[[sim:status=400]]', other),
    () => gateway.post('/v1/images/generations', { model: 'imga-plus', prompt: 'boats', n: 3 }),
    () => video('vfa-2.7-t2v', 'a boat'),
    () => video('vfa-2.7-t2v', 'a boat [[sim:fail]]'),
    () => video('vidmodel-1-0-pro', 'a lighthouse'),
    () => video('vidmodel-1-0-pro', 'a storm'),
  ]
  for (const call of calls) await (await call()).text()
  await until('the end of all tasks', async () => {
    const { items } = (await gateway.admin('GET', '/tasks?limit=500')).body
    return items.every(({ finished_at }: TaskRow) => finished_at !== null) || undefined
  })
}
