// What is told, over HTTP: each notice follows what a caller or an operator did, once.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { type NoticeReceiver, startReceiver } from '../support/notices.ts'

const caseLimitMs = 60_000

let receiver: NoticeReceiver
let gateway: TestGateway

beforeAll(async () => {
  receiver = startReceiver()
  gateway = await startGateway({
    config: `
accounts: [{ name: acme, balance: "100.00" }, { name: poor, balance: "0.001" }, { name: low, balance: "20.00", balance_low: "10.00" }]
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: poor, name: poor, token: ${apiToken}-poor }
`,
    env: { GATEWAY_EGRESS_ALLOW: '127.0.0.0/8' },
  })
  const events = [
    ...['balance.empty', 'charge.settled', 'loss.booked', 'bill.closed', 'price.missing'],
    ...['ledger.problem', 'balance.low'],
  ]
  const { body } = await gateway.admin('POST', '/webhooks', { url: receiver.url('/all'), events })
  receiver.knows('/all', body.secret)
}, caseLimitMs)
afterAll(async () => {
  await gateway.stop('SIGKILL')
  receiver.stop()
})

describe('a notice', () => {
  test(
    'of each charge comes in a batch, under the id of its ledger entry',
    async () => {
      await Promise.all([1, 2, 3].map((n) => gateway.chat(`hello ${n}`)))
      await receiver.first(() => settled().length >= 3)
      const { items } = (await gateway.admin('GET', '/accounts/acme/ledger')).body
      const charges = items.filter(({ kind }: { kind: string }) => kind === 'charge')
      expect(settled().map(({ id }) => id)).toEqual(idsOf(charges).reverse())
      for (const entry of settled()) {
        const { id, amount, model, request_id, quantity } = charges.find(
          (each: { id: string }) => each.id === entry.id,
        )
        expect(entry).toMatchObject({ id, amount, model, request_id, quantity, account: 'acme' })
      }
    },
    caseLimitMs,
  )

  test(
    'of an empty account comes with the first refusal, and again after a credit',
    async () => {
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
    },
    caseLimitMs,
  )

  test(
    'of a low balance comes once for each crossing',
    async () => {
      const move = (amount: string) =>
        gateway.admin('POST', '/accounts/low/credits', { amount }).then(({ status }) => status)
      const all = () => receiver.ofType('balance.low').map(({ data }) => data)
      // It falls twice below, with a credit in between that does not lift it enough, and one that does.
      for (const amount of ['-11', '-1', '1', '-1', '12', '-15'])
        expect(await move(amount)).toBe(201)
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
    },
    caseLimitMs,
  )

  test(
    'of a model without a price comes when a channel serves it',
    async () => {
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
    },
    caseLimitMs,
  )
})

const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id)
const settled = (): { id: string }[] =>
  receiver.ofType('charge.settled').flatMap(({ data }) => data.entries)
