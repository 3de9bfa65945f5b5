// A copy of real books in which something was changed behind the gateway's back: the audit finds it,
// and names the first entry that is not as it was.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { closeMonth } from '../../src/billing/bills/close-month.ts'
import { auditBooks, type Problem } from '../../src/billing/proof/audit.ts'
import type { Knows } from '../../src/billing/proof/audit-chain.ts'
import { ReceiptWriter } from '../../src/billing/proof/receipt-writer.ts'
import { loadSigningKeys } from '../../src/billing/proof/signing-keys.ts'
import { receiptText, sealText } from '../../src/contract/bills/receipt.ts'
import { createSeal } from '../../src/lib/crypto/seal.ts'
import { hashText, isSigned, newKeyPair } from '../../src/lib/crypto/signing.ts'
import { createLog } from '../../src/lib/telemetry/log.ts'
import { monthAt } from '../../src/lib/text/month.ts'
import { openStore, type Store, type StoreOptions } from '../../src/store/index.ts'
import { entryOf } from '../../src/store/ledger/entries.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { copyOf, flipped, type Row, type Tamperer } from '../support/data/tampering.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/read.ts'
import { seeded, testSeed } from '../support/seeded.ts'
import { isOver, readTasks } from '../support/task-books.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: tampered copies of a PostgreSQL database (set TEST_POSTGRES_URL)')
}

const masterKey = Buffer.alloc(32, 7)
const config = `
accounts: [{ name: acme, balance: "100.00" }, { name: other, balance: "10.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
`
const log = createLog({ level: 'error', pretty: false, write: () => {} })
/** Of the account that is tampered with, in order of booking. */
type Entries = readonly (Row & { id: bigint; ref: string })[]

describe.each([...storeKinds])('tampered books on %s', (engine) => {
  let place: Place
  let knows: Knows
  let accountId: string
  let entries: Entries

  beforeAll(async () => {
    place = await newPlace(engine)
    await makeBooks(place.options)
    const sealed = await closeBooks(place.options)
    knows = sealed.knows
    accountId = sealed.accountId
    const copy = await copyOf(place.options)
    entries = (await copy.ask(
      'SELECT * FROM ledger WHERE account_id = $1 ORDER BY id',
      accountId,
    )) as unknown as Entries
    await copy.end()
  })
  afterAll(() => place.remove())

  /** What an audit of a copy says, in which something was done. */
  async function auditAfter(
    tamper: (copy: Tamperer) => Promise<unknown>,
    awake = true,
  ): Promise<Problem[]> {
    const copy = await copyOf(place.options)
    try {
      await copy.guard(false)
      await tamper(copy)
      await copy.guard(awake)
      const store = await openStore(copy.options)
      const { problems } = await auditBooks(store, { knows }).finally(() => store.close())
      return problems
    } finally {
      await copy.end()
    }
  }

  const charges = () => entries.filter(({ kind }) => kind === 'charge')
  const calls = () => charges().filter(({ ref }) => ref.startsWith('req_'))
  const credits = () => entries.filter(({ kind }) => kind === 'credit')
  const set = (what: string) => (copy: Tamperer) =>
    copy.ask(`UPDATE requests SET ${what} WHERE seq = $1`, calls()[2]!.id)
  const films = () => charges().filter(({ ref }) => ref.startsWith('video_'))
  const setFilm = (what: string) => (copy: Tamperer) =>
    copy.ask(`UPDATE entries SET ${what} WHERE id = $1`, films()[1]!.id)
  const third = () => Number(calls()[2]!.id)
  const first = (problems: readonly Problem[]) => problems[0]
  const adjustBalance = (copy: Tamperer, nanos: bigint) =>
    copy.ask(
      'UPDATE accounts SET balance_nanos = balance_nanos + $1 WHERE id = $2',
      nanos,
      accountId,
    )
  const numberOf = async (copy: Tamperer, entryId: bigint) =>
    (await copy.ask('SELECT number FROM ledger WHERE id = $1', entryId))[0]!['number']

  test('are right before anybody touches them', async () => {
    expect(await auditAfter(async () => {})).toEqual([])
  })

  test('without their triggers are found out', async () => {
    const problems = await auditAfter(async () => {}, false)
    expect(problems.length).toBeGreaterThan(0)
    expect(problems.every(({ check }) => check === 'guards')).toBe(true)
  })

  test.each<[string, string]>([
    ['amount', 'amount_nanos = amount_nanos + 1'],
    ['reference', `ref = 'video_00000000000000000000000000000000'`],
    ['time', 'at_ms = at_ms + 1'],
    ['model', `model = 'vfa-3'`],
    ['quantity', 'quantity = quantity + 1'],
    ['price', `price_id = 'price_other'`],
    ['token', `token_id = 'tok_other'`],
    ['tier', `tier = 'other'`],
    ['tags', `tags = 'team=red'`],
    ['note', `note = 'a gift'`],
    ['word on whether it was estimated', 'estimated = 1'],
    ['account', `account_id = 'acc_other'`],
  ])('whose entry has another %s are found out', async (_, change) => {
    const problems = await auditAfter(setFilm(change))
    expect(first(problems)).toMatchObject({ entry: Number(films()[1]!.id) })
  })

  test.each<[string, string]>([
    ['amount', 'charge_nanos = charge_nanos - 1'],
    ['reference', `request_id = 'req_00000000000000000000000000000000'`],
    ['time', 'booked_at_ms = booked_at_ms + 1'],
    ['model', `model = 'txta-max'`],
    ['quantity', 'quantity = quantity + 1'],
    ['price', `price_id = 'price_other'`],
    ['token', `token_id = 'tok_other'`],
    ['tier', `tier = 'other'`],
    ['tags', `tags = 'team=red'`],
    ['served model', `served_model = 'txta-max'`],
    ['word on whether it was estimated', 'estimated = 1'],
    ['balance', 'balance_nanos = balance_nanos + 1'],
    ['hash', `hash = 'x'`],
    ['number of tokens', 'output_tokens = output_tokens + 1'],
  ])('with a call of another %s are found out', async (_, change) => {
    const problems = await auditAfter(set(change))
    expect(problems).toContainEqual(expect.objectContaining({ entry: third() }))
  })

  test('with a call of another account, or of none, are found out by the gap', async () => {
    for (const change of [`account_id = 'acc_other'`, 'number = NULL']) {
      let number: unknown
      const problems = await auditAfter(async (copy) => {
        number = await numberOf(copy, calls()[2]!.id)
        await set(change)(copy)
      })
      const gap = { check: 'receipts' as const, number: Number(number) }
      expect(problems).toContainEqual(expect.objectContaining(gap))
    }
  })

  test('whose account names another end of its chain are found out', async () => {
    for (const change of [
      'last_number = last_number - 1',
      `last_hash = 'x'`,
      'last_balance_nanos = 7',
    ]) {
      const problems = await auditAfter((copy) =>
        copy.ask(`UPDATE accounts SET ${change} WHERE id = $1`, accountId),
      )
      expect(problems.map(({ check }) => check)).toContain('receipts')
    }
  })

  // It has no opposite: adding up must not stumble over it.
  test('whose entry has the smallest number there is for a yes or no are found out', async () => {
    const problems = await auditAfter(setFilm('estimated = -9223372036854775807 - 1'))
    expect(problems.some(({ check }) => check === 'sums_by_hour')).toBe(true)
  })

  test('whose amount was changed, with the balance, are found out', async () => {
    const problems = await auditAfter(async (copy) => {
      await set('charge_nanos = charge_nanos - 1')(copy)
      await adjustBalance(copy, 1n)
    })
    expect(first(problems)).toMatchObject({ entry: third(), account: 'acme' })
    const checks = problems.map(({ check }) => check)
    expect(checks).toContain('receipts')
    expect(checks).toContain('amounts')
  })

  test('in which two amounts were swapped are found out at the first', async () => {
    const [a, b] = [calls()[1]!, calls().at(-1)!]
    expect(a['amount_nanos']).not.toBe(b['amount_nanos'])
    const problems = await auditAfter(async (copy) => {
      const to = (id: bigint, amount: unknown) =>
        copy.ask('UPDATE requests SET charge_nanos = $1 WHERE seq = $2', amount, id)
      await to(a.id, -(b['amount_nanos'] as bigint))
      await to(b.id, -(a['amount_nanos'] as bigint))
    })
    expect(first(problems)).toMatchObject({ entry: Number(a.id) })
  })

  test('that lack an entry are found out', async () => {
    const problems = await auditAfter((copy) =>
      copy.ask('DELETE FROM entries WHERE id = $1', films()[1]!.id),
    )
    expect(first(problems)).toMatchObject({ check: 'receipts', entry: Number(films()[1]!.id) })
  })

  test('that lack an entry and its receipt are found out by the gap', async () => {
    let number: unknown
    const problems = await auditAfter(async (copy) => {
      const entry = calls()[2]!
      number = await numberOf(copy, entry.id)
      await copy.ask('DELETE FROM requests WHERE request_id = $1', entry.ref)
      await adjustBalance(copy, -(entry['amount_nanos'] as bigint))
    })
    const gap = { check: 'receipts' as const, number: Number(number) }
    expect(problems).toContainEqual(expect.objectContaining(gap))
  })

  test('that lack their last entries and receipts are found out by the seal', async () => {
    const problems = await auditAfter(async (copy) => {
      for (const entry of calls().slice(-2)) {
        await copy.ask('DELETE FROM entries WHERE id >= $1', entry.id)
        await copy.ask('DELETE FROM receipts WHERE entry_id >= $1', entry.id)
        await copy.ask('DELETE FROM requests WHERE seq >= $1', entry.id)
      }
    })
    expect(problems.map(({ check }) => check)).toContain('seals')
    expect(problems.find(({ check }) => check === 'seals')!.problem).toContain('is gone')
  })

  test('into which a credit was put are found out, the balance fixed or not', async () => {
    for (const balance of [0n, 5_000n]) {
      const id = credits()[0]!.id
      const problems = await auditAfter(async (copy) => {
        // In the place of a row that is not needed any more: as old as the others.
        const free = entries.find(({ kind }) => kind === 'hold')!
        await copy.ask('DELETE FROM entries WHERE id = $1', free.id)
        await copy.ask(
          `INSERT INTO entries (id, at_ms, account_id, kind, amount_nanos, ref, estimated)
           SELECT $1, at_ms, account_id, kind, 5000, 'credit_gift', 0 FROM entries WHERE id = $2`,
          free.id,
          id,
        )
        if (balance > 0n) await adjustBalance(copy, balance)
      })
      expect(problems).toContainEqual(
        expect.objectContaining({ check: 'receipts', ref: 'credit_gift', account: 'acme' }),
      )
    }
  })

  test('whose receipts were all made anew from a changed entry on are found out', async () => {
    let number = 0
    const problems = await auditAfter(async (copy) => {
      const entry = calls()[2]!
      await set(`served_model = 'a gift'`)(copy)
      number = Number(await numberOf(copy, entry.id))
      await makeChainAnew(copy, accountId, number)
    })
    expect(problems.map(({ check }) => check)).toEqual(['seals'])
    expect(problems[0]!.number).toBeGreaterThanOrEqual(number)
  })

  test('with another hash on one receipt are found out there', async () => {
    const problems = await auditAfter((copy) =>
      copy.ask(
        'UPDATE receipts SET hash = $1 WHERE entry_id = $2',
        hashText('anything'),
        films()[1]!.id,
      ),
    )
    expect(first(problems)).toMatchObject({ check: 'receipts', entry: Number(films()[1]!.id) })
  })

  test('signed by somebody else are found out', async () => {
    const problems = await auditAfter(async (copy) => {
      const store = await openStore({ dataDir: `${copy.options.dataDir}-mine` })
      const { signer } = await loadSigningKeys(store, createSeal(Buffer.alloc(32, 8)))
      await store.close()
      const [seal] = await copy.ask('SELECT * FROM seals WHERE account_id = $1', accountId)
      const text = sealText(accountId, Number(seal!['number']), String(seal!['hash']))
      await copy.ask(
        'UPDATE seals SET key = $1, signature = $2 WHERE account_id = $3',
        signer.key,
        signer.sign(text),
        accountId,
      )
    })
    expect(problems.map(({ check }) => check)).toEqual(['seals'])
  })

  test('signed by somebody who has put a key among ours are found out', async () => {
    const copy = await copyOf(place.options)
    const store = await openStore(copy.options)
    try {
      const { key } = newKeyPair()
      const [kept] = await copy.ask(`SELECT value FROM meta WHERE key = 'signing_keys'`)
      const ours = JSON.parse(String(kept!['value'])) as { key: string; sealed: string }[]
      const forged = [{ key, sealed: ours[0]!.sealed }, ...ours]
      await copy.ask(
        `UPDATE meta SET value = $1 WHERE key = 'signing_keys'`,
        JSON.stringify(forged),
      )
      const { published } = await loadSigningKeys(store, createSeal(masterKey))
      expect(published).toEqual(ours.map((each) => each.key))
    } finally {
      await store.close()
      await copy.end()
    }
  })

  test.each<[string, Problem['check'], string]>([
    [
      'a closed month of another text',
      'closed_months',
      `closed_months SET body = replace(body, '"month":"2', '"month":"3')`,
    ],
    [
      'a closed month of another end',
      'closed_months',
      'closed_months SET last_number = last_number - 1',
    ],
    [
      'a closed month of another time',
      'closed_months',
      'closed_months SET closed_at_ms = closed_at_ms + 1',
    ],
    ['another sum of an hour', 'sums_by_hour', 'hourly_totals SET amount_nanos = amount_nanos + 1'],
    ['another sum of a day', 'sums_by_hour', 'daily_totals SET amount_nanos = amount_nanos + 1'],
    ['another balance', 'balances', 'accounts SET balance_nanos = balance_nanos + 1'],
    ['more held than there is', 'balances', 'accounts SET held_nanos = held_nanos + 1'],
    ['less held than nothing', 'balances', 'accounts SET held_nanos = held_nanos - 1'],
    [
      'credit that nobody has drawn',
      'credit_leases',
      'accounts SET leased_nanos = leased_nanos + 1',
    ],
    [
      'another charge of a request',
      'amounts',
      `requests SET charge_nanos = charge_nanos + 1 WHERE charge_nanos > 0`,
    ],
    [
      'another usage of a request',
      'amounts',
      `requests SET output_tokens = output_tokens + 1 WHERE charge_nanos > 0`,
    ],
    [
      'a task of another end',
      'charges_and_tasks',
      `tasks SET state = 'failed' WHERE state = 'succeeded'`,
    ],
    [
      'a task of another charge',
      'charges_and_tasks',
      `tasks SET charge_nanos = 1 WHERE state = 'succeeded'`,
    ],
    ['a price of other terms', 'amounts', `prices SET body = replace(body, '0n', '1n')`],
  ])('with %s are found out', async (_, check, change) => {
    const problems = await auditAfter((copy) => copy.ask(`UPDATE ${change}`))
    expect(problems.map((problem) => problem.check)).toContain(check)
  })

  test('are found out by any bit of any cell', async () => {
    const seed = testSeed()
    const random = seeded(seed)
    const copy = await copyOf(place.options)
    await copy.guard(false)
    const store = await openStore(copy.options)
    const missed: string[] = []
    try {
      const cells = await cellsIn(copy)
      for (let flips = 0; flips < maxFlips[engine]; ) {
        const { table, key, column, row } = cells[Math.floor(random() * cells.length)]!
        const turned = flipped(row[column], random)
        const update = `UPDATE ${table} SET ${column} = $1 WHERE ${where(key, 2)}`
        const keys = key.map((name) => row[name])
        if (turned === undefined || !(await isTaken(copy, update, turned, keys))) continue
        flips++
        const { problems } = await auditBooks(store, { knows })
        if (problems.every(({ check }) => check === 'guards')) {
          missed.push(`${table}.${column}: ${String(row[column])} -> ${String(turned)}`)
        }
        const back = key.map((name) => (name === column ? turned : row[name]))
        await copy.ask(update, row[column], ...back)
      }
      const { problems } = await auditBooks(store, { knows })
      expect(problems.every(({ check }) => check === 'guards')).toBe(true)
    } finally {
      await store.close()
      await copy.end()
    }
    expect({ seed, missed }).toEqual({ seed, missed: [] })
  }, 300_000)
})

/** A flip on PostgreSQL takes four times as long and finds what it finds on SQLite. */
const maxFlips = { sqlite: 200, postgres: 40 }

/** False where the database itself forbids it. */
async function isTaken(
  copy: Tamperer,
  update: string,
  value: unknown,
  keys: readonly unknown[],
): Promise<boolean> {
  try {
    await copy.ask(update, value, ...keys)
    return true
  } catch {
    return false
  }
}

const where = (key: readonly string[], from: number): string =>
  key.map((name, i) => `${name} = $${from + i}`).join(' AND ')

/** Columns of tables that are more than the ledger. */
const proving: Readonly<Record<string, readonly string[]>> = {
  requests: [
    ...['seq', 'request_id', 'account_id', 'token_id', 'model', 'charge_nanos', 'price_id'],
    ...['input_tokens', 'output_tokens', 'tags', 'booked_at_ms', 'unit', 'quantity', 'tier'],
    ...['estimated', 'served_model', 'number', 'balance_nanos', 'hash'],
  ],
  accounts: ['balance_nanos', 'held_nanos', 'last_number', 'last_hash', 'last_balance_nanos'],
}

/** Every cell of the rows that prove something; ids of holds name nothing. */
async function cellsIn(copy: Tamperer) {
  const tables: readonly [string, readonly string[]][] = [
    ['entries', ['id']],
    ['receipts', ['entry_id']],
    ['seals', ['account_id', 'number']],
    ['requests', ['seq']],
    ['accounts', ['id']],
  ]
  const cells: { table: string; key: readonly string[]; column: string; row: Row }[] = []
  for (const [table, key] of tables) {
    for (const row of await copy.ask(`SELECT * FROM ${table}`)) {
      const isHold = row['kind'] === 'hold' || row['kind'] === 'release'
      if (table === 'requests' && row['number'] === null) continue
      for (const column of proving[table] ?? Object.keys(row)) {
        if (!(isHold && column === 'id')) cells.push({ table, key, column, row })
      }
    }
  }
  return cells
}

/** Calls, films, pictures, money in and out: whatever makes entries. */
async function makeBooks({ dataDir, databaseUrl }: StoreOptions): Promise<void> {
  const gateway = await startGateway({
    config,
    dataDir,
    env: {
      GATEWAY_MASTER_KEY: masterKey.toString('base64'),
      GATEWAY_SANDBOX_TASK_SECONDS: '0',
      ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
    },
  })
  try {
    await work(gateway)
  } finally {
    await gateway.stop()
  }
}

async function work(gateway: TestGateway): Promise<void> {
  const film = { model: 'vfa-2.7-t2v', prompt: 'a cat', seconds: '5', size: '1280x720' }
  for (let i = 0; i < 8; i++) {
    expect((await gateway.chat(`hello [[sim:tokens=${10 + i}]]`)).status).toBe(200)
    const prompt = i % 4 === 3 ? '[[sim:fail]]' : `cat ${i}`
    if (i % 2 === 1) expect((await gateway.post('/v1/videos', { ...film, prompt })).ok).toBe(true)
  }
  const picture = { model: 'imga-plus', prompt: 'a dog', n: 2 }
  expect((await gateway.post('/v1/images/generations', picture)).status).toBe(200)
  for (const amount of ['5.00', '-1.50']) {
    const credited = { amount, note: `note of ${amount}` }
    expect((await gateway.admin('POST', '/accounts/acme/credits', credited)).status).toBe(201)
  }
  await until(
    'every task has ended',
    async () => (await readTasks(gateway)).every(isOver) || undefined,
  )
  expect((await gateway.chat('good night [[sim:no-usage]]')).status).toBe(200)
}

/** Everything has its receipt, the chains are sealed, the month is closed. */
async function closeBooks(options: StoreOptions): Promise<{ knows: Knows; accountId: string }> {
  const store = await openStore(options)
  try {
    const keys = await loadSigningKeys(store, createSeal(masterKey))
    const receiptWriter = new ReceiptWriter(store, keys, log)
    await receiptWriter.drain()
    const account = await accountOf(store, 'acme')
    const knows: Knows = (text, { key, signature }) =>
      keys.published.includes(key) && isSigned(text, key, signature)
    const signer = {
      knows,
      sign: (text: string) => ({ key: keys.signer.key, signature: keys.signer.sign(text) }),
    }
    const nextMonth = { nowMs: () => Date.now() + 40 * 86_400_000 }
    const of = { accountId: account, account: 'acme', month: monthAt(Date.now()), currency: 'CNY' }
    const desk = { store, signer, receiptWriter, clock: nextMonth, log }
    expect(await closeMonth(desk, of, 'done', async () => {})).toMatchObject({ kind: 'closed' })
    await receiptWriter.stop()
    return { knows, accountId: account }
  } finally {
    await store.close()
  }
}

async function accountOf(store: Store, name: string): Promise<string> {
  const { id } = await store.read
    .selectFrom('accounts')
    .select('id')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  return id
}

/** As somebody would who knows how receipts are made, but has no key. */
async function makeChainAnew(copy: Tamperer, accountId: string, from: number): Promise<void> {
  const rows = await copy.ask(
    'SELECT * FROM ledger WHERE account_id = $1 AND number >= $2 ORDER BY number',
    accountId,
    from - 1,
  )
  let previous = String(rows[0]!['hash'])
  for (const row of rows.slice(1)) {
    const whole = Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        typeof value === 'bigint' || /^(id|at_ms|estimated|number)$/.test(name)
          ? name.endsWith('_nanos')
            ? BigInt(value as bigint)
            : Number(value)
          : value,
      ]),
    )
    const entry = entryOf(whole as unknown as Parameters<typeof entryOf>[0])
    const line = {
      entry,
      number: whole['number'],
      balanceNanos: BigInt(row['balance_nanos'] as bigint),
    }
    previous = hashText(receiptText(line as Parameters<typeof receiptText>[0], 'CNY', previous))
    await copy.ask('UPDATE receipts SET hash = $1 WHERE entry_id = $2', previous, row['id'])
    await copy.ask('UPDATE requests SET hash = $1 WHERE seq = $2', previous, row['id'])
  }
  await copy.ask('UPDATE accounts SET last_hash = $1 WHERE id = $2', previous, accountId)
}
