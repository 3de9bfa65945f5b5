// Callers and their own money over real HTTP: what they used, by what they ask, and their bills; never
// anybody else's, and also while nothing billable is done for them.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { monthAt, monthPlus } from '../../src/lib/text/month.ts'
import { adminToken, apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { nanos, requestIdShape } from '../support/read.ts'

const otherToken = 'sk-other-0123456789abcdefghijklmnop'
const batchToken = 'sk-batch-0123456789abcdefghijklmnop'
const config = `
accounts: [{ name: acme, balance: "10.00" }, { name: rival, balance: "10.00" }]
tokens:
  - { account: acme, name: web, token: ${apiToken}, limits: { rpm: 20 } }
  - { account: acme, name: batch, token: ${batchToken} }
  - { account: rival, name: theirs, token: ${otherToken} }
`

let gateway: TestGateway
const month = monthAt(Date.now())

const ask = (path: string, token = apiToken, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/gateway/v1${path}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  })
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
const read = async (path: string, token?: string): Promise<any> => (await ask(path, token)).json()

async function chat(token: string, words: number, model = 'txta-plus') {
  const messages = [{ role: 'user', content: `hi [[sim:tokens=${words}]]` }]
  const headers = { authorization: `Bearer ${token}` }
  const answer = await gateway.post('/v1/chat/completions', { model, messages }, headers)
  expect(answer.status).toBe(200)
  await answer.text()
}

beforeAll(async () => {
  gateway = await startGateway({ config })
  await chat(apiToken, 100)
  await chat(apiToken, 50)
  await chat(batchToken, 30)
  await chat(otherToken, 999)
  const picture = { model: 'imga-plus', prompt: 'a boat', n: 2 }
  expect((await gateway.post('/v1/images/generations', picture)).status).toBe(200)
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

const ledgerCharges = async (account: string) => {
  const { body } = await gateway.admin('GET', `/accounts/${account}/ledger?limit=500`)
  return (body.items as { kind: string; amount: string }[])
    .filter(({ kind }) => kind === 'charge')
    .reduce((sum, { amount }) => sum - nanos(amount), 0n)
}

test('a caller sees what its account has used, and nobody else', async () => {
  const report = await read('/usage')
  expect(report).toMatchObject({
    account: 'acme',
    token: { name: 'web' },
    scope: 'account',
    currency: 'CNY',
    by: ['model'],
    total: { charges: 4, output_tokens: 180, unit: null, quantity: null },
    next_cursor: null,
  })
  expect(report.items).toMatchObject([
    { model: 'imga-plus', unit: 'image', charges: 1, quantity: 2, amount: '0.40' },
    { model: 'txta-plus', unit: 'token', charges: 3, output_tokens: 180 },
  ])
  expect(nanos(report.total.amount)).toBe(await ledgerCharges('acme'))
  const theirs = await read('/usage', otherToken)
  expect(theirs.total).toMatchObject({ charges: 1, output_tokens: 999 })
  expect(nanos(theirs.total.amount)).toBe(await ledgerCharges('rival'))
})

test('by token it names all tokens of its account, and can leave the others out', async () => {
  const { items } = await read('/usage?by=token')
  const charges = items.map((row: { token: string; charges: number }) => [row.token, row.charges])
  expect(charges.toSorted()).toEqual([
    ['batch', 1],
    ['web', 3],
  ])
  const own = await read('/usage?by=model,token&scope=token', batchToken)
  expect(own).toMatchObject({ scope: 'token', total: { charges: 1, output_tokens: 30 } })
  expect(own.items).toMatchObject([{ model: 'txta-plus', token: 'batch' }])
})

test('by hour, day and month, of the time it asks for', async () => {
  const today = new Date().toISOString().slice(0, 10)
  const { items, from, to } = await read(`/usage?from=${today}&by=day,model`)
  expect(items[0]).toMatchObject({ day: today, model: 'imga-plus' })
  expect([from, to > new Date().toISOString()]).toEqual([`${today}T00:00:00.000Z`, true])
  expect((await read('/usage?by=hour')).items[0].hour).toMatch(/^\d{4}-\d\d-\d\dT\d\d:00:00Z$/)
  expect((await read('/usage?by=month')).items).toMatchObject([{ month }])
  const before = await read('/usage?from=2026-01-01T08:00:00%2B08:00&to=2026-01-02&by=hour')
  expect(before).toMatchObject({ from: '2026-01-01T00:00:00.000Z', items: [] })
  expect(before.total).toMatchObject({ charges: 0, amount: '0.00' })
})

test('long reports come page by page', async () => {
  const rows: unknown[] = []
  let cursor = ''
  do {
    const page = await read(`/usage?by=model,token&limit=1${cursor}`)
    expect(page.items.length).toBeLessThanOrEqual(1)
    rows.push(...page.items)
    cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`
  } while (cursor !== '')
  expect(rows).toEqual((await read('/usage?by=model,token')).items)
  expect(rows).toHaveLength(3)
})

test('a caller has the bills its operator has', async () => {
  const { items } = await read('/bills')
  expect(items).toMatchObject([{ account: 'acme', month, state: 'open', charge_count: 4 }])
  const bill = await read(`/bills?month=${month}`)
  const { body } = await gateway.admin('GET', `/bills?account=acme&month=${month}`)
  const { cost: _cost, margin: _margin, cost_unknown: _unknown, ...shown } = body
  expect(bill).toEqual(shown)
  expect((await read(`/bills?month=${month}`, otherToken)).account).toBe('rival')
})

test('its lines come as a table, of its own account only', async () => {
  const answer = await ask(`/bills?month=${month}&format=csv`)
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(answer.headers.get('content-disposition')).toContain(`acme-${month}.csv`)
  expect(answer.headers.get('x-gateway-request-id')).toMatch(requestIdShape)
  const text = await answer.text()
  expect(text.trim().split('\r\n')).toHaveLength(6)
  const admin = await fetch(`${gateway.url}/admin/v1/bills?account=acme&format=csv`, {
    headers: { authorization: `Bearer ${adminToken}` },
  })
  expect(text).toBe(await admin.text())
  const theirs = await (await ask(`/bills?month=${month}&format=csv`, otherToken)).text()
  expect(theirs.trim().split('\r\n')).toHaveLength(3)
})

test('nobody else is let in, and errors are the usual ones', async () => {
  for (const path of ['/usage', '/bills', `/bills?month=${month}`]) {
    for (const token of ['sk-nobody-0123456789abcdefghijklmnop', 'admin-token-for-tests']) {
      const answer = await ask(path, token)
      expect(answer.status).toBe(401)
      const { error } = (await answer.json()) as { error: Record<string, string> }
      expect(error).toMatchObject({ type: 'authentication_error', code: 'invalid_api_key' })
      expect(error['message']).toEndWith(`(${answer.headers.get('x-request-id')})`)
    }
  }
  const wrong: [path: string, param: string][] = [
    ['/usage?from=yesterday', 'from'],
    ['/usage?from=2026-11-01T08:30:00Z', 'from'],
    ['/usage?from=2026-02-31', 'from'],
    ['/usage?from=2026-11-02&to=2026-11-01', 'from'],
    ['/usage?from=2024-01-01&to=2026-01-01', 'from'],
    ['/usage?from=2026-01-01&to=2026-03-01&by=hour', 'from'],
    ['/usage?to=2026-11', 'to'],
    ['/usage?by=colour', 'by'],
    ['/usage?by=', 'by'],
    ['/usage?scope=everybody', 'scope'],
    ['/usage?limit=0', 'limit'],
    ['/usage?limit=1001', 'limit'],
    ['/usage?cursor=x', 'cursor'],
    ['/bills?cursor=x', 'cursor'],
    ['/bills?limit=x', 'limit'],
    ['/bills?month=2026-13', 'month'],
    [`/bills?month=${monthPlus(month, 1)}`, 'month'],
    [`/bills?month=${month}&format=pdf`, 'format'],
  ]
  for (const [path, param] of wrong) {
    const answer = await ask(path)
    const { error } = (await answer.json()) as { error: Record<string, string> }
    expect([path, answer.status, error['param']]).toEqual([path, 400, param])
    expect(error['request_id']).toMatch(requestIdShape)
  }
})

test('browsers may ask with a token, and nothing is kept on the way', async () => {
  const answer = await ask('/usage', apiToken, { origin: 'https://app.example' })
  expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example')
  expect(answer.headers.get('cache-control')).toBe('private, no-store')
  expect(answer.headers.get('x-gateway-request-id')).toMatch(requestIdShape)
})

test('it counts against no rate limit, and works when the money is gone', async () => {
  for (let n = 0; n < 25; n++) expect((await ask('/usage')).status).toBe(200)
  const { available } = (await gateway.admin('GET', '/accounts/acme')).body
  await gateway.admin('POST', '/accounts/acme/credits', { amount: `-${available}`, note: 'out' })
  const messages = [{ role: 'user', content: 'hi' }]
  const refused = await gateway.post('/v1/chat/completions', { model: 'txta-plus', messages })
  expect(refused.status).toBe(402)
  expect((await read(`/bills?month=${month}`)).closing_balance).toBe('0.00')
})

test('a token that is disabled sees nothing', async () => {
  const { id } = (await read('/usage', otherToken)).token
  const made = await gateway.admin('POST', '/tokens', { account: 'rival', name: 'brief' })
  expect((await ask('/bills', made.body.token)).status).toBe(200)
  await gateway.admin('PATCH', `/tokens/${made.body.id}`, { disabled: true })
  expect((await ask('/bills', made.body.token)).status).toBe(401)
  expect(id).toMatch(/^tok_/)
})
