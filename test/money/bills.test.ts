// Bills over real HTTP: a month adds up to the balance, by model and unit, and its lines are a table.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { monthPlus } from '../../src/lib/text/month.ts'
import { adminToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { accountOf, nanos, until } from '../support/read.ts'

let gateway: TestGateway
let month: string
beforeAll(async () => {
  gateway = await startGateway({ env: { GATEWAY_SANDBOX_TASK_SECONDS: '0.2' } })
  await gateway.chat('hello [[sim:tokens=100]]').then((answer) => answer.text())
  await gateway.chat('again [[sim:tokens=50]]').then((answer) => answer.text())
  await gateway.post('/v1/images/generations', { model: 'imga-plus', prompt: 'a boat', n: 2 })
  const made = await gateway.post('/v1/videos', { model: 'vfa-2.7-t2v', prompt: 'x', seconds: 3 })
  const { id } = (await made.json()) as { id: string }
  await until('the film', async () => {
    const { body } = await gateway.admin('GET', `/tasks/${id}`)
    return body.state === 'succeeded' ? true : undefined
  })
  const note = { amount: '-1.50', note: '=HYPERLINK("x")' }
  await gateway.admin('POST', '/accounts/acme/credits', note)
  month = new Date().toISOString().slice(0, 7)
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

const bill = async (query: string) => (await gateway.admin('GET', `/bills?${query}`)).body

test('a month is what was there, what came and went, and what is left', async () => {
  const { body } = await gateway.admin('GET', `/bills?account=acme&month=${month}`)
  expect(body).toMatchObject({ account: 'acme', month, currency: 'CNY', opening_balance: '0.00' })
  expect([body.credits, body.adjustments]).toEqual(['100.00', '-1.50'])
  expect(body.closing_balance).toBe((await accountOf(gateway)).balance)
  const totals = body.totals as { model: string; unit: string; amount: string; charges: number }[]
  expect(totals.map(({ model, unit, charges }) => [model, unit, charges])).toEqual([
    ['imga-plus', 'image', 1],
    ['txta-plus', 'token', 2],
    ['vfa-2.7-t2v', 'video_second', 1],
  ])
  expect(totals.find(({ unit }) => unit === 'image')).toMatchObject({ quantity: 2, amount: '0.40' })
  const sum = totals.reduce((all, { amount }) => all + nanos(amount), 0n)
  expect(sum).toBe(nanos(body.charges))
})

test('a month before has nothing', async () => {
  expect(await bill(`account=acme&month=${monthPlus(month, -1)}`)).toMatchObject({
    closing_balance: '0.00',
    charge_count: 0,
    totals: [],
    tokens: [],
    movements: [],
  })
})

test('it says who spent it and who put money in or took it back, and that it is open', async () => {
  const body = await bill(`account=acme&month=${month}`)
  expect(body).toMatchObject({ state: 'open', closed_at: null, differences: [], charge_count: 4 })
  expect(body.tokens).toMatchObject([{ name: 'test', charges: 4, amount: body.charges }])
  expect(body.tokens[0].token_id).toMatch(/^tok_/)
  const texts = body.totals.find(({ unit }: { unit: string }) => unit === 'token')
  expect(texts.output_tokens).toBe(150)
  expect(texts.quantity).toBe(texts.input_tokens + 150)
  expect(body.movements).toMatchObject([
    { kind: 'credit', amount: '100.00' },
    { kind: 'adjust', amount: '-1.50', note: '=HYPERLINK("x")' },
  ])
})

test('its lines come page by page, without holds', async () => {
  const kinds: string[] = []
  let cursor = '0'
  do {
    const page = await bill(`account=acme&month=${month}&lines=true&limit=2&cursor=${cursor}`)
    kinds.push(...page.lines.map(({ kind }: { kind: string }) => kind))
    cursor = page.next_cursor
  } while (cursor !== null)
  expect(kinds.toSorted()).toEqual(['adjust', 'charge', 'charge', 'charge', 'charge', 'credit'])
})

test('as a table it opens in a spreadsheet and runs nothing there', async () => {
  const response = await fetch(`${gateway.url}/admin/v1/bills?account=acme&format=csv`, {
    headers: { authorization: `Bearer ${adminToken}` },
  })
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(response.headers.get('content-disposition')).toMatch(/acme-\d{4}-\d{2}\.csv/)
  expect(response.headers.get('x-request-id')).toMatch(/^req_/)
  const bytes = Buffer.from(await response.arrayBuffer())
  expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
  const [head, ...rows] = bytes.toString('utf8').slice(1).trim().split('\r\n')
  expect(head).toStartWith('id,at,kind,model,unit,quantity,amount,currency,request_id,task_id')
  expect(rows).toHaveLength(6)
  expect(rows.join()).toContain(`"'=HYPERLINK(""x"")"`)
})

test('a wrong question is told what is wrong', async () => {
  const cases = [
    ['month=2026-11', 'account'],
    ['account=acme&month=2026-13', 'month'],
    ['account=acme&month=now', 'month'],
    [`account=acme&month=${monthPlus(month, 1)}`, 'month'],
    ['account=acme&month=0099-01', 'month'],
    ['account=acme&format=pdf', 'format'],
    ['account=acme&by=', 'by'],
    ['account=acme&lines=true&cursor=x', 'cursor'],
  ]
  for (const [query, param] of cases) {
    const { status, body } = await gateway.admin('GET', `/bills?${query}`)
    expect([status, body.error.param]).toEqual([400, param!])
  }
  for (const path of ['/bills', '/bills/months', '/bills/statement']) {
    expect((await gateway.admin('GET', `${path}?account=nobody`)).status).toBe(404)
    expect((await gateway.admin('GET', path)).body.error.param).toBe('account')
  }
  for (const path of ['/bills/months?account=acme&', '/bills/accounts?']) {
    for (const [query, param] of [
      ['limit=0', 'limit'],
      ['cursor=x', 'cursor'],
    ]) {
      const { status, body } = await gateway.admin('GET', `${path}${query}`)
      expect([path, status, body.error.param]).toEqual([path, 400, param])
    }
  }
  expect((await gateway.admin('GET', '/bills/accounts?month=2026-13')).status).toBe(400)
})
