// The audit finds what does not add up, each kind by itself, on whole books and on what is new.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Entry, EntryKind } from '../../contract/ledger.ts'
import type { CallCharge, RequestRecord } from '../../contract/requests.ts'
import type { VideoTask } from '../../contract/task.ts'
import { insertAccount } from '../../store/catalog/accounts.ts'
import { insertPrice } from '../../store/catalog/prices.ts'
import type { Store, Tx } from '../../store/index.ts'
import { appendEntry } from '../../store/ledger/entries.ts'
import { setMeta } from '../../store/sql/meta.ts'
import { insertTask } from '../../store/tasks/tasks.ts'
import { aTask } from '../../store/tasks/test-tasks.ts'
import { aRequest, newPlace, type Place, storeKinds } from '../../store/test-stores.ts'
import { type AuditOptions, auditBooks, holdGraceMs } from './audit.ts'
import { auditRecent, noMarks } from './audit-recent.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: the audit on PostgreSQL (set TEST_POSTGRES_URL)')
}

const video = { unit: 'video_second', perSecondNanos: { '720p': 4n } } as const
const words = {
  unit: 'token',
  tiers: [{ inputNanos: 1_000_000n, outputNanos: 3_000_000n }],
} as const

describe.each([...storeKinds])('an audit on %s', (dialect) => {
  let place: Place
  let store: Store

  beforeEach(async () => {
    place = await newPlace(dialect)
    store = await place.open()
    await store.tx(async (tx) => {
      await setMeta(tx, 'currency', 'CNY')
      await insertAccount(tx, { id: 'acc_1', name: 'acme', source: 'api', createdAtMs: 1 })
      const price = { model: 'any', effectiveFromMs: 0, source: 'api' } as const
      await insertPrice(tx, { ...price, id: 'price_1', terms: video }, 1)
      await insertPrice(tx, { ...price, id: 'price_2', terms: words }, 1)
      await book(tx, 'credit', 'c_1', 1_000n)
    })
  })
  afterEach(async () => {
    await store.close()
    await place.remove()
  })

  const book = (tx: Tx, kind: EntryKind, ref: string, nanos: bigint, more: object = {}) =>
    appendEntry(tx, { atMs: 1_000, accountId: 'acc_1', kind, amountNanos: nanos, ref, ...more })

  const rendered = {
    tokenId: 'tok_1',
    model: 'vfa-2.7-t2v',
    unit: 'video_second',
    tier: '720p',
    quantity: 5,
    priceId: 'price_1',
  }

  /** A task with the entries that are told. */
  const keep = (
    more: Partial<VideoTask>,
    entries: Partial<Record<'hold' | 'release' | 'charge', bigint>>,
  ) =>
    store.tx(async (tx) => {
      const ended = more.state === undefined ? {} : { finishedAtMs: 1_000 }
      const task = aTask({ holdNanos: 30n, ...ended, ...more })
      await insertTask(tx, task)
      for (const kind of ['hold', 'release', 'charge'] as const) {
        const labels = kind === 'charge' ? rendered : {}
        if (entries[kind] !== undefined) await book(tx, kind, task.id, entries[kind], labels)
      }
    })

  const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 }
  const spoken = { tokenId: 'tok_1', model: 'txta-plus', unit: 'token', quantity: 15 }

  /** A call of 25 nanos, and what else is told of it. */
  const call = (row: Partial<RequestRecord> = {}, charge: CallCharge = {}) => {
    const record = aRequest({ chargeNanos: 25n, priceId: 'price_2', usage, ...row })
    return store.record({ ...record, charge: { unit: 'token', quantity: 15, ...charge } })
  }

  /** As version 0.3 kept one: its entry is apart from its row, and says something else. */
  const apart = async (row: Partial<RequestRecord>, entry: Partial<Entry> | null) => {
    const record = aRequest({ chargeNanos: 25n, priceId: 'price_2', usage, ...row })
    await store.record(record)
    if (entry !== null) await store.tx((tx) => appendEntry(tx, { ...chargeOf(record), ...entry }))
  }

  const chargeOf = ({ atMs, requestId }: RequestRecord) => ({
    ...{ atMs: atMs + 3, accountId: 'acc_1', kind: 'charge' as const, ref: requestId },
    ...{ ...spoken, priceId: 'price_2', amountNanos: -25n },
  })

  /** What a full audit says; what is new must say no less about these accounts. */
  async function problems(options: AuditOptions = {}): Promise<string[]> {
    const { ok, problems, checks } = await auditBooks(store, options)
    expect(ok).toBe(problems.length === 0)
    expect(checks.filter((each) => each.problems > 0).length > 0).toBe(!ok)
    const recent = await auditRecent(store, noMarks, options)
    const texts = problems.map(({ problem }) => problem)
    for (const { problem } of recent.problems) expect(texts).toContain(problem)
    expect(recent.problems.length > 0).toBe(!ok)
    return texts
  }

  const done = { state: 'succeeded', chargeNanos: 20n } as const
  const right = { hold: -30n, release: 30n, charge: -20n }

  test('finds nothing where everything is right', async () => {
    await keep({}, { hold: -30n })
    await keep(done, right)
    await keep({ state: 'failed' }, { hold: -30n, release: 30n })
    await call()
    const { requestId } = aRequest()
    const error = { status: 503, errorCode: 'overloaded' }
    await call({ requestId, ...error, chargeNanos: 0n })
    expect(await problems()).toEqual([])
  })

  const agree = 'charge and task do not agree'
  const atOne = 'the task and its hold are not at one'
  test.each([
    ['a success without its charge', done, { hold: -30n, release: 30n }, [agree]],
    [
      'another charge than the task says',
      done,
      { ...right, charge: -19n },
      ['0.000000019 are charged, price price_1 times quantity is 0.00000002', agree],
    ],
    ['a failure that was charged', { state: 'failed', chargeNanos: 20n } as const, right, [agree]],
    ['an end whose hold is open', { state: 'failed' } as const, { hold: -30n }, [atOne]],
    ['a task that holds nothing', {}, {}, [atOne]],
    ['a live one whose hold has ended', {}, { hold: -30n, release: 30n }, [atOne]],
    ['a hold of another size', {}, { hold: -29n }, ['hold and task do not agree']],
  ])('finds %s', async (_, more, entries, expected) => {
    await keep(more, entries)
    // What is new adds held up by tasks, a full audit by entries: either way something is wrong.
    const { problems: found } = await auditBooks(store)
    expect(found.map(({ problem }) => problem)).toEqual(expected)
    expect((await auditRecent(store, noMarks)).problems).not.toEqual([])
  })

  test('finds a hold without a task', async () => {
    await store.tx((tx) => book(tx, 'hold', 'video_x', -5n))
    const { problems: found } = await auditBooks(store)
    expect(found.map(({ problem }) => problem)).toEqual(['hold and task do not agree'])
  })

  const charged = (said: string, made: string) =>
    `${said} are charged, price price_2 times quantity is ${made}`
  const [row, entry] = [{ chargeNanos: 24n }, { amountNanos: -24n }]
  test.each<[string, Partial<RequestRecord>, object | null, string]>([
    [
      'another amount than its row',
      {},
      entry,
      '0.000000024 are charged, its request row says 0.000000025',
    ],
    ['an amount that is not its price', row, entry, charged('0.000000024', '0.000000025')],
    [
      'another quantity than was used',
      {},
      { quantity: 14 },
      'its quantity is 14, its request row says 15',
    ],
    ['a price that is not there', { priceId: 'p' }, { priceId: 'p' }, 'its price p is not there'],
    [
      'a price of something else',
      { priceId: 'price_1' },
      { priceId: 'price_1' },
      'it is priced by video_second, not token',
    ],
    ['another model', {}, { model: 'txta-max' }, 'charge and request row do not agree'],
    ['another token', {}, { tokenId: 'tok_2' }, 'charge and request row do not agree'],
    [
      'a failure that is charged',
      { status: 502, errorCode: 'upstream_error' },
      {},
      'a request that ended with 502 is charged',
    ],
    ['a success that is not charged', {}, null, 'request row has no charge entry'],
    [
      'a charge for nothing',
      {},
      { ref: 'thing_1' },
      'the charge is for neither a request nor a task',
    ],
  ])('finds %s', async (_, more, changed, expected) => {
    await apart(more, changed)
    expect(await problems()).toContain(expected)
  })

  test.each<[string, Partial<RequestRecord>, CallCharge, string]>([
    ['an amount that is not its price', row, {}, charged('0.000000024', '0.000000025')],
    ['another quantity', {}, { quantity: 14 }, 'its quantity is 14, its request row says 15'],
    ['a price that is not there', { priceId: 'p' }, {}, 'its price p is not there'],
    ['a tier that is not', {}, { tier: 'up_to_1' }, "its tier is not 'up_to_1'"],
    [
      'a failure that is charged',
      { status: 502, errorCode: 'upstream_error' },
      {},
      'a request that ended with 502 is charged',
    ],
  ])('finds %s in the row of a call', async (_, more, charge, expected) => {
    await call(more, charge)
    expect(await problems()).toContain(expected)
  })

  test('takes what the account could not cover for what it is', async () => {
    const loss = [{ reason: 'balance_short' as const, channel: 'main', nanos: '1' }]
    const detail = { stream: false, ending: 'complete' as const, attempts: [], loss }
    await call({ chargeNanos: 24n, detail })
    expect(await problems()).toEqual([])
  })

  test('does not miss request rows of before the horizon of the log', async () => {
    const atMs = 1_700_000_000_000
    const { requestId } = aRequest({ atMs })
    const charge = { ...spoken, priceId: 'price_2', amountNanos: -25n }
    await store.tx((tx) => book(tx, 'charge', requestId, -25n, charge))
    expect(await problems()).toEqual(['the charge has no request row'])
    await store.tx((tx) => setMeta(tx, 'log_horizon_ms', String(atMs + 1)))
    expect(await problems()).toEqual([])
  })

  test('finds a request that is charged beside its task', async () => {
    const record = aRequest()
    await keep({ ...done, requestId: record.requestId }, right)
    await call({ requestId: record.requestId })
    expect(await problems()).toEqual(['the task and the request that made it are both charged'])
  })

  test('finds a hold that nobody ends, once the gateway has had the time for it', async () => {
    const nowMs = Date.now()
    const lifetime = { taskLifetimeMs: 60_000 }
    const createdAtMs = nowMs - 2 * holdGraceMs
    await store.tx(async (tx) => {
      const task = aTask({ holdNanos: 30n, createdAtMs })
      await insertTask(tx, task)
      await book(tx, 'hold', task.id, -30n, { atMs: createdAtMs })
    })
    expect(await problems({ ...lifetime, nowMs })).toEqual([])
    const later = { ...lifetime, nowMs: nowMs + holdGraceMs + 1_000 }
    expect(await problems(later)).toEqual(['its hold is older than any task may become'])
    expect(await problems({ ...later, taskLifetimeMs: 4 * holdGraceMs })).toEqual([])
  })

  test('adds the parts of amounts of a day up across its hours', async () => {
    await store.tx(async (tx) => {
      for (const hour of [0, 1, 2, 26]) {
        await book(tx, 'credit', `hour_${hour}`, 1_778_518_000n, { atMs: hour * 3_600_000 })
      }
    })
    expect(await problems()).toEqual([])
  })

  test('looks at one account alone', async () => {
    await store.tx(async (tx) => {
      await insertAccount(tx, { id: 'acc_2', name: 'other', source: 'api', createdAtMs: 1 })
    })
    await apart({}, null)
    expect(await auditBooks(store, { accountId: 'acc_2' })).toMatchObject({ ok: true, accounts: 1 })
    const own = await auditBooks(store, { accountId: 'acc_1' })
    expect(own).toMatchObject({ ok: false, accounts: 1, entries: 1, receipts: 1 })
    expect(own.problems[0]).toMatchObject({
      account: 'acme',
      account_id: 'acc_1',
      check: 'charges_and_requests',
    })
  })

  test('goes on where it ended, and sees what came last once more', async () => {
    await call()
    const first = await auditRecent(store, noMarks)
    expect(first.marks.ids).toEqual([0, 2])
    await apart({}, null)
    const second = await auditRecent(store, first.marks)
    expect(second).toMatchObject({ marks: { ids: [2, 3] }, isBehind: false })
    const missing = [expect.objectContaining({ problem: 'request row has no charge entry' })]
    expect(second.problems).toEqual(missing)
    const third = await auditRecent(store, second.marks)
    expect(third.problems).toEqual(missing)
    expect((await auditRecent(store, third.marks)).problems).toEqual([])
  })
})
