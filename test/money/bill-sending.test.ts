// All bills of a month over real HTTP, on both stores: as one archive, and sent to their accounts by e-mail, each
// once, whoever asks and how often. Where gateways die is in killed-month.test.ts.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { CsvReader, type CsvRow } from '../../src/lib/text/csv.ts'
import { monthAt, monthPlus } from '../../src/lib/text/month.ts'
import type { Dialect } from '../../src/store/schema.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { openPast } from '../support/data/past-months.ts'
import { adminToken, root, startGateway, type TestGateway } from '../support/gateway.ts'
import { type MailServerForTests, partText, startMailServer } from '../support/mail-server.ts'
import { ownEnv } from '../support/own-env.ts'
import { unzip } from '../support/unzip.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: bills of a month on PostgreSQL (set TEST_POSTGRES_URL)')
}

const month = monthPlus(monthAt(Date.now()), -2)
const film = { kind: 'charge', model: 'film', unit: 'video_second', tokenId: 'tok_old' } as const
const past = [
  { month, kind: 'credit', amountNanos: 5_000_000_000n, note: 'wire 1' },
  { month, ...film, quantity: 4.5, amountNanos: -1_000_000_007n },
  { month, kind: 'refund', amountNanos: 250_000_000n, note: 'blurred', refundOf: 'req_old' },
] as const
const names = ['ann', 'bob', 'cho', 'dee']
const emailOf = (name: string) => `${name}@books.example`

let server: MailServerForTests
const mail: Record<string, string> = { GATEWAY_EGRESS_ALLOW: '127.0.0.0/8' }
beforeAll(async () => {
  server = await startMailServer({ hideSTARTTLS: true })
  mail['GATEWAY_SMTP_URL'] = `smtp://127.0.0.1:${server.port}`
  mail['GATEWAY_SMTP_FROM'] = 'bills@mail.example'
})
afterAll(() => server.stop())
beforeEach(() => {
  server.mails.splice(0)
  server.refuse = () => undefined
})

const envOf = ({ options }: Place): Record<string, string> =>
  options.databaseUrl === undefined ? {} : { GATEWAY_DATABASE_URL: options.databaseUrl }
const start = (place: Place, env: Record<string, string> = {}) =>
  startGateway({ dataDir: place.options.dataDir, env: { ...envOf(place), ...mail, ...env } })

/** Accounts with a month that is over; dee has no address. */
async function prepared(engine: Dialect, env: Record<string, string> = {}) {
  const place = await newPlace(engine)
  const store = await place.open()
  for (const name of names) await openPast(store, name, past)
  await store.close()
  const gateway = await start(place, env)
  for (const name of names.slice(0, 3)) {
    const changed = { email: emailOf(name), legal_name: `${name} 有限公司` }
    expect((await gateway.admin('PATCH', `/accounts/${name}`, changed)).status).toBe(200)
  }
  const issuer = { name: 'Example Ltd', address: '1 Example Street', tax_id: 'EX1' }
  expect((await gateway.admin('PUT', '/issuer', issuer)).status).toBe(200)
  return { place, gateway }
}

const closeAll = (gateway: TestGateway) => gateway.admin('POST', '/bills/close-all', { month })
const send = (gateway: TestGateway, more: object = {}) =>
  gateway.admin('POST', '/bills/send-all', { month, ...more })
const progress = async (gateway: TestGateway) =>
  (await gateway.admin('GET', `/bills/mails?month=${month}`)).body
/** Who got a mail, as often as they got one. */
const receivers = () => server.mails.map(({ to }) => to.join()).toSorted()
const sendings = async (gateway: TestGateway) =>
  (await gateway.admin('GET', '/audit-log?action=bill.send&limit=500')).body.items

async function archive(gateway: TestGateway, more = '') {
  const response = await fetch(`${gateway.url}/admin/v1/bills/archive?month=${month}${more}`, {
    headers: { authorization: `Bearer ${adminToken}` },
  })
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'application/octet-stream',
  ])
  expect(response.headers.get('content-disposition')).toBe(
    `attachment; filename="bills-${month}.zip"`,
  )
  return unzip(await response.bytes())
}

function rowsIn(csv: string): Record<string, string>[] {
  const reader = new CsvReader()
  const [head, ...rows] = [...reader.push(csv), ...reader.end()] as CsvRow[]
  return rows.map(({ cells }) =>
    Object.fromEntries(head!.cells.map((name, at) => [name, cells[at]!])),
  )
}

describe.each([...storeKinds])('the bills of a month on %s', (engine) => {
  let place: Place
  let gateway: TestGateway
  beforeAll(async () => {
    ;({ place, gateway } = await prepared(engine))
  })
  afterAll(async () => {
    expect(await gateway.stop()).toBe(0)
    await place.remove()
  })

  test('are in the archive before they are closed, as open ones, and none is sent', async () => {
    const files = await archive(gateway)
    expect(files.size).toBe(names.length + 1)
    expect(files.get(`${month}-acc_past_ann-ann.html`)).toContain('class="badge open"')
    const rows = rowsIn(files.get(`bills-${month}.csv`)!)
    expect(rows.map(({ number, state }) => [number, state])).toEqual(Array(4).fill(['', 'open']))
    const counts = { closed: 0, sent: 0, left: 0, failed: 0, without_address: 0 }
    expect((await send(gateway)).body).toEqual({
      month,
      ...counts,
      failures: [],
      next_cursor: null,
    })
    expect(server.mails).toEqual([])
  })

  test('are one archive of pages to print and one table', async () => {
    expect((await closeAll(gateway)).body).toMatchObject({ closed: 4, refused: [] })
    const files = await archive(gateway)
    const rows = rowsIn(files.get(`bills-${month}.csv`)!)
    expect(rows.map(({ number }) => number).toSorted()).toEqual(
      [1, 2, 3, 4].map((n) => `${month}-000${n}`),
    )
    for (const row of rows) {
      const { account, number } = row
      expect(row).toMatchObject({
        ...{ month, state: 'closed', issuer: 'Example Ltd', agrees_with_ledger: 'yes' },
        ...{ credits: '5.00', charges: '1.000000007', refunds: '0.25', charge_count: '1' },
        ...{ closing_balance: '4.249999993', email: account === 'dee' ? '' : emailOf(account!) },
      })
      const page = files.get(`${number}-${account}.html`)!
      const shown = await gateway.admin('GET', `/bills?account=${account}&month=${month}`)
      const { signature } = shown.body.proof
      const parties = account === 'dee' ? ['dee'] : [`${account} 有限公司`]
      for (const part of [number!, 'Example Ltd', 'blurred', signature, ...parties]) {
        expect(page).toContain(part)
      }
    }
    const chinese = await archive(gateway, '&lang=zh')
    expect(chinese.get(`${rows[0]!['number']}-${rows[0]!['account']}.html`)).toContain('期末余额')
  })

  test('of a month that is none, or in a language that is none, are refused', async () => {
    for (const [query, param] of [
      ['month=2026-13', 'month'],
      [`month=${monthPlus(month, 3)}`, 'month'],
      [`month=${month}&lang=fr`, 'lang'],
    ]) {
      const { status, body } = await gateway.admin('GET', `/bills/archive?${query}`)
      expect([query, status, body.error.param]).toEqual([query, 400, param])
    }
    for (const [body, param] of [
      [{}, 'month'],
      [{ month: '2026-13' }, 'month'],
      [{ month: monthPlus(month, 3) }, 'month'],
      [{ month, lang: 'fr' }, 'lang'],
      [{ month, to: 'me@books.example' }, 'to'],
    ] as const) {
      const answer = await gateway.admin('POST', '/bills/send-all', body)
      expect([body, answer.status, answer.body.error.param]).toEqual([body, 400, param])
    }
    expect((await send(gateway, { cursor: 'made up' })).status).toBe(400)
    expect(server.mails).toEqual([])
  })

  test('are sent once, however many ask at once; what a server refuses is tried again', async () => {
    server.refuse = (at, to) =>
      at === 'recipient' && to === emailOf('bob') ? { status: 550, text: 'no such box' } : undefined
    const answers = await Promise.all(Array.from({ length: 6 }, () => send(gateway)))
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.filter(({ status }) => status !== 409)).toEqual([])
    expect(receivers()).toEqual(['ann', 'cho'].map(emailOf))
    const reason = expect.stringContaining('no such box')
    expect(await progress(gateway)).toEqual({
      ...{ month, closed: 4, sent: 2, left: 0, failed: 1, without_address: 1 },
      failures: [{ account: 'bob', email: emailOf('bob'), reason }],
      accounts_without_address: ['dee'],
    })
    server.refuse = () => undefined
    expect((await send(gateway, { lang: 'zh' })).body).toMatchObject({ sent: 3, failed: 0 })
    expect((await send(gateway)).body).toMatchObject({ sent: 3, left: 0, without_address: 1 })
    expect(receivers()).toEqual(['ann', 'bob', 'cho'].map(emailOf))
    await gateway.admin('PATCH', '/accounts/dee', { email: emailOf('dee') })
    // An address that changes later is no reason to send again.
    await gateway.admin('PATCH', '/accounts/ann', { email: 'new@books.example' })
    expect(await progress(gateway)).toMatchObject({ sent: 3, left: 1, without_address: 0 })
    expect((await send(gateway)).body).toMatchObject({ sent: 4, left: 0 })
    expect(receivers()).toEqual(names.map(emailOf))
    const rows = await sendings(gateway)
    expect(rows.map(({ after }: { after: { email: string } }) => after.email).toSorted()).toEqual(
      names.map(emailOf),
    )
  })

  test('are sent again one by one on demand, and only closed ones', async () => {
    const one = (body: object) => gateway.admin('POST', '/bills/send', body)
    const email = 'new@books.example'
    const again = await one({ account: 'ann', month })
    expect(again.body).toEqual({ account: 'ann', month, email, sent: true, reason: null })
    expect(receivers()).toEqual([email])
    const [{ headers }] = server.mails as [(typeof server.mails)[number]]
    // No program takes it for the first one.
    expect(headers.get('message-id')).toMatch(/^<bill-\d{4}-\d{2}-acc_past_ann-\d+@mail\.example>$/)
    server.refuse = () => ({ status: 550, text: 'no such box' })
    const reason = expect.stringContaining('no such box')
    expect((await one({ account: 'ann', month })).body).toMatchObject({ sent: false, reason })
    expect(await progress(gateway)).toMatchObject({ sent: 4, failed: 0 })
    for (const [body, status, param] of [
      [{ account: 'nobody', month }, 404, undefined],
      [{ account: 'acme', month }, 400, 'account'],
      [{ account: 'ann', month: monthPlus(month, 1) }, 409, undefined],
      [{ account: 'ann', month: '2026-13' }, 400, 'month'],
      [{ account: 'ann', month, to: email }, 400, 'to'],
    ] as const) {
      const answer = await one(body)
      expect([body, answer.status]).toEqual([body, status])
      if (param !== undefined) expect(answer.body.error.param).toBe(param)
    }
    expect(await sendings(gateway)).toHaveLength(names.length + 1)
  })

  test('have come with their figures, and with the page attached', async () => {
    expect(await gateway.stop()).toBe(0)
    const store = await place.open()
    await store.tx(async (tx) => {
      const cho = tx.updateTable('closed_months').set({ signature: 'x' })
      await cho.where('account_id', '=', 'acc_past_cho').execute()
      const both = ['acc_past_bob', 'acc_past_cho']
      await tx.deleteFrom('bill_mails').where('account_id', 'in', both).execute()
    })
    await store.close()
    gateway = await start(place)
    const { body } = await send(gateway)
    // A bill that the ledger does not confirm goes to nobody.
    const reason = expect.stringContaining('not what the ledger says')
    expect(body.failures).toEqual([{ account: 'cho', email: emailOf('cho'), reason }])
    expect(receivers()).toEqual([emailOf('bob')])
    const [{ headers, raw, from }] = server.mails as [(typeof server.mails)[number]]
    expect(from).toBe('bills@mail.example')
    expect(headers.get('message-id')).toBe(`<bill-${month}-acc_past_bob@mail.example>`)
    const { number } = (await gateway.admin('GET', `/bills?account=bob&month=${month}`)).body
    const parts = raw.split(/\r\n--[^\r]+\r\n/)
    const text = partText(parts[1]!)
    expect(text).toContain(`Number: ${number}\nAccount: bob 有限公司\n`)
    expect(text).toMatch(/Charges: 1\.000000007 CNY\s+Refunds: 0\.25 CNY/)
    expect(parts[2]).toContain(`filename=${number}-bob.html`)
    const page = Buffer.from(parts[2]!.split('\r\n\r\n')[1]!, 'base64').toString()
    for (const part of [number, 'Example Ltd', 'bob 有限公司', 'blurred']) {
      expect(page).toContain(part)
    }
  })
})

test.if(storeKinds.includes('postgres'))('of several gateways one sends at a time', async () => {
  const { place, gateway } = await prepared('postgres')
  const gateways = [gateway, await start(place), await start(place)]
  await closeAll(gateway)
  let [open, most] = [0, 0]
  server.refuse = (at) => {
    if (at === 'recipient') most = Math.max(most, ++open)
    else open--
    return undefined
  }
  const answers = await Promise.all(gateways.flatMap((each) => [send(each), send(each)]))
  expect(answers.filter(({ status }) => ![200, 409].includes(status))).toEqual([])
  expect(most).toBe(1)
  expect(receivers()).toEqual(['ann', 'bob', 'cho'].map(emailOf))
  for (const each of gateways) {
    expect(await progress(each)).toMatchObject({ sent: 3, left: 0, without_address: 1 })
    expect(await each.stop()).toBe(0)
  }
  await place.remove()
})

test('the command line saves the archive, sends, and says what is missing', async () => {
  const { place, gateway } = await prepared('sqlite')
  await closeAll(gateway)
  const run = async (...args: string[]) => {
    const child = Bun.spawn([join(root, 'bin/gateway'), ...args], {
      cwd: place.options.dataDir,
      env: { ...ownEnv, GATEWAY_URL: gateway.url, GATEWAY_ADMIN_TOKEN: adminToken },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    return { out: await new Response(child.stdout).text(), code: await child.exited }
  }
  const file = join(place.options.dataDir!, `bills-${month}.zip`)
  expect(await run('bill', 'archive', month)).toMatchObject({ code: 0 })
  expect(unzip(await Bun.file(file).bytes()).size).toBe(5)
  const issuer = ['--name', 'Example Ltd', '--address', '1 Example Street']
  expect(await run('issuer', 'set', ...issuer)).toMatchObject({ code: 0 })
  expect((await run('issuer', 'show')).out).toContain('Example Ltd')
  const days = ['--from', `${month}-01`, '--to', `${month}-28`, '--account', 'ann']
  expect(await run('bill', 'focus', ...days, '--out', 'focus.csv')).toMatchObject({ code: 0 })
  const table = await Bun.file(join(place.options.dataDir!, 'focus.csv')).text()
  expect(table).toContain('BilledCost')
  const counts = '3 of 4 closed bills sent, 0 left, 0 failed, 1 without an address'
  const out = `${month}  ${counts}\n\nno address: dee\n`
  expect(await run('bill', 'send-all', month)).toEqual({ out, code: 1 })
  expect(await run('bill', 'mails', '--month', month)).toEqual({ out, code: 1 })
  expect(receivers()).toEqual(['ann', 'bob', 'cho'].map(emailOf))
  expect(await gateway.stop()).toBe(0)
  await place.remove()
})
