// Exports on both stores: what is in the file, that nothing is lost when somebody dies over it, who may
// have it, and that it goes away.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Exporter } from '../../engine/books/exports/exporter.ts'
import type { ExportLimits } from '../../engine/books/exports/run-export.ts'
import type { ExportSources } from '../../engine/books/exports/source.ts'
import { refresh } from '../../engine/catalog/refresh.ts'
import type { Engine } from '../../engine/engine.ts'
import { newTestEngine, type TestEngine } from '../../engine/test-engine.ts'
import { newRequestContext } from '../../http/request-context.ts'
import { newId } from '../../lib/crypto/ids.ts'
import { CsvReader, unmarked } from '../../lib/text/csv.ts'
import { aCharge, aRequest, newPlace, postgresUrl, storeKinds } from '../../store/test-stores.ts'
import { admin } from '../index.ts'
import type { AdminApp } from '../route.ts'
import { exportSources } from './export-sources.ts'

const limits = { bodyBytes: 100_000, bodyMs: 5_000, jsonDepth: 20, listPage: 500 }
const password = 'a long enough password'
/** No pauses, and pieces small enough for several. */
const quick = { pauseMs: 0, pieceChars: 200_000 }
const many = 25_000

if (postgresUrl === undefined) {
  console.error('left out: exports on PostgreSQL (set TEST_POSTGRES_URL)')
}

/** Somebody dies over a page. */
function dyingAfter(engine: Engine, pages: number): ExportSources {
  let left = pages
  const sources = exportSources(engine)
  return {
    ...sources,
    async requests(filters) {
      const source = await sources.requests(filters, 'staff')
      if ('code' in source) return source
      return {
        ...source,
        async *pages(place, rowsBefore) {
          for await (const page of source.pages(place, rowsBefore)) {
            if (left-- === 0) throw new Error('the plug was pulled')
            yield page
          }
        },
      }
    },
  }
}

describe.each([...storeKinds])('exports on %s', (on) => {
  let it: TestEngine
  let app: AdminApp
  let accounts: Map<string, string>

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
  }, 60_000)
  afterAll(() => it.close())

  /** Most of one account, and of one model some. */
  async function fill() {
    const models = ['txta-plus', 'txtb-max', '=cmd|x']
    for (let done = 0; done < many; done += 1_000) {
      const all = Array.from({ length: 1_000 }, (_, i) => {
        const accountId = accounts.get(i % 10 === 0 ? 'other' : 'acme')!
        const request = aRequest({ accountId, model: models[i % 3]!, chargeNanos: 7n })
        const isCharged = done < 3_000 && i % 10 !== 0
        return it.engine.store.record(request, isCharged ? aCharge(request, 7n) : undefined)
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
    const context = newRequestContext(request, { ip: () => '10.0.0.1', keepOpen: () => {} })
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

  async function person(role: string, more: object = {}) {
    const name = newId('p').slice(0, 30)
    await asBoss('POST', '/people', { name, password, role, ...more })
    return (await ask('POST', '/session', { body: { name, password } })).cookie
  }

  const newExporter = (sources = exportSources(it.engine), limits: Partial<ExportLimits> = quick) =>
    new Exporter(it.engine, sources, limits)
  const run = (exporter = newExporter()) => exporter.runNext()

  /** From the first word to the whole file. */
  async function exported(input: object, exporter?: Exporter) {
    const begun = await asBoss('POST', '/exports', input)
    expect(begun.status).toBe(202)
    expect(begun.body).toMatchObject({ state: 'waiting', rows: 0 })
    expect(await run(exporter)).toBe(true)
    const job = (await asBoss('GET', `/exports/${begun.body.id}`)).body
    return { job, file: await asBoss('GET', `/exports/${begun.body.id}/file`) }
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
    const { job, file } = await exported({ kind: 'requests', format: 'jsonl' })
    expect(job).toMatchObject({
      state: 'done',
      rows: many,
      rows_total: many,
      limit_reached: false,
      created_by: 'admin',
    })
    expect(file.headers.get('content-type')).toBe('application/x-ndjson')
    expect(file.headers.get('content-disposition')).toMatch(
      /^attachment; filename="requests-.*jsonl"/,
    )
    expect(Buffer.byteLength(file.body)).toBe(job.bytes)
    expect(linesOf(file.body)).toEqual(await listed('/requests'))
  }, 60_000)

  test('a table has them too, marked for spreadsheets, with the filters of the list', async () => {
    const filters = { account: 'other', model: '=cmd|x' }
    const { job, file } = await exported({ kind: 'requests', filters })
    expect(file.body.startsWith('\uFEFFrequest_id,at,')).toBe(true)
    expect(file.body).toContain(",'=cmd|x,")
    const rows = (await listed('/requests?account=other&model=%3Dcmd%7Cx')) as {
      request_id: string
      charge: string
      attempts: unknown[]
    }[]
    expect(rows.length).toBeGreaterThan(500)
    expect(job).toMatchObject({ rows: rows.length, filters })
    expect(
      tableOf(file.body).map(({ request_id, charge, attempts }) => ({
        request_id,
        charge,
        attempts,
      })),
    ).toEqual(
      rows.map(({ request_id, charge, attempts }) => ({
        request_id,
        charge,
        attempts: String(attempts.length),
      })),
    )
  }, 30_000)

  test('the other lists are exported as they are shown', async () => {
    const ledger = await exported({ kind: 'ledger', format: 'jsonl', filters: { account: 'acme' } })
    expect(linesOf(ledger.file.body)).toEqual(await listed('/accounts/acme/ledger'))
    expect(ledger.job.rows).toBe(2_701)
    const changes = await listed('/audit-log')
    const audit = await exported({ kind: 'audit_log', format: 'jsonl' })
    expect(linesOf(audit.file.body).slice(1)).toEqual(changes)
    const tasks = await exported({ kind: 'tasks' })
    expect(tasks.job.rows).toBe(0)
    expect(tableOf(tasks.file.body)).toEqual([])
    expect(tasks.file.body).toContain('prompt')
  }, 30_000)

  test('bill lines are the signed file of the bill, byte for byte', async () => {
    const month = new Date(it.clock.ms).toISOString().slice(0, 7)
    const { job, file } = await exported({
      kind: 'bill_lines',
      filters: { account: 'acme', month },
    })
    const whole = await asBoss('GET', `/bills?account=acme&month=${month}&format=csv`)
    expect(job).toMatchObject({ rows: 2_701, rows_total: 2_701 })
    const signed = (text: string) => text.trimEnd().split(',').at(-1)
    expect(signed(file.body)).toMatch(/^[\w-]{86}$/)
    expect(file.body).toBe(whole.body)
  }, 30_000)

  test('whoever dies over it is taken over from, and no row is lost or there twice', async () => {
    const begun = await asBoss('POST', '/exports', { kind: 'requests', format: 'jsonl' })
    const path = `/exports/${begun.body.id}`
    let before = 0
    for (const pages of [40, 3, 55]) {
      expect(await run(newExporter(dyingAfter(it.engine, pages)))).toBe(false)
      const { body: job } = await asBoss('GET', path)
      expect(job.state).toBe('running')
      expect(job.rows).toBeGreaterThanOrEqual(before)
      before = job.rows
    }
    expect(before).toBeGreaterThan(5_000)
    expect((await asBoss('GET', `${path}/file`)).status).toBe(409)
    expect(await run()).toBe(true)
    const ids = linesOf((await asBoss('GET', `${path}/file`)).body) as { request_id: string }[]
    expect(new Set(ids.map(({ request_id }) => request_id)).size).toBe(many)
    expect(ids).toHaveLength(many)
  }, 60_000)

  test('a bill that was broken off is signed as if it had not been', async () => {
    const month = new Date(it.clock.ms).toISOString().slice(0, 7)
    const input = { kind: 'bill_lines', filters: { account: 'acme', month } }
    const begun = await asBoss('POST', '/exports', input)
    let left = 2
    const sources = exportSources(it.engine)
    const dying = {
      ...sources,
      async bill_lines(filters: Readonly<Record<string, string>>) {
        const source = await sources.bill_lines(filters, 'staff')
        if ('code' in source) return source
        return {
          ...source,
          async *pages(place: string | undefined, rowsBefore: number) {
            for await (const page of source.pages(place, rowsBefore)) {
              if (left-- === 0) throw new Error('the plug was pulled')
              yield page
            }
          },
        }
      },
    }
    expect(await run(newExporter(dying, { ...quick, pieceChars: 1_000 }))).toBe(false)
    const { body: half } = await asBoss('GET', `/exports/${begun.body.id}`)
    expect(half.rows).toBeGreaterThan(0)
    expect(half.rows).toBeLessThan(2_701)
    expect(await run()).toBe(true)
    const file = await asBoss('GET', `/exports/${begun.body.id}/file`)
    const whole = await asBoss('GET', `/bills?account=acme&month=${month}&format=csv`)
    expect(file.body).toBe(whole.body)
  }, 30_000)

  test('a gateway that stops gives its work back', async () => {
    const filters = { account: 'other' }
    const begun = await asBoss('POST', '/exports', { kind: 'requests', filters })
    it.engine.load.draining = true
    expect(await run()).toBe(true)
    it.engine.load.draining = false
    const { body: job } = await asBoss('GET', `/exports/${begun.body.id}`)
    expect(job.state).toBe('running')
    expect(await run()).toBe(true)
    expect((await asBoss('GET', `/exports/${begun.body.id}`)).body.state).toBe('done')
  }, 30_000)

  test('what fails every time is given up, and says so', async () => {
    const begun = await asBoss('POST', '/exports', { kind: 'requests' })
    for (let tries = 0; tries < 5; tries++) {
      expect(await run(newExporter(dyingAfter(it.engine, 0)))).toBe(false)
    }
    expect(await run(newExporter(dyingAfter(it.engine, 0)))).toBe(true)
    const { body: job } = await asBoss('GET', `/exports/${begun.body.id}`)
    expect(job).toMatchObject({ state: 'failed', rows: 0 })
    expect(job.error).toContain('broke off')
    expect((await asBoss('GET', `/exports/${begun.body.id}/file`)).status).toBe(409)
  })

  test('a file has a limit, and says when it was reached', async () => {
    const small = (more: Partial<ExportLimits>) => newExporter(undefined, { ...quick, ...more })
    const input = { kind: 'requests', format: 'jsonl' }
    const byRows = await exported(input, small({ maxRows: 450 }))
    expect(byRows.job).toMatchObject({ state: 'done', rows: 450, limit_reached: true })
    expect(linesOf(byRows.file.body)).toHaveLength(450)
    const bySize = await exported(input, small({ maxStoredBytes: 1 }))
    expect(bySize.job).toMatchObject({ state: 'done', limit_reached: true })
    expect(bySize.job.rows).toBeGreaterThan(0)
    expect(linesOf(bySize.file.body)).toHaveLength(bySize.job.rows)
  })

  test('everybody exports what they may see, and has what is theirs', async () => {
    const cookies = {
      operator: await person('operator'),
      finance: await person('finance'),
      member: await person('member', { account: 'other' }),
    }
    const begin = (cookie: string | undefined, kind: string, filters = {}) =>
      ask('POST', '/exports', { cookie, body: { kind, format: 'jsonl', filters } })
    const account = { account: 'acme' }
    expect((await begin(cookies.operator, 'bill_lines', account)).status).toBe(403)
    for (const cookie of Object.values(cookies)) {
      expect((await begin(cookie, 'audit_log')).status).toBe(403)
    }
    const bills = await begin(cookies.finance, 'bill_lines', account)
    expect(bills.status).toBe(202)
    expect((await begin(cookies.member, 'requests', account)).status).toBe(404)
    const own = await begin(cookies.member, 'requests')
    expect(own.body.filters).toEqual({ account: accounts.get('other') })
    while (await run());
    const see = (cookie: string | undefined, path: string) => ask('GET', path, { cookie })
    const rows = linesOf((await see(cookies.member, `/exports/${own.body.id}/file`)).body)
    expect(rows).toHaveLength(many / 10)
    expect(new Set(rows.map((row) => (row as { account_id: string }).account_id))).toEqual(
      new Set([accounts.get('other')!]),
    )
    for (const cookie of [cookies.operator, cookies.member]) {
      for (const path of [`/exports/${bills.body.id}`, `/exports/${bills.body.id}/file`]) {
        expect((await see(cookie, path)).status).toBe(404)
      }
      const deleted = await ask('DELETE', `/exports/${bills.body.id}`, { cookie })
      expect(deleted.status).toBe(404)
    }
    const idsOf = async (cookie: string | undefined) =>
      (await see(cookie, '/exports')).body.items.map(({ id }: { id: string }) => id)
    expect(await idsOf(cookies.member)).toEqual([own.body.id])
    expect(await idsOf(cookies.finance)).toEqual([bills.body.id])
    expect(await idsOf(cookies.operator)).toEqual([])
    const all = (await asBoss('GET', '/exports?limit=2')).body.items
    expect(all.map(({ id }: { id: string }) => id)).toEqual([own.body.id, bills.body.id])
  }, 30_000)

  test('a role that was taken away takes its files along', async () => {
    const name = newId('p').slice(0, 30)
    const made = await asBoss('POST', '/people', { name, password, role: 'finance' })
    const { cookie } = await ask('POST', '/session', { body: { name, password } })
    const body = { kind: 'bill_lines', filters: { account: 'acme' } }
    const { body: job } = await ask('POST', '/exports', { cookie, body })
    await run()
    expect((await ask('GET', `/exports/${job.id}/file`, { cookie })).status).toBe(200)
    const patched = await asBoss('PATCH', `/people/${made.body.id}`, { role: 'operator' })
    expect(patched.status).toBe(200)
    const again = (await ask('POST', '/session', { body: { name, password } })).cookie
    expect((await ask('GET', `/exports/${job.id}/file`, { cookie: again })).status).toBe(404)
    expect((await ask('GET', '/exports', { cookie: again })).body.items).toEqual([])
  })

  test('what makes no sense is refused before it begins', async () => {
    const wrong: [object, string][] = [
      [{}, 'kind'],
      [{ kind: 'secrets' }, 'kind'],
      [{ kind: 'requests', format: 'xlsx' }, 'format'],
      [{ kind: 'requests', more: 1 }, 'more'],
      [{ kind: 'requests', filters: { state: 'x' } }, 'filters.state'],
      [{ kind: 'requests', filters: { status: 'bad' } }, 'status'],
      [{ kind: 'requests', filters: { from: 'yesterday' } }, 'from'],
      [{ kind: 'requests', filters: { model: '' } }, 'filters.model'],
      [{ kind: 'tasks', filters: { state: 'sleeping' } }, 'state'],
      [{ kind: 'ledger' }, 'filters.account'],
      [{ kind: 'audit_log', filters: { account: 'acme' } }, 'filters.account'],
      [{ kind: 'bill_lines', filters: { account: 'acme', month: '2026-13' } }, 'filters.month'],
      [{ kind: 'bill_lines', filters: { account: 'acme', month: '9999-01' } }, 'filters.month'],
    ]
    for (const [body, param] of wrong) {
      const { status, body: answer } = await asBoss('POST', '/exports', body)
      expect([body, status, answer.error.param]).toEqual([body, 400, param])
    }
    const nobody = { kind: 'ledger', filters: { account: 'nobody' } }
    expect((await asBoss('POST', '/exports', nobody)).status).toBe(404)
    for (const id of ['nothing', '%00', 'export_']) {
      expect((await asBoss('GET', `/exports/${id}`)).status).toBe(404)
      expect((await asBoss('GET', `/exports/${id}/file`)).status).toBe(404)
      expect((await asBoss('DELETE', `/exports/${id}`)).status).toBe(404)
    }
    expect(await run()).toBe(false)
  })

  test('nobody fills the queue', async () => {
    const cookie = await person('operator')
    const begin = () => ask('POST', '/exports', { cookie, body: { kind: 'tasks' } })
    for (let i = 0; i < 5; i++) expect((await begin()).status).toBe(202)
    expect((await begin()).status).toBe(409)
    while (await run());
    expect((await begin()).status).toBe(202)
    while (await run());
  })

  test('one that was deleted is gone, also from under whoever writes it', async () => {
    const begun = await asBoss('POST', '/exports', { kind: 'requests' })
    const path = `/exports/${begun.body.id}`
    const before = await chunks()
    const sources = exportSources(it.engine)
    const deleting: ExportSources = {
      ...sources,
      async requests(filters) {
        const source = await sources.requests(filters, 'staff')
        if ('code' in source) return source
        return {
          ...source,
          async *pages(place, rowsBefore) {
            let page = 0
            for await (const each of source.pages(place, rowsBefore)) {
              if (++page === 30) expect((await asBoss('DELETE', path)).status).toBe(200)
              yield each
            }
          },
        }
      },
    }
    expect(await run(newExporter(deleting))).toBe(true)
    expect((await asBoss('GET', path)).status).toBe(404)
    expect((await asBoss('DELETE', path)).status).toBe(404)
    await newExporter().tidy()
    expect(await chunks()).toBe(before)
    const [last] = (await asBoss('GET', '/audit-log?limit=1')).body.items
    expect(last).toMatchObject({ action: 'export.delete', subject: begun.body.id })
  }, 30_000)

  const chunks = async (): Promise<number> => {
    const found = await it.engine.store.read.selectFrom('export_chunks').select('number').execute()
    return found.length
  }

  test('a day later they are all gone', async () => {
    expect((await listed('/exports')).length).toBeGreaterThan(5)
    const exporter = newExporter()
    await exporter.tidy()
    expect((await listed('/exports')).length).toBeGreaterThan(5)
    it.clock.ms += 24.5 * 3_600_000
    await exporter.tidy()
    expect(await listed('/exports')).toEqual([])
    expect(await chunks()).toBe(0)
  }, 30_000)
})

if (postgresUrl !== undefined) {
  test('another gateway on the same database goes on where one died', async () => {
    const it = await newTestEngine('sqlite')
    const place = await newPlace('postgres')
    const [one, two] = [await place.open({ join: true }), await place.open({ join: true })]
    const first: Engine = { ...it.engine, store: one }
    const second: Engine = { ...it.engine, store: two }
    const rows = 3_000
    await Promise.all(Array.from({ length: rows }, () => one.record(aRequest())))
    const app = admin({ engine: first, limits, isAdmin: () => true })
    const ask = async (method: string, path: string, body?: object) => {
      const request = new Request(`http://localhost${path}`, {
        method,
        headers: { authorization: 'Bearer boss', 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const context = newRequestContext(request, { ip: () => '10.0.0.1', keepOpen: () => {} })
      return (await app.fetch(request, { context })).text()
    }
    const begun = JSON.parse(
      await ask('POST', '/exports', { kind: 'requests', format: 'jsonl' }),
    ) as { id: string }
    const held = { ...quick, pieceChars: 50_000 }
    const dying = new Exporter(first, dyingAfter(first, 8), { ...held, leaseMs: 60_000 })
    expect(await dying.runNext()).toBe(false)
    const exporter = new Exporter(second, exportSources(second), held)
    // Nobody knows yet that the first one will not come back.
    expect(await exporter.runNext()).toBe(false)
    await one.close()
    await two.cluster!.sweep()
    const other = admin({ engine: second, limits, isAdmin: () => true })
    while (!(await exporter.runNext())) await Bun.sleep(50)
    const request = new Request(`http://localhost/exports/${begun.id}/file`, {
      headers: { authorization: 'Bearer boss' },
    })
    const context = newRequestContext(request, { ip: () => '10.0.0.1', keepOpen: () => {} })
    const file = await (await other.fetch(request, { context })).text()
    const ids = file
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { request_id: string }).request_id)
    expect(ids).toHaveLength(rows)
    expect(new Set(ids).size).toBe(rows)
    await two.close()
    await place.remove()
    await it.close()
  }, 60_000)
}
