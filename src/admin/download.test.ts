// Lists as files, on both stores: what is in them, and that each role has what it may see.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { refresh } from '../engine/catalog/refresh.ts'
import { newTestEngine, type TestEngine } from '../engine/test-engine.ts'
import { newRequestContext } from '../http/request-context.ts'
import { newId } from '../lib/crypto/ids.ts'
import { CsvReader, unmarked } from '../lib/text/csv.ts'
import { aRequest, charged, postgresUrl, storeKinds } from '../store/test-stores.ts'
import type { AdminApp } from './route.ts'
import { adminRoutes } from './routes.ts'
import { admin } from './test-admin.ts'

const limits = { bodyBytes: 100_000, bodyMs: 5_000, jsonDepth: 20, listPage: 500 }
const password = 'a long enough password'
const many = 6_000

if (postgresUrl === undefined) {
  console.error('left out: lists as files on PostgreSQL (set TEST_POSTGRES_URL)')
}

describe.each([...storeKinds])('lists as files on %s', (on) => {
  let it: TestEngine
  let app: AdminApp
  let accounts: Map<string, string>
  /** What each answer asked of its connection. */
  const pauses: (number | undefined)[] = []

  beforeAll(async () => {
    it = await newTestEngine(on)
    app = admin({ engine: it.engine, limits, isAdmin: (secret) => secret === 'boss' })
    await refresh(it.engine)
    accounts = new Map()
    for (const name of ['acme', 'other']) {
      accounts.set(name, (await asBoss('POST', '/accounts', { name, balance: '1000.00' })).body.id)
    }
    // Without one, nobody's role can be changed.
    await person('administrator')
    await fill()
  })
  afterAll(() => it.close())

  /** Most of one account, and of one model some. */
  async function fill() {
    const models = ['txta-plus', 'txtb-max', '=cmd|x']
    for (let done = 0; done < many; done += 1_000) {
      const all = Array.from({ length: 1_000 }, (_, i) => {
        const accountId = accounts.get(i % 10 === 0 ? 'other' : 'acme')!
        const request = aRequest({ accountId, model: models[i % 3]!, chargeNanos: 7n })
        const isCharged = done < 3_000 && i % 10 !== 0
        return it.engine.store.record(isCharged ? charged(request, 7n) : request)
      })
      await Promise.all(all)
    }
  }

  async function ask(
    method: string,
    path: string,
    { cookie, body, boss }: { cookie?: string | undefined; body?: object; boss?: boolean } = {},
  ) {
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: {
        'sec-fetch-site': 'same-origin',
        ...(boss === true && { authorization: 'Bearer boss' }),
        ...(cookie !== undefined && { cookie }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const keepOpen = (idleSeconds?: number) => pauses.push(idleSeconds)
    const context = newRequestContext(request, { ip: () => '10.0.0.1', keepOpen })
    const answer = await app.fetch(request, { context })
    const set = answer.headers.get('set-cookie')?.split(';')[0]
    const text = Buffer.from(await answer.arrayBuffer()).toString()
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
    let parsed: any = text
    if (answer.headers.get('content-type')?.startsWith('application/json'))
      parsed = JSON.parse(text)
    return { status: answer.status, body: parsed, cookie: set, headers: answer.headers }
  }
  const asBoss = (method: string, path: string, body?: object) =>
    ask(method, path, { boss: true, ...(body !== undefined && { body }) })

  test('a client that reads nothing of a file or a backup is cut off after half a minute', async () => {
    pauses.length = 0
    for (const path of ['/requests?format=csv', '/backup']) {
      expect((await asBoss('GET', path)).status).toBe(200)
    }
    expect(pauses).toEqual([30, 30])
  })

  async function person(role: string, more: object = {}) {
    const name = newId('p').slice(0, 30)
    await asBoss('POST', '/people', { name, password, role, ...more })
    return (await ask('POST', '/session', { body: { name, password } })).cookie
  }

  async function listed(path: string): Promise<object[]> {
    const all: object[] = []
    let cursor = ''
    do {
      const { body } = await asBoss(
        'GET',
        `${path}${path.includes('?') ? '&' : '?'}limit=500${cursor}`,
      )
      all.push(...body.items)
      cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
    } while (cursor !== '')
    return all
  }

  const linesOf = (text: string): object[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as object)

  function tableOf(text: string): Record<string, string>[] {
    const reader = new CsvReader()
    const rows = [...reader.push(text), ...reader.end()].map((row) => {
      if ('problem' in row) throw new Error(row.problem)
      return row.cells.map(unmarked)
    })
    const [head = [], ...rest] = rows
    return rest.map((cells) => Object.fromEntries(head.map((name, i) => [name, cells[i] ?? ''])))
  }

  test('a file has exactly the rows of the list, in its order', async () => {
    const file = await asBoss('GET', '/requests?format=jsonl')
    expect(file.headers.get('content-type')).toBe('application/x-ndjson')
    expect(file.headers.get('content-disposition')).toMatch(
      /^attachment; filename="requests-\d{4}-\d\d-\d\d\.jsonl"$/,
    )
    expect(linesOf(file.body)).toHaveLength(many)
    expect(linesOf(file.body)).toEqual(await listed('/requests'))
  })

  test('a table has them too, marked for spreadsheets, with the filters of the list', async () => {
    const filters = 'account=other&model=%3Dcmd%7Cx'
    const file = await asBoss('GET', `/requests?${filters}&format=csv`)
    expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(file.body.startsWith('\uFEFFat,request_id,')).toBe(true)
    expect(file.body).toContain(",'=cmd|x,")
    const rows = (await listed(`/requests?${filters}`)) as {
      request_id: string
      charge: string
      usage: { input_tokens: number } | null
      attempts: unknown[]
    }[]
    expect(rows.length).toBeGreaterThan(150)
    expect(
      tableOf(file.body).map(({ request_id, charge, usage_input_tokens, attempts }) => ({
        request_id,
        charge,
        usage_input_tokens,
        attempts,
      })),
    ).toEqual(
      rows.map(({ request_id, charge, usage, attempts }) => ({
        request_id,
        charge,
        usage_input_tokens: String(usage?.input_tokens ?? ''),
        attempts: JSON.stringify(attempts),
      })),
    )
  })

  test('every list has one', async () => {
    for (const { method, path, query, answer } of adminRoutes) {
      const isList = answer instanceof z.ZodObject && 'next_cursor' in answer.shape
      if (method !== 'get' || !isList || !('items' in answer.shape)) continue
      expect([path, 'format' in (query?.shape ?? {})]).toEqual([path, true])
    }
    const ledger = await asBoss('GET', '/accounts/acme/ledger?format=jsonl')
    expect(linesOf(ledger.body)).toEqual(await listed('/accounts/acme/ledger'))
    expect(ledger.headers.get('content-disposition')).toContain('"accounts-acme-ledger-')
    const audit = await asBoss('GET', '/audit-log?format=jsonl')
    expect(linesOf(audit.body)).toEqual(await listed('/audit-log'))
    const tasks = await asBoss('GET', '/tasks?format=csv')
    expect(tableOf(tasks.body)).toEqual([])
    expect(tasks.body).toContain(',request_prompt,')
  })

  test('each role has what it may see, and a member the own account alone', async () => {
    const cookies = {
      operator: await person('operator'),
      finance: await person('finance'),
      member: await person('member', { account: 'other' }),
    }
    for (const cookie of Object.values(cookies)) {
      expect((await ask('GET', '/audit-log?format=csv', { cookie })).status).toBe(403)
    }
    const see = (path: string) => ask('GET', path, { cookie: cookies.member })
    expect((await see('/requests?format=csv&account=acme')).status).toBe(404)
    expect((await see('/accounts/acme/ledger?format=csv')).status).toBe(404)
    const rows = linesOf((await see('/requests?format=jsonl')).body)
    expect(rows).toHaveLength(many / 10)
    expect(new Set(rows.map((row) => (row as { account_id: string }).account_id))).toEqual(
      new Set([accounts.get('other')!]),
    )
    expect(rows[0]).not.toHaveProperty('channel')
    const [head] = (await see('/requests?format=csv')).body.split('\r\n')
    expect(head).not.toMatch(/channel|upstream|attempts|,loss,/)
  })

  test('what makes no sense is refused before the file begins', async () => {
    const wrong: [path: string, param: string][] = [
      ['/requests?format=xlsx', 'format'],
      ['/requests?format=csv&status=bad', 'status'],
      ['/requests?format=csv&from=yesterday', 'from'],
      ['/requests?format=csv&cursor=nothing-of-ours', 'cursor'],
      ['/tasks?format=csv&state=sleeping', 'state'],
      ['/tasks?format=csv&interface=nothing', 'interface'],
    ]
    for (const [path, param] of wrong) {
      const { status, body } = await asBoss('GET', path)
      expect([path, status, body.error.param]).toEqual([path, 400, param])
    }
    expect((await asBoss('GET', '/accounts/nobody/ledger?format=csv')).status).toBe(404)
  })
})
