// A closed month stays as it was closed, whatever the clock of a gateway says: every writer of entries
// books what is of that time at the first moment after it, also while the month is being closed.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { makeBill } from '../../src/billing/bills/bill.ts'
import { type Closing, type ClosingDeps, closeMonth } from '../../src/billing/bills/close-month.ts'
import { readBill } from '../../src/billing/bills/read-bill.ts'
import { Ledger } from '../../src/billing/ledger.ts'
import { auditBooks } from '../../src/billing/proof/audit.ts'
import { ReceiptWriter } from '../../src/billing/proof/receipt-writer.ts'
import { loadSigningKeys } from '../../src/billing/proof/signing-keys.ts'
import { createSeal } from '../../src/lib/crypto/seal.ts'
import { isSigned } from '../../src/lib/crypto/signing.ts'
import { createLog } from '../../src/lib/telemetry/log.ts'
import { monthBounds } from '../../src/lib/text/month.ts'
import { insertAccount } from '../../src/store/catalog/accounts.ts'
import { insertPrice } from '../../src/store/catalog/prices.ts'
import type { Store } from '../../src/store/index.ts'
import { findEntries } from '../../src/store/ledger/entries.ts'
import { setMeta } from '../../src/store/sql/meta.ts'
import { insertTask, updateTask } from '../../src/store/tasks/tasks.ts'
import { aTask } from '../../src/store/tasks/test-tasks.ts'
import { aRequest, newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: closed months on PostgreSQL (set TEST_POSTGRES_URL)')
}

const month = '2026-10'
const { untilMs } = monthBounds(month)!
const minuteMs = 60_000
/** The month is closed at this time. */
const closedMs = untilMs + 6 * minuteMs
/** What a clock says that is seven minutes behind, or was set back by fifteen. */
const slowMs = closedMs - 7 * minuteMs
const steppedMs = closedMs - 15 * minuteMs

const id = 'acc_1'
const of = { accountId: id, account: 'acme', month, currency: 'CNY' }
const log = createLog({ level: 'error', pretty: false, write: () => {} })
const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 }
const labels = { model: 'txta-plus', unit: 'token', quantity: 15, priceId: 'price_1' }
const words = {
  unit: 'token',
  tiers: [{ inputNanos: 1_000_000n, outputNanos: 3_000_000n }],
} as const
const film = { unit: 'video_second', perSecondNanos: { '720p': 4n } } as const

interface Site {
  store: Store
  ledger: Ledger
  desk: ClosingDeps
}

async function openSite(place: Place): Promise<Site> {
  const store = await place.open()
  const keys = await loadSigningKeys(store, createSeal(Buffer.alloc(32, 7)))
  const receiptWriter = new ReceiptWriter(store, keys, log)
  const signer = {
    knows: (text: string, { key, signature }: { key: string; signature: string }) =>
      keys.published.includes(key) && isSigned(text, key, signature),
    sign: (text: string) => ({ key: keys.signer.key, signature: keys.signer.sign(text) }),
  }
  const desk = { store, signer, receiptWriter, clock: { nowMs: () => closedMs }, log }
  return { store, desk, ledger: await Ledger.open(store) }
}

async function shut({ store, ledger, desk }: Site): Promise<void> {
  ledger.close()
  await (desk.receiptWriter as ReceiptWriter).stop()
  await store.close()
}

describe.each([...storeKinds])('a closed month on %s', (engine) => {
  let place: Place
  let site: Site
  const others: Site[] = []

  beforeEach(async () => {
    place = await newPlace(engine)
    site = await openSite(place)
    await site.store.tx(async (tx) => {
      await setMeta(tx, 'currency', 'CNY')
      await insertAccount(tx, { id, name: 'acme', source: 'api', createdAtMs: 1 })
      const price = { model: 'any', effectiveFromMs: 0, source: 'api' } as const
      await insertPrice(tx, { ...price, id: 'price_1', terms: words }, 1)
      await insertPrice(tx, { ...price, id: 'price_2', terms: film }, 1)
    })
    site.ledger.add({ id, balanceNanos: 0n, heldNanos: 0n })
    await site.ledger.credit(id, 1_000_000n, { ref: 'c_1', atMs: untilMs - 3_600_000 }).commit()
    await call(site.ledger, untilMs - 3_000_000)
  })
  afterEach(async () => {
    for (const other of others.splice(0)) await shut(other)
    await shut(site)
    await place.remove()
  })

  const close = (): Promise<Closing> => closeMonth(site.desk, of, undefined, async () => {})

  /** A call of 25 nanos that ends at this time; its request id. */
  async function call(ledger: Ledger, endMs: number): Promise<string> {
    const record = aRequest({ atMs: endMs - 3, totalMs: 3, priceId: 'price_1', usage })
    const hold = await ledger.reserve(id, 25n)
    await ledger.settle(hold!, 25n, record, labels)
    return record.requestId
  }

  const timesOf = async (ref: string) =>
    (await findEntries(site.store.read, ref)).map(({ kind, atMs }) => [kind, atMs])

  async function expectUnchanged(): Promise<void> {
    await (site.desk.receiptWriter as ReceiptWriter).drain()
    expect((await readBill(site.desk, of)).differences ?? []).toEqual([])
    const { problems } = await auditBooks(site.store, { nowMs: closedMs })
    expect(problems).toEqual([])
  }

  test('takes no charge of a gateway whose clock is behind', async () => {
    expect(await close()).toEqual({ kind: 'closed', again: false })
    // Where several gateways share the store, the slow one is another.
    const slow = engine === 'postgres' ? await openSite(place) : site
    if (slow !== site) others.push(slow)
    const ref = await call(slow.ledger, slowMs)
    expect(await timesOf(ref)).toEqual([['charge', untilMs]])
    await expectUnchanged()
    const next = await makeBill(site.store.read, { ...of, month: '2026-11' })
    expect(next).toMatchObject({ charge_count: 1, charges: '0.000000025' })
  })

  test('takes nothing of what is booked after the clock was set back', async () => {
    const made = { createdAtMs: steppedMs, priceId: 'price_2', holdNanos: 30n }
    const task = aTask(made)
    expect(await close()).toEqual({ kind: 'closed', again: false })
    const { ledger } = site
    expect(await ledger.credit(id, 7n, { ref: 'c_2', atMs: steppedMs }).commit()).toBe('done')
    expect(await ledger.credit(id, -3n, { ref: 'c_3', atMs: steppedMs }).commit()).toBe('done')
    expect(await ledger.taskHold(task.id, id, 30n, steppedMs).commit()).toBe('done')
    await site.store.tx((tx) => insertTask(tx, task))
    const ended = {
      ...task,
      state: 'succeeded' as const,
      chargeNanos: 20n,
      finishedAtMs: steppedMs,
    }
    const filmed = { model: task.model, unit: 'video_second', tier: '720p', quantity: 5 }
    const charge = {
      ...filmed,
      taskId: task.id,
      chargeNanos: 20n,
      priceId: 'price_2',
      tokenId: 'tok_1',
    }
    const end = { taskId: task.id, atMs: steppedMs }
    expect(await ledger.taskEnd(id, end, charge).commit()).toMatchObject({ chargeNanos: 20n })
    await site.store.tx((tx) => updateTask(tx, ended, task.state))
    const charged = await call(ledger, steppedMs)
    for (const ref of ['c_2', 'c_3', task.id, charged]) {
      for (const [, atMs] of await timesOf(ref)) expect(atMs).toBe(untilMs)
    }
    expect(await timesOf(task.id)).toHaveLength(3)
    await expectUnchanged()
  })

  test('is closed with all that came before, while charges go on', async () => {
    const other = engine === 'postgres' ? await openSite(place) : site
    if (other !== site) others.push(other)
    let isClosed = false
    const charging = [site, other].map(async ({ ledger }) => {
      for (let n = 0; n < 400 && !(isClosed && n > 60); n++) await call(ledger, steppedMs)
    })
    let closing: Closing
    do closing = await close()
    while (closing.kind === 'behind')
    expect(closing).toEqual({ kind: 'closed', again: false })
    isClosed = true
    await Promise.all(charging)
    await call(other.ledger, steppedMs)
    await expectUnchanged()
  })
})
