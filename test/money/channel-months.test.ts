// Months of channels over real HTTP, on both stores: what was billed beside what it should cost, the file for a
// dispute, and closing: once, signed, with a reason where there are questions, whole or not at all.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSigned } from '../../src/lib/crypto/signing.ts'
import { monthAt, monthBounds, monthPlus } from '../../src/lib/text/month.ts'
import { insertAccount } from '../../src/store/catalog/accounts.ts'
import { aRequest, newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { adminToken, root, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import { newPerson } from '../support/sign-in.ts'

const month = monthPlus(monthAt(Date.now()), -1)
const { fromMs, untilMs } = monthBounds(month)!
const nextMonth = monthPlus(month, 1)
const minute = 60_000
const config = `
exchange: { USD: "7.00" }
accounts: [{ name: acme, balance: "100.00" }]
channels:
  - name: cloud-a
    keys: [upk-0123456789abcdef]
    protocols: { chat: "http://127.0.0.1:9/v1" }
    models: { txta-plus: up-plus, txta-turbo: up-turbo }
  - name: cloud-b
    keys: [upk-0123456789abcdef]
    protocols: { chat: "http://127.0.0.1:9/v1" }
    models: { txta-plus: "*" }
`

/** Calls of the past, as gateways have recorded them. */
const calls = [
  { id: 'up-1', atMs: fromMs + minute },
  { id: 'up-2', atMs: fromMs + 2 * minute },
  { id: 'up-3', atMs: fromMs + 3 * minute },
  { id: 'up-4', atMs: fromMs + 4 * minute, costNanos: null },
  { id: 'up-5', atMs: untilMs - minute },
]

async function placeWithPast(engine: (typeof storeKinds)[number]): Promise<Place> {
  const place = await newPlace(engine)
  const store = await place.open()
  await store.tx((tx) =>
    insertAccount(tx, { id: 'acc_1', name: 'past', source: 'api', createdAtMs: 1 }),
  )
  for (const { id, atMs, costNanos = 5_000_000n } of calls) {
    const request = aRequest({
      ...{ atMs, channel: 'cloud-a', upstreamRequestId: id, status: 200, chargeNanos: 9_000_000n },
      usage: { inputTokens: 20, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 },
      costNanos,
    })
    request.detail.upstreamModel = 'up-plus'
    await store.record(request)
  }
  await store.close()
  return place
}

const start = ({ options }: Place, env: Record<string, string> = {}) =>
  startGateway({
    ...{ config, dataDir: options.dataDir },
    env: {
      ...(options.databaseUrl !== undefined && { GATEWAY_DATABASE_URL: options.databaseUrl }),
      ...env,
    },
  })

const head = 'Request ID,Time,Model,Tokens,Cost'
const dayIn = (day: string) => `${month}-${day}`
const lines = [
  `up-1,${dayIn('01')} 00:01:00,up-plus,25,0.005`,
  `up-2,${dayIn('01')} 00:02:00,up-plus,25,0.006`,
  `up-4,${dayIn('01')} 00:04:00,up-plus,25,0.004`,
  `up-9,${dayIn('02')} 00:00:00,up-plus,25,0.005`,
  `up-3,${dayIn('01')} 00:03:00,up-turbo,25,0.005`,
]

async function upload(
  gateway: TestGateway,
  rows: readonly string[],
  query: Record<string, string> = {},
) {
  const asked = { channel: 'cloud-a', from: dayIn('01'), to: `${nextMonth}-01`, ...query }
  const response = await fetch(`${gateway.url}/admin/v1/statements?${new URLSearchParams(asked)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'text/csv' },
    body: `${[head, ...rows].join('\n')}\n`,
  })
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  return { status: response.status, body: (await response.json()) as any }
}

const monthOf = async (gateway: TestGateway, channel = 'cloud-a') =>
  (await gateway.admin('GET', `/months/${month}/channels?channel=${channel}`)).body.items[0]

const close = async (gateway: TestGateway, body: object, key?: string) => {
  const response = await fetch(`${gateway.url}/admin/v1/months/${month}/close`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: JSON.stringify(body),
  })
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  return { status: response.status, body: (await response.json()) as any }
}

const closings = async (gateway: TestGateway) => {
  const { body } = await gateway.admin('GET', '/audit-log?limit=500')
  return body.items.filter(({ action }: { action: string }) => action === 'channel_month.close')
}

const verify = async (file: string) => {
  const child = Bun.spawn([`${root}/bin/gateway`, 'verify', file, '--json'], {
    ...{ env: ownEnv, stdout: 'pipe', stderr: 'pipe' },
  })
  const answer = JSON.parse(await new Response(child.stdout).text())
  return { code: await child.exited, answer }
}

describe.each([...storeKinds])('months of channels on %s', (engine) => {
  let place: Place
  let gateway: TestGateway
  let other: TestGateway | undefined
  beforeAll(async () => {
    place = await placeWithPast(engine)
    // It dies when it has closed a second month.
    gateway = await start(place, { GATEWAY_CRASH_AT: 'channel-month-closed:2' })
    if (engine === 'postgres') other = await start(place)
  })
  afterAll(async () => {
    expect(await gateway.stop()).toBe(0)
    if (other !== undefined && other !== gateway) expect(await other.stop()).toBe(0)
    await place.remove()
  })

  test('without a statement nothing is known, and every day is missing', async () => {
    const { body } = await gateway.admin('GET', `/months/${month}/channels`)
    expect(body.items.map(({ channel }: { channel: string }) => channel)).toEqual([
      'cloud-a',
      'cloud-b',
    ])
    expect(body.items[0]).toMatchObject({ state: 'open', invoice: null, difference: null })
    expect(body.items[0].missing_days).toHaveLength((untilMs - fromMs) / 86_400_000)
    const list = (await gateway.admin('GET', `/months/${month}`)).body
    expect(list).toMatchObject({ month, is_over: true })
    expect(list.steps.slice(0, 2)).toEqual([
      { step: 'statements', state: 'open', done: 0, total: 2 },
      { step: 'differences', state: 'open', done: 0, total: 2 },
    ])
    expect(list.steps[2].step).toBe('bills_closed')
  })

  test('each difference has its reason, and the reasons add up', async () => {
    expect((await upload(gateway, lines)).status).toBe(201)
    const found = await monthOf(gateway)
    expect(found).toMatchObject({ invoice: '0.025', ours: '0.02', difference: '0.005' })
    const row = (reason: string, invoice: string, ours: string, difference: string) => ({
      ...{ reason, lines: 1, invoice, ours, difference, explained: reason === 'matched' },
    })
    expect(found.explained_by).toEqual([
      row('matched', '0.005', '0.005', '0.00'),
      row('price_differs', '0.006', '0.005', '0.001'),
      row('model_differs', '0.005', '0.005', '0.00'),
      row('unknown_cost', '0.004', '0.00', '0.004'),
      row('upstream_only', '0.005', '0.00', '0.005'),
      row('gateway_only', '0.00', '0.005', '-0.005'),
    ])
    expect([found.unexplained_lines, found.missing_days]).toEqual([5, []])
  })

  test('the lines behind a reason, and the file for a dispute with our ids', async () => {
    const path = `/months/${month}`
    const { body } = await gateway.admin(
      'GET',
      `${path}/lines?channel=cloud-a&reason=price_differs`,
    )
    expect(body.items).toMatchObject([
      {
        ...{ reason: 'price_differs', upstream_id: 'up-2', day: dayIn('01'), model: 'up-plus' },
        ...{ amount: '0.006', our_amount: '0.005', difference: '0.001', currency: 'CNY' },
      },
    ])
    const all = []
    let cursor = ''
    do {
      const page = await gateway.admin('GET', `${path}/dispute?channel=cloud-a&limit=2${cursor}`)
      all.push(...page.body.items)
      cursor = page.body.next_cursor === null ? '' : `&cursor=${page.body.next_cursor}`
    } while (cursor !== '')
    expect(all.map(({ upstream_id }) => upstream_id)).toEqual([
      'up-2',
      'up-4',
      'up-9',
      'up-3',
      'up-5',
    ])
    expect(all[0].request_ids).toEqual([expect.stringMatching(/^req_/)])
    expect(all[2].request_ids).toEqual([])
    const file = await fetch(`${gateway.url}/admin/v1${path}/dispute?channel=cloud-a&format=csv`, {
      headers: { authorization: `Bearer ${adminToken}` },
    })
    const [first, ...rows] = (await file.text()).trim().split('\r\n')
    expect(first).toContain(
      'reason,upstream_id,day,at,model,quantity,our_quantity,amount,our_amount',
    )
    expect(rows).toHaveLength(5)
    expect(rows.join()).toContain(all[0].request_ids[0])
  })

  test('of statements about the same day the newest counts', async () => {
    const fixed = lines.map((line) => line.replace('0.006', '0.005'))
    const { body } = await upload(gateway, fixed.slice(0, 2), { to: dayIn('02') })
    const found = await monthOf(gateway)
    const reasons = found.explained_by.map(({ reason }: { reason: string }) => reason)
    expect(reasons).toEqual(['matched', 'upstream_only', 'gateway_only'])
    expect(found.statements).toHaveLength(2)
    expect((await gateway.admin('DELETE', `/statements/${body.id}`)).status).toBe(200)
    expect(await monthOf(gateway)).toMatchObject({ invoice: '0.025' })
  })

  test('a line of another currency is converted; without a rate it is refused', async () => {
    const row = `up-1,${dayIn('01')} 00:01:00,up-plus,25`
    const dear = await upload(gateway, [`${row},0.005`, `up-2${row.slice(4)},0.005 USD`])
    const { items } = (
      await gateway.admin('GET', `/months/${month}/lines?channel=cloud-a&reason=exchange`)
    ).body
    expect(items).toMatchObject([{ upstream_id: 'up-2', amount: '0.035', billed_in: 'USD' }])
    await gateway.admin('DELETE', `/statements/${dear.body.id}`)
    const wrong = await upload(gateway, [`${row},0.005 GBP`])
    expect(wrong.status).toBe(400)
    expect(wrong.body.error.message).toContain("line 2: amounts in GBP have no rate in 'exchange'")
  })

  test('what is wrong is refused, and nothing is closed', async () => {
    const cases: [path: string, status: number, param: string | null][] = [
      ['/months/2026-13', 400, 'month'],
      [`/months/${monthPlus(month, 2)}/channels`, 400, 'month'],
      [`/months/${month}/lines`, 400, 'channel'],
      [`/months/${month}/lines?channel=cloud-a&reason=bad`, 400, 'reason'],
      [`/months/${month}/lines?channel=cloud-a&cursor=x`, 400, 'cursor'],
      [`/months/${month}/dispute?channel=nobody`, 404, null],
      [`/months/${month}/dispute?channel=%00`, 404, null],
    ]
    for (const [path, status, param] of cases) {
      const answer = await gateway.admin('GET', path)
      expect([path, answer.status, answer.body.error.param]).toEqual([path, status, param])
    }
    const orders: [body: object, status: number, param: string | null][] = [
      [{}, 400, 'channel'],
      [{ channel: 'nobody' }, 404, null],
      [{ channel: 'cloud-a', force: true }, 400, 'force'],
      [{ channel: 'cloud-a', note: 'x'.repeat(501) }, 400, 'note'],
      [{ channel: 'cloud-a' }, 409, 'reason'],
      [{ channel: 'cloud-a', reason: ' ' }, 400, 'reason'],
      [{ channel: 'cloud-b' }, 409, 'reason'],
    ]
    for (const [body, status, param] of orders) {
      const answer = await close(gateway, body)
      expect([body, answer.status, answer.body.error.param]).toEqual([body, status, param])
    }
    const early = await gateway.admin('POST', `/months/${nextMonth}/close`, { channel: 'cloud-a' })
    expect([early.status, early.body.error.param]).toEqual([400, 'month'])
    expect(await closings(gateway)).toEqual([])
  })

  test('finance may; operators and members may not, and learn nothing', async () => {
    const finance = await newPerson(gateway, { name: 'fin', role: 'finance' })
    expect((await finance.ask('GET', `/months/${month}/channels`)).status).toBe(200)
    for (const person of [
      { name: 'op', role: 'operator' },
      { name: 'mem', role: 'member', account: 'acme' },
    ]) {
      const { ask } = await newPerson(gateway, person)
      for (const path of ['', '/channels', '/lines?channel=cloud-a', '/dispute?channel=cloud-a']) {
        const { status, text } = await ask('GET', `/months/${month}${path}`)
        expect([path, status >= 403]).toEqual([path, true])
        expect(text).not.toContain('cloud-')
      }
      const { status } = await ask('POST', `/months/${month}/close`, { channel: 'cloud-a' })
      expect(status).toBeGreaterThanOrEqual(403)
    }
  })

  const order = { channel: 'cloud-a', note: 'invoice 4711', reason: 'below the limit' }

  test('is closed once, however many ask for it at once, at all gateways', async () => {
    const asked = Array.from({ length: 6 }, (_, n) =>
      close(n % 2 === 0 ? gateway : (other ?? gateway), order, `key-${n}`),
    )
    const answers = await Promise.all(asked)
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409, 409])
    const at = answers.findIndex(({ status }) => status === 200)
    const { body } = answers[at]!
    expect(body).toMatchObject({
      state: 'closed',
      invoice: '0.025',
      is_signed: true,
      late_lines: 0,
    })
    expect(body.closing.booked).toMatchObject({
      ...{ amount: '0.005', note: 'invoice 4711', reason: 'below the limit' },
    })
    // The same call again gets the same answer; another one is refused.
    expect((await close(gateway, order, `key-${at}`)).body).toEqual(body)
    expect((await close(gateway, { ...order, note: 'no' }, `key-${at}`)).status).toBe(409)
    expect((await close(gateway, order)).body.error.message).toContain('was closed by')
    const rows = await closings(gateway)
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({ subject: 'cloud-a', after: { month, difference: '0.005' } })
  })

  test('the closing is signed; gateway verify tells when a figure was changed', async () => {
    const found = await monthOf(gateway)
    const { proof, ...record } = found.closing
    expect(isSigned(JSON.stringify(record), proof.key, proof.signature)).toBe(true)
    if (engine === 'postgres') return
    const file = join(tempDir(), 'closing.json')
    writeFileSync(file, JSON.stringify(found))
    expect(await verify(file)).toMatchObject({
      code: 0,
      answer: { valid: true, channel: 'cloud-a', month, difference: '0.005' },
    })
    const closing = { ...found.closing, difference: '0.00' }
    writeFileSync(file, JSON.stringify({ ...found, closing }))
    expect(await verify(file)).toMatchObject({ code: 1, answer: { valid: false } })
  })

  test('a closed month stays as it is; what is billed later is shown as late', async () => {
    const before = await monthOf(gateway)
    const kept = await gateway.admin('DELETE', `/statements/${before.statements[0].id}`)
    expect([kept.status, kept.body.error.code]).toEqual([409, 'conflict'])
    expect(
      (await upload(gateway, [...lines, `up-5,${dayIn('28')} 23:00:00,up-plus,25,0.005`])).status,
    ).toBe(201)
    const after = await monthOf(gateway)
    expect(after).toEqual({ ...before, late_lines: 1, late_amount: '0.005' })
    const path = `/months/${month}/lines?channel=cloud-a`
    const { items } = (await gateway.admin('GET', `${path}&late=true`)).body
    expect(items).toMatchObject([{ upstream_id: 'up-5', amount: '0.005' }])
    expect((await gateway.admin('GET', path)).body.items).toHaveLength(6)
    const { steps } = (await gateway.admin('GET', `/months/${month}`)).body
    expect(steps.slice(0, 2).map(({ done }: { done: number }) => done)).toEqual([1, 1])
  })

  test('a gateway that dies when it has closed one leaves it closed; the same call again gets it', async () => {
    const order = { channel: 'cloud-b', reason: 'no invoice' }
    await expect(close(gateway, order, 'same')).rejects.toThrow()
    await gateway.exited
    gateway = other ?? (await start(place, { GATEWAY_CRASH_AT: 'channel-month-closing' }))
    expect(await monthOf(gateway, 'cloud-b')).toMatchObject({ state: 'closed', invoice: '0.00' })
    expect((await close(gateway, order, 'same')).status).toBe(200)
    expect(await closings(gateway)).toHaveLength(2)
    if (other !== undefined) return
    // One that dies before leaves nothing.
    await upload(gateway, lines, { channel: 'gone' })
    const third = { channel: 'gone', reason: 'tried twice' }
    await expect(close(gateway, third, 'other')).rejects.toThrow()
    await gateway.exited
    gateway = await start(place)
    expect(await monthOf(gateway, 'gone')).toMatchObject({ state: 'open' })
    expect(await closings(gateway)).toHaveLength(2)
    expect((await close(gateway, third, 'other')).body).toMatchObject({ state: 'closed' })
  })
})
