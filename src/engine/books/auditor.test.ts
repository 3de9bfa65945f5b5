// The auditor during concurrent work: it raises no false alarm, and it suspends an account with a
// wrong ledger.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { seeded, testSeed } from '../../../test/support/seeded.ts'
import { chargeTokens } from '../../billing/charge.ts'
import { auditBooks } from '../../billing/proof/audit.ts'
import { ReceiptWriter } from '../../billing/proof/receipt-writer.ts'
import { Refusal } from '../../contract/errors.ts'
import { newId } from '../../lib/crypto/ids.ts'
import { listAlerts } from '../../store/catalog/alerts.ts'
import { insertPrice } from '../../store/catalog/prices.ts'
import { getMeta } from '../../store/sql/meta.ts'
import { aRequest, storeKinds } from '../../store/test-stores.ts'
import type { Engine } from '../engine.ts'
import { failed, newTaskEngine, succeeded, type TaskEngine } from '../tasks/test-task-engine.ts'
import { Auditor } from './auditor.ts'
import { auditOptions, liftSuspension } from './suspended-accounts.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: the auditor on PostgreSQL (set TEST_POSTGRES_URL)')
}

const limits = { everyMs: 5, secondPollMs: 20, pauseMs: 0 }
/** Chunks that fall anywhere between entries. */
const restless = { chunkEntries: 7, quietMs: 3, behindEntries: 10, idleMs: 10, retryMs: 10 }
const operations = 300
const terms = {
  unit: 'token',
  tiers: [{ inputNanos: 800_000_000n, outputNanos: 2_000_000_000n }],
} as const

describe.each([...storeKinds])('the auditor on %s', (on) => {
  const random = seeded(testSeed())
  let it: TaskEngine
  let engine: Engine
  let auditor: Auditor
  let shouted: string[]

  beforeEach(async () => {
    it = await newTaskEngine(on, 20_000_000_000n)
    shouted = []
    const error = (msg: string) => void shouted.push(msg)
    const receiptWriter = new ReceiptWriter(
      it.engine.store,
      it.engine.receiptWriter.keys,
      it.engine.log,
      restless,
    )
    engine = { ...it.engine, receiptWriter, log: { ...it.engine.log, error } }
    auditor = new Auditor(engine, limits)
    const price = { id: 'price_text', model: 'txta-plus', terms, effectiveFromMs: 0 }
    await engine.store.tx((tx) => insertPrice(tx, { ...price, source: 'api' }, 0))
  })
  afterEach(async () => {
    await auditor.stop()
    await engine.receiptWriter.stop()
    await it.close()
  })

  const some = (most: number) => Math.floor(random() * most)
  const nap = () => Bun.sleep(some(8))

  async function call(): Promise<void> {
    const { ledger } = engine
    const { accountId, id: tokenId } = it.token
    const hold = ledger.hold(accountId, 2_000_000n)
    if (hold === undefined) return
    await nap()
    if (some(5) === 0) return ledger.release(hold)
    const usage = {
      inputTokens: some(2_000),
      outputTokens: some(500),
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    }
    const record = aRequest({ accountId, tokenId, priceId: 'price_text', usage })
    const quantity = usage.inputTokens + usage.outputTokens
    const labels = { model: 'txta-plus', unit: 'token', quantity, priceId: 'price_text' }
    await ledger.settle(hold, chargeTokens(terms, usage), record, labels)
  }

  async function video(): Promise<void> {
    const task = await it.create({ seconds: 2 + some(4) })
    if (task instanceof Refusal) return
    await nap()
    it.script.check = () => (some(3) === 0 ? failed() : succeeded(1 + some(5)))
    it.clock.ms += 20_000
    await it.advance()
  }

  async function money(): Promise<void> {
    const amount = BigInt(some(3_000_000_000) - 1_000_000_000) || 1n
    await engine.ledger
      .credit(it.token.accountId, amount, { ref: newId('crd'), atMs: Date.now() })
      .commit()
  }

  test('finds nothing wrong while calls, tasks, credits and receipts go on', async () => {
    engine.ledger.onEntry = (id) => engine.receiptWriter.recorded(id)
    engine.receiptWriter.start()
    let isOver = false
    let polls = 0
    const found: unknown[] = []
    const watch = async (poll: () => Promise<readonly unknown[]>) => {
      while (!isOver) {
        found.push(...(await poll()))
        polls++
      }
    }
    const watching = [
      watch(() => auditor.poll()),
      watch(async () => (await auditBooks(engine.store, auditOptions(engine))).problems),
    ]
    const work = Array.from({ length: 8 }, async () => {
      for (let done = 0; done < operations / 8; done++) {
        const kind = some(10)
        await (kind < 6 ? call() : kind < 8 ? video() : money())
      }
    })
    await Promise.all(work)
    await engine.receiptWriter.drain()
    found.push(...(await auditor.poll()))
    isOver = true
    await Promise.all(watching)
    const last = await auditBooks(engine.store, auditOptions(engine))
    expect(found).toEqual([])
    expect(last).toMatchObject({ ok: true, problems: [] })
    expect(last.receipts).toBeGreaterThan(operations / 4)
    expect(polls).toBeGreaterThan(3)
    expect(shouted).toEqual([])
    expect(engine.ledger.stopped.size).toBe(0)
  })

  const tamper = (by: bigint) =>
    engine.store.tx((tx) =>
      sql`UPDATE accounts SET balance_nanos = balance_nanos + ${by}`.execute(tx),
    )
  const openAlerts = async () =>
    (await listAlerts(engine.store.read, { limit: 10, kind: 'books' })).items

  test('stops an account whose books are wrong, until they are right again', async () => {
    await call()
    const running = await it.create()
    if (running instanceof Refusal) throw new Error(running.message)
    await tamper(1n)
    const [problem] = await auditor.poll()
    expect(problem).toMatchObject({ check: 'balances', account_id: it.token.accountId })
    expect([...engine.ledger.stopped]).toEqual([it.token.accountId])
    expect(shouted).toHaveLength(1)
    const [alert] = await openAlerts()
    expect(alert).toMatchObject({
      subject: it.token.accountId,
      message: problem!.problem,
      times: 1,
    })

    const starts = it.script.starts
    expect(await it.create()).toMatchObject({ code: 'account_stopped', status: 503 })
    expect(it.script.starts).toBe(starts)
    // What was promised before is kept.
    it.script.check = () => succeeded(5)
    await it.tick()
    expect((await it.booked(running.id)).map(([kind]) => kind)).toEqual([
      'hold',
      'release',
      'charge',
    ])

    const lift = { accountId: it.token.accountId, atMs: 1, force: false }
    expect(await liftSuspension(engine, lift, async () => {})).toContain('the balance is')
    expect(await openAlerts()).toHaveLength(1)
    await tamper(-1n)
    expect(await liftSuspension(engine, lift, async () => {})).toBeUndefined()
    expect(engine.ledger.stopped.size).toBe(0)
    expect(await openAlerts()).toEqual([])
    expect(await it.create()).not.toBeInstanceOf(Refusal)
    expect(await auditor.poll()).toEqual([])
  })

  test('lets an account go on whose books are wrong, when somebody insists', async () => {
    await tamper(1n)
    await auditor.poll()
    let noted = 0
    const lift = { accountId: it.token.accountId, atMs: 1, force: true }
    expect(await liftSuspension(engine, lift, async () => void noted++)).toBeUndefined()
    expect([engine.ledger.stopped.size, noted]).toEqual([0, 1])
  })

  test('takes nothing for wrong that is right at the second look', async () => {
    await tamper(1n)
    setTimeout(() => void tamper(-1n), 1)
    const slow = new Auditor(engine, { ...limits, secondPollMs: 300 })
    expect(await slow.poll()).toEqual([])
    expect(engine.ledger.stopped.size).toBe(0)
  })

  test('looks by itself, one gateway at a time, and goes on where it was', async () => {
    // One in five calls fails, and leaves nothing to mark.
    for (let i = 0; i < 12; i++) await call()
    await engine.receiptWriter.drain()
    await tamper(1n)
    auditor.start()
    const marks = () => getMeta(engine.store.read, 'audit_marks')
    while (engine.ledger.stopped.size === 0 || (await marks()) === undefined) await Bun.sleep(5)
    await auditor.stop()
    expect(await marks()).toContain('ids')
    expect(await openAlerts()).toHaveLength(1)
  })

  if (on === 'sqlite') {
    test('tells of entries that could be changed, and stops nobody for it', async () => {
      await engine.store.tx((tx) => sql`DROP TRIGGER entries_keep`.execute(tx))
      expect(await auditor.poll()).toMatchObject([{ check: 'guards' }])
      expect(engine.ledger.stopped.size).toBe(0)
      const { items } = await listAlerts(engine.store.read, { limit: 10, kind: 'guards' })
      expect(items).toHaveLength(1)
    })
  }
})
