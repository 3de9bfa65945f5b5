// Closing months over real HTTP, on both stores: once, in order, for good, signed, and never silently
// different from the ledger.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { isSigned } from '../../src/lib/crypto/signing.ts'
import { monthAt, monthPlus } from '../../src/lib/text/month.ts'
import type { Store } from '../../src/store/index.ts'
import type { Dialect } from '../../src/store/schema.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { bookPast, openPast } from '../support/data/past-months.ts'
import { adminToken, root, startGateway, type TestGateway } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: closing months on PostgreSQL (set TEST_POSTGRES_URL)')
}

const thisMonth = monthAt(Date.now())
const [first, second, quiet, last] = [-5, -4, -3, -2].map((n) => monthPlus(thisMonth, n)) as [
  string,
  string,
  string,
  string,
]
const film = { kind: 'charge', model: 'film', unit: 'video_second', tokenId: 'tok_old' } as const
const past = [
  { month: first, kind: 'credit', amountNanos: 5_000_000_000n, note: 'wire 1' },
  { month: first, ...film, tier: '720p', quantity: 4.5, amountNanos: -1_000_000_007n },
  { month: second, ...film, tier: '1080p', quantity: 2, amountNanos: -3n, estimated: true },
  { month: second, kind: 'adjust', amountNanos: -500_000_000n, note: `of ${first}` },
  { month: last, ...film, quantity: 1, amountNanos: -11n },
] as const

const envOf = ({ options }: Place): Record<string, string> =>
  options.databaseUrl === undefined ? {} : { GATEWAY_DATABASE_URL: options.databaseUrl }

const start = (place: Place, env: Record<string, string> = {}) =>
  startGateway({ dataDir: place.options.dataDir, env: { ...envOf(place), ...env } })

/** A gateway whose accounts have been there for months. */
async function startWithPast(engine: Dialect, names: readonly string[]) {
  const place = await newPlace(engine)
  const gateway = await start(place)
  expect(await gateway.stop()).toBe(0)
  const store = await place.open()
  for (const name of names) await openPast(store, name, past)
  await store.close()
  return place
}

const close = (gateway: TestGateway, account: string, month: string, note?: string) =>
  gateway.admin('POST', '/bills/close', { account, month, ...(note !== undefined && { note }) })
const closeAll = (gateway: TestGateway, month: string) =>
  gateway.admin('POST', '/bills/close-all', { month })
const billOf = async (gateway: TestGateway, account: string, month: string, more = '') =>
  (await gateway.admin('GET', `/bills?account=${account}&month=${month}${more}`)).body

const closings = async (gateway: TestGateway) => {
  const { body } = await gateway.admin('GET', '/audit-log?limit=500')
  return body.items.filter(({ action }: { action: string }) => action === 'bill.close')
}

describe.each([...storeKinds])('months on %s', (engine) => {
  let place: Place
  let gateway: TestGateway
  beforeAll(async () => {
    place = await startWithPast(engine, ['acme-old', 'other', 'third'])
    gateway = await start(place)
  })
  afterAll(async () => {
    expect(await gateway.stop()).toBe(0)
    await place.remove()
  })

  /** Behind the back of the gateway, which is away meanwhile. */
  async function tamper(work: (store: Store) => Promise<void>): Promise<void> {
    expect(await gateway.stop()).toBe(0)
    const store = await place.open()
    await work(store)
    await store.close()
    gateway = await start(place)
  }

  test('are not closed before they are over, nor in another order, nor for nobody', async () => {
    const cases: [account: string, month: string, status: number, says: RegExp][] = [
      ['acme-old', thisMonth, 400, /can be closed from \d{4}-\d\d-01T00:05:00/],
      ['acme-old', monthPlus(thisMonth, 1), 400, /has not begun/],
      ['acme-old', '2026-13', 400, /must be of the form 2026-11/],
      ['nobody', first, 404, /no account 'nobody'/],
      ['acme-old', second, 409, new RegExp(`^${first} of acme-old .*close it first`)],
      ['acme-old', last, 409, new RegExp(`^${first} of acme-old`)],
    ]
    for (const [account, month, status, says] of cases) {
      const answer = await close(gateway, account, month)
      expect([month, answer.status]).toEqual([month, status])
      expect(answer.body.error.message).toMatch(says)
    }
    for (const [body, param] of [
      [{ account: 'acme-old' }, 'month'],
      [{ month: first }, 'account'],
      [{ account: 'acme-old', month: first, force: true }, 'force'],
      [{ account: 'acme-old', month: first, note: 'x'.repeat(501) }, 'note'],
    ] as const) {
      const answer = await gateway.admin('POST', '/bills/close', body)
      expect([answer.status, answer.body.error.param]).toEqual([400, param])
    }
    expect(await closings(gateway)).toEqual([])
    expect((await billOf(gateway, 'acme-old', first)).state).toBe('open')
  })

  test('are closed once, however many ask for it at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => close(gateway, 'acme-old', first, `asked by ${n}`)),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    const bills = new Set(answers.map(({ body }) => JSON.stringify(body)))
    expect(bills.size).toBe(1)
    const { body } = answers[0]!
    expect(body).toMatchObject({
      account: 'acme-old',
      month: first,
      state: 'closed',
      opening_balance: '0.00',
      credits: '5.00',
      adjustments: '0.00',
      charges: '1.000000007',
      closing_balance: '3.999999993',
      last_number: 2,
      differences: [],
    })
    expect(body.note).toMatch(/^asked by \d$/)
    const again = await close(gateway, 'acme-old', first, 'another note')
    expect(again.body).toEqual(body)
    const rows = await closings(gateway)
    expect(rows).toHaveLength(1)
    expect(rows[0].after).toMatchObject({ month: first, closing_balance: '3.999999993' })
  })

  test('are signed with the published key: take what is not of the bill off, and it is the text', async () => {
    const { differences: _, proof, ...shown } = await billOf(gateway, 'acme-old', first)
    const { cost: _cost, margin: _margin, cost_unknown: _unknown, ...bill } = shown
    expect(isSigned(JSON.stringify(bill), proof.key, proof.signature)).toBe(true)
    const changed = JSON.stringify({ ...bill, charges: '1.00' })
    expect(isSigned(changed, proof.key, proof.signature)).toBe(false)
  })

  test('go on from what the last one was closed with; a month without money can be left out', async () => {
    expect(await billOf(gateway, 'acme-old', second)).toMatchObject({
      state: 'open',
      opening_balance: '3.999999993',
      charges: '0.000000003',
      adjustments: '-0.50',
      closing_balance: '3.49999999',
      totals: [{ model: 'film', unit: 'video_second', charges: 1, quantity: 2, estimated: 1 }],
      tokens: [{ token_id: 'tok_old', name: null, charges: 1, amount: '0.000000003' }],
      movements: [{ kind: 'adjust', amount: '-0.50', note: `of ${first}` }],
    })
    expect((await close(gateway, 'acme-old', second)).status).toBe(200)
    const skipped = await close(gateway, 'acme-old', last)
    expect(skipped.body).toMatchObject({ state: 'closed', closing_balance: '3.499999979' })
    const empty = await close(gateway, 'acme-old', quiet)
    expect(empty.body).toMatchObject({ state: 'closed', charges: '0.00', totals: [] })
    expect(empty.body.closing_balance).toBe('3.49999999')
  })

  test('are listed: those of one account, and one of all accounts', async () => {
    const { body } = await gateway.admin('GET', '/bills/months?account=acme-old')
    const rows = body.items.map((row: Record<string, unknown>) => [
      row['month'],
      row['state'],
      row['charge_count'],
      row['closing_balance'],
    ])
    expect(rows).toEqual([
      [thisMonth, 'open', 0, '3.499999979'],
      [last, 'closed', 1, '3.499999979'],
      [quiet, 'closed', 0, '3.49999999'],
      [second, 'closed', 1, '3.49999999'],
      [first, 'closed', 1, '3.999999993'],
    ])
    const pages: Record<string, unknown>[] = []
    let cursor = ''
    do {
      const page = await gateway.admin('GET', `/bills/accounts?month=${first}&limit=1${cursor}`)
      pages.push(...page.body.items)
      cursor = page.body.next_cursor === null ? '' : `&cursor=${page.body.next_cursor}`
    } while (cursor !== '')
    // The account of the file was opened just now, and has no past.
    expect(pages.map((row) => [row['account'], row['state'], row['charges']])).toEqual([
      ['acme-old', 'closed', '1.000000007'],
      ['other', 'open', '1.000000007'],
      ['third', 'open', '1.000000007'],
    ])
    const now = (await gateway.admin('GET', '/bills/accounts')).body.items
    expect(now.map((row: { account: string }) => row.account)).toContain('acme')
  })

  test('are closed for all accounts at once; those that cannot be are named with the reason', async () => {
    const early = await closeAll(gateway, thisMonth)
    expect([early.status, early.body.error.param]).toEqual([400, 'month'])
    const refused = await closeAll(gateway, second)
    expect(refused.body).toMatchObject({ month: second, closed: 0, already_closed: 1 })
    const reasons = refused.body.refused as { account: string; code: string; reason: string }[]
    expect(reasons.map(({ account, code }) => [account, code])).toEqual([
      ['other', 'conflict'],
      ['third', 'conflict'],
    ])
    expect(reasons[0]!.reason).toStartWith(`${first} of other has charges or credits and is open`)
    const done = await closeAll(gateway, first)
    expect(done.body).toEqual({
      month: first,
      closed: 2,
      already_closed: 1,
      refused: [],
      next_cursor: null,
    })
    const totals = (await gateway.admin('GET', `/bills/totals?month=${first}`)).body
    expect(totals).toMatchObject({
      ...{ accounts: 3, open: 0, closed: 3, charge_count: 3, opening_balance: '0.00' },
      ...{ credits: '15.00', charges: '3.000000021', closing_balance: '11.999999979' },
    })
    expect((await closeAll(gateway, first)).body).toMatchObject({ closed: 0, already_closed: 3 })
  })

  test('are broken down by token and tier, closed or not', async () => {
    const { breakdown } = await billOf(gateway, 'acme-old', first, '&by=token,tier')
    expect(breakdown).toMatchObject([
      { model: 'film', unit: 'video_second', token_id: 'tok_old', tier: '720p', quantity: 4.5 },
    ])
    const { status, body } = await gateway.admin('GET', '/bills?account=other&by=colour')
    expect([status, body.error.param]).toEqual([400, 'by'])
  })

  test('that are closed say so when the ledger has changed, and raise an alert', async () => {
    expect((await close(gateway, 'third', first)).status).toBe(200)
    const late = { ...film, quantity: 1, amountNanos: -1n, month: first }
    await tamper(async (store) => {
      // The store itself would book it after the closed month.
      const open = { closed_until_ms: 0 }
      await store.tx((tx) => tx.updateTable('accounts').set(open).execute())
      await bookPast(store, 'acc_past_third', [late])
    })
    const bill = await billOf(gateway, 'third', first)
    expect(bill).toMatchObject({ state: 'closed', charges: '1.000000007', charge_count: 1 })
    const differences = bill.differences as { what: string; closed: string; ledger: string }[]
    expect(differences).toContainEqual({
      what: 'charges',
      closed: '1.000000007',
      ledger: '1.000000008',
    })
    const { body } = await gateway.admin('GET', '/alerts?kind=books')
    const subjects = body.items.map(({ subject }: { subject: string }) => subject)
    expect(subjects).toContain('acc_past_third')
    const next = await close(gateway, 'third', second)
    expect([next.status, next.body.error.code]).toEqual([409, 'conflict'])
    expect(next.body.error.message).toMatch(/ends with 3\.49999999, the ledger with 3\.499999989/)
  })

  test('that are closed are found out when somebody changes what was closed', async () => {
    expect((await close(gateway, 'other', first)).status).toBe(200)
    await tamper((store) =>
      store.tx(async (tx) => {
        const { body } = await tx
          .selectFrom('closed_months')
          .select('body')
          .where('account_id', '=', 'acc_past_other')
          .executeTakeFirstOrThrow()
        await tx
          .updateTable('closed_months')
          .set({ body: body.replace('"wire 1"', '"wire 2"') })
          .where('account_id', '=', 'acc_past_other')
          .execute()
      }),
    )
    const { differences } = await billOf(gateway, 'other', first)
    expect(differences.map(({ what }: { what: string }) => what)).toEqual([
      'signature',
      'movements',
    ])
  })

  test('a page to print is one for finance: no scripts, both languages, exact amounts', async () => {
    const page = (query: string) =>
      fetch(`${gateway.url}/admin/v1/bills/statement?${query}`, {
        headers: { authorization: `Bearer ${adminToken}` },
      })
    const english = await page(`account=acme-old&month=${first}`)
    expect(english.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(english.headers.get('content-security-policy')).toStartWith("default-src 'none';")
    expect(english.headers.get('x-content-type-options')).toBe('nosniff')
    expect(english.headers.get('x-request-id')).toMatch(/^req_/)
    const text = await english.text()
    for (const part of ['Statement', 'wire 1', 'CN¥1.000000007', 'CN¥3.999999993']) {
      expect(text).toContain(part)
    }
    const chinese = await (await page(`account=acme-old&month=${first}&lang=zh`)).text()
    expect(chinese).toContain('<html lang="zh-CN">')
    expect(chinese).toContain('期末余额')
    expect((await page(`account=acme-old&month=${first}&lang=fr`)).status).toBe(400)
  })
})

const deaths = [
  ['month-closing', 'open'],
  ['month-closed', 'closed'],
] as const

describe.each([...storeKinds])('a gateway on %s that dies at', (engine) => {
  test.each(deaths)(
    '%s has left the month %s, whole, and those of other accounts open',
    async (point, state) => {
      const place = await startWithPast(engine, ['acme-old', 'other'])
      const doomed = await start(place, { GATEWAY_CRASH_AT: point })
      await closeAll(doomed, first).catch(() => {})
      await doomed.exited
      const gateway = await start(place)
      expect((await billOf(gateway, 'acme-old', first)).state).toBe(state)
      expect(await closings(gateway)).toHaveLength(state === 'closed' ? 1 : 0)
      const closed = await close(gateway, 'acme-old', first)
      expect(closed.body).toMatchObject({ state: 'closed', differences: [] })
      expect(await closings(gateway)).toHaveLength(1)
      expect((await billOf(gateway, 'other', first)).state).toBe('open')
      const rest = await closeAll(gateway, first)
      expect(rest.body).toMatchObject({ closed: 1, already_closed: 1, refused: [] })
      expect(await gateway.stop()).toBe(0)
      await place.remove()
    },
  )
})

test.if(storeKinds.includes('postgres'))(
  'several gateways that close at once have closed one bill',
  async () => {
    const place = await startWithPast('postgres', ['acme-old'])
    const gateways = [await start(place), await start(place), await start(place)]
    const answers = await Promise.all(
      gateways.flatMap((gateway) => [
        close(gateway, 'acme-old', first),
        close(gateway, 'acme-old', first),
      ]),
    )
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(answers[0]!.body.state).toBe('closed')
    expect(await closings(gateways[0]!)).toHaveLength(1)
    for (const gateway of gateways) expect(await gateway.stop()).toBe(0)
    await place.remove()
  },
)

test('the command line shows, lists, closes and saves bills', async () => {
  const place = await startWithPast('sqlite', ['acme-old'])
  const gateway = await start(place)
  const run = async (...args: string[]) => {
    const child = Bun.spawn([join(root, 'bin/gateway'), ...args], {
      cwd: place.options.dataDir,
      env: {
        ...ownEnv,
        GATEWAY_URL: gateway.url,
        GATEWAY_ADMIN_TOKEN: adminToken,
      },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err] = [child.stdout, child.stderr].map((part) => new Response(part).text())
    return { out: await out!, err: await err!, code: await child.exited }
  }
  expect((await run('bill', 'close', 'acme-old', thisMonth)).code).toBe(1)
  const closed = await run('bill', 'close', 'acme-old', first, '--note', 'seen')
  expect(closed).toMatchObject({ code: 0, err: '' })
  expect(closed.out).toMatch(new RegExp(`^acme-old {2}${first} {2}closed \\d`))
  expect(closed.out).toMatch(/^closing balance +3\.999999993 CNY$/m)
  const shown = await run('bill', 'acme-old', '--month', first)
  expect(shown.out).toMatch(/^film +video_second +1 +4\.5 +1\.000000007 CNY$/m)
  expect(shown.out).toMatch(/credit +5\.00 CNY +wire 1$/m)
  expect((await run('bill', 'acme-old', '--month', first, '--by', 'tier')).out).toMatch(/720p/)
  const months = await run('bill', 'list', '--account', 'acme-old')
  expect(months.out).toMatch(new RegExp(`^${first} +closed +1 +5\\.00 +0\\.00 +1\\.000000007`, 'm'))
  const accounts = await run('bill', 'list', '--month', second)
  expect(accounts.out).toMatch(/^acme-old +\S+ +open +1/m)
  const files = ['--csv', 'bill.csv', '--statement', 'bill.html', '--lang', 'zh']
  const saved = await run('bill', 'acme-old', '--month', first, ...files)
  expect(saved).toMatchObject({ code: 0, err: '' })
  const read = (name: string) => Bun.file(join(place.options.dataDir, name)).text()
  expect(await read('bill.csv')).toContain('wire 1')
  expect(await read('bill.html')).toContain('对账单')
  expect((await run('bill', 'acme-old', '--lang', 'zh')).code).toBe(2)
  expect((await run('bill', 'list', '--account', 'a', '--month', first)).code).toBe(2)
  expect(await gateway.stop()).toBe(0)
  await place.remove()
})
