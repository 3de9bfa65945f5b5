// What is told, over HTTP: each notice follows what a caller or an operator did, once.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { type NoticeReceiver, startReceiver } from '../support/notices.ts'

let receiver: NoticeReceiver
let gateway: TestGateway

beforeAll(async () => {
  receiver = startReceiver()
  gateway = await startGateway({
    config: `
accounts:
  - { name: acme, balance: "100.00", tag_names: [team] }
  - { name: poor, balance: "0.001" }
  - { name: low, balance: "20.00", balance_low: "10.00" }
  - { name: old }
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: poor, name: poor, token: ${apiToken}-poor }
`,
    env: { GATEWAY_EGRESS_ALLOW: '127.0.0.0/8', GATEWAY_SANDBOX_TASK_SECONDS: '0.2' },
  })
  const events = [
    ...['balance.empty', 'charge.settled', 'loss.booked', 'bill.closed', 'price.missing'],
    ...['ledger.problem', 'balance.low', 'budget.reached', 'task.failures'],
  ]
  const { body } = await gateway.admin('POST', '/webhooks', { url: receiver.url('/all'), events })
  receiver.knows('/all', body.secret)
})
afterAll(async () => {
  await gateway.stop('SIGKILL')
  receiver.stop()
})

describe('a notice', () => {
  test('of each charge comes in a batch, under the id of its ledger entry', async () => {
    const messages = [{ role: 'user', content: 'hello' }]
    const tagged = { 'x-gateway-tags': 'team=red' }
    await Promise.all([
      gateway.chat('hello 1'),
      gateway.chat('hello 2'),
      gateway.post('/v1/chat/completions', { model: 'txta-plus', messages }, tagged),
    ])
    await receiver.first(() => settled().length >= 3)
    const { items } = (await gateway.admin('GET', '/accounts/acme/ledger')).body
    const charges = items.filter(({ kind }: { kind: string }) => kind === 'charge')
    expect(settled().map(({ id }) => id)).toEqual(idsOf(charges).reverse())
    for (const entry of settled()) {
      const { id, amount, model, request_id, quantity, tags } = charges.find(
        (each: { id: string }) => each.id === entry.id,
      )
      expect(entry).toMatchObject({ id, amount, model, request_id, quantity, account: 'acme' })
      expect(entry.tags).toEqual(tags)
    }
    expect(settled().filter(({ tags }) => tags['team'] === 'red')).toHaveLength(1)
  })

  test('of an empty account comes with the first refusal, and again after a credit', async () => {
    const call = () =>
      gateway.post(
        '/v1/chat/completions',
        { model: 'txta-plus', messages: [{ role: 'user', content: 'hi' }], max_tokens: 4_000 },
        { authorization: `Bearer ${apiToken}-poor` },
      )
    const refused = async () => (await call()).status
    expect(await refused()).toBe(402)
    expect(await refused()).toBe(402)
    const first = await receiver.first(({ type }) => type === 'balance.empty')
    expect(first.data).toEqual({ account: 'poor', balance: '0.001' })
    const credit = await gateway.admin('POST', '/accounts/poor/credits', { amount: '0.0001' })
    expect(credit.status).toBe(201)
    expect([await refused(), await refused()]).toEqual([402, 402])
    await receiver.first(() => receiver.ofType('balance.empty').length >= 2)
    expect(receiver.ofType('balance.empty').map(({ data }) => data.balance)).toEqual([
      '0.001',
      '0.0011',
    ])
  })

  test('of a low balance comes once for each crossing', async () => {
    const move = (amount: string) =>
      gateway.admin('POST', '/accounts/low/credits', { amount }).then(({ status }) => status)
    const all = () => receiver.ofType('balance.low').map(({ data }) => data)
    // It falls twice below, with a credit in between that does not lift it enough, and one that does.
    for (const amount of ['-11', '-1', '1', '-1', '12', '-15']) expect(await move(amount)).toBe(201)
    await receiver.first(() => all().length >= 2)
    const account = 'low'
    // They are sent at once, and may arrive in any order.
    expect(all().sort((a, b) => b.balance - a.balance)).toEqual([
      { account, balance: '9.00', threshold: '10.00' },
      { account, balance: '5.00', threshold: '10.00' },
    ])
    const { body } = await gateway.admin('POST', '/accounts', {
      ...{ name: 'raised', balance: '5.00', balance_low: '7.00' },
    })
    expect(body.balance_low).toBe('7.00')
    const patch = (balance_low: string | null) =>
      gateway.admin('PATCH', '/accounts/raised', { balance_low })
    expect((await patch(null)).body.balance_low).toBeNull()
    expect((await patch('6.00')).status).toBe(200)
    await receiver.first(() => all().length >= 3)
    expect(all()[2]).toEqual({ account: 'raised', balance: '5.00', threshold: '6.00' })
  })

  test('of a budget comes for the highest step, and anew when the budget is changed', async () => {
    const set = async (amount: string) => {
      const budget = { amount, per: 'total' }
      const { status, body } = await gateway.admin('PATCH', '/accounts/acme', { budget })
      expect(status).toBe(200)
      return body.budget.spent as string
    }
    const spent = await set('1000.00')
    expect(Number(spent)).toBeGreaterThan(0)
    await set(spent)
    const all = () => receiver.ofType('budget.reached').map(({ data }) => data)
    await receiver.first(() => all().length >= 1)
    await set('1000.00')
    const common = { scope: 'account', name: 'acme', account: 'acme', percent: 100 }
    expect(all()).toEqual([{ ...common, amount: spent, spent, per: 'total', resets_at: null }])
  })

  test('of a loss names the request that it is of', async () => {
    const response = await gateway.chat('[[sim:tokens=60]] [[sim:cut=20]]', { stream: true })
    await response.text()
    const { data } = await receiver.first(({ type }) => type === 'loss.booked')
    expect(data).toEqual({
      account: 'acme',
      amount: expect.stringMatching(/^0\.\d+$/),
      request_id: response.headers.get('x-gateway-request-id'),
    })
  })

  test('of tasks comes when half of ten have failed', async () => {
    const film = { model: 'vfa-2.7-t2v', seconds: '5', size: '1280x720' }
    const prompts = [...Array(5).fill('a cat'), ...Array(5).fill('[[sim:fail]]')]
    const made = await Promise.all(
      prompts.map((prompt) => gateway.post('/v1/videos', { ...film, prompt })),
    )
    expect(made.map(({ status }) => status)).toEqual(Array(10).fill(200))
    const { data } = await receiver.first(({ type }) => type === 'task.failures')
    expect(data).toEqual({ model: 'vfa-2.7-t2v', channel: 'sandbox', failed: 5, total: 10 })
  })

  test('of a closed bill has its amount, and one of a ledger that does not add up its account', async () => {
    const lastMonth = new Date()
    lastMonth.setUTCDate(0)
    change(`UPDATE accounts SET created_at_ms = ${lastMonth.getTime()} WHERE name = 'old'`)
    const month = lastMonth.toISOString().slice(0, 7)
    const closed = await gateway.admin('POST', '/bills/close', { account: 'old', month })
    expect(closed.status).toBe(200)
    const bill = await receiver.first(({ type }) => type === 'bill.closed')
    expect(bill.data).toEqual({ account: 'old', month, amount: '0.00' })
    change("UPDATE accounts SET balance_nanos = balance_nanos + 1 WHERE name = 'low'")
    expect((await gateway.admin('POST', '/audit')).body.ok).toBe(false)
    expect((await gateway.admin('POST', '/audit')).body.ok).toBe(false)
    const problem = await receiver.first(({ type }) => type === 'ledger.problem')
    expect(problem.data).toEqual({ account: 'low' })
    expect(receiver.ofType('ledger.problem')).toHaveLength(1)
  })

  test('of a model without a price comes when a channel serves it', async () => {
    const model = { kind: 'text', interfaces: ['chat'] }
    expect((await gateway.admin('PUT', '/models/unpriced-1', model)).status).toBe(200)
    await gateway.admin('POST', '/channels', {
      name: 'other',
      keys: ['k'],
      protocols: { chat: 'http://127.0.0.1:9/v1' },
      models: { 'unpriced-1': '*' },
    })
    const { data } = await receiver.first(({ type }) => type === 'price.missing')
    expect(data).toEqual({ model: 'unpriced-1' })
  })
})

/** Behind the back of the gateway. */
function change(statement: string): void {
  const db = new Database(join(gateway.dataDir, 'gateway.db'), { readwrite: true })
  db.run('PRAGMA busy_timeout = 5000')
  db.run(statement)
  db.close()
}

const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id)
const settled = (): { id: string; tags: Record<string, string> }[] =>
  receiver.ofType('charge.settled').flatMap(({ data }) => data.entries)
