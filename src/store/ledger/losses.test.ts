// What the operator bears is written once, found by everything it is asked for by, and adds up.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Loss } from '../../contract/ledger.ts'
import { insertAccount } from '../catalog/accounts.ts'
import type { Store } from '../index.ts'
import {
  insertAbandonedCheck,
  nextAbandonedCheckMs,
  putOffAbandonedCheck,
  takeAbandonedChecks,
} from '../tasks/abandoned-checks.ts'
import { aRequest, charged, newPlace, type Place, storeKinds } from '../test-stores.ts'
import { listLosses, lossesOf, recordLoss, type StoredLoss, sumLosses } from './losses.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: losses on PostgreSQL (set TEST_POSTGRES_URL)')
}

const aLoss = (more: Partial<Loss> = {}): Loss => ({
  atMs: 1_000,
  accountId: 'acc_1',
  ref: 'video_1',
  reason: 'late_success',
  channel: 'main',
  model: 'vfa-2.7-t2v',
  upstreamId: 'up-1',
  unit: 'video_second',
  quantity: 5,
  amountNanos: 3_000_000_000n,
  isEstimate: false,
  ...more,
})

describe.each([...storeKinds])('losses on %s', (on) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await newPlace(on)
    store = await place.open()
  })
  afterAll(async () => {
    await store.close()
    await place.remove()
  })
  const record = (loss: Loss) => store.tx((tx) => recordLoss(tx, loss))
  const plain = ({ id: _, ...loss }: StoredLoss): Loss => loss

  test('are written once by what they are about', async () => {
    const ref = 'video_once'
    expect(await record(aLoss({ ref }))).toBe(true)
    expect(await record(aLoss({ ref, atMs: 2_000, amountNanos: 1n }))).toBe(false)
    for (const other of [{ reason: 'second_task' }, { channel: 'other' }, { upstreamId: 'up-2' }]) {
      expect(await record(aLoss({ ref, ...(other as Partial<Loss>) }))).toBe(true)
    }
    const rows = await lossesOf(store.read, [ref])
    expect(rows).toHaveLength(4)
    expect(
      plain(
        rows.find(
          ({ reason, channel, upstreamId }) =>
            reason === 'late_success' && channel === 'main' && upstreamId === 'up-1',
        )!,
      ),
    ).toEqual(aLoss({ ref }))
  })

  test('without a unit, a quantity or an id come back without them', async () => {
    const { upstreamId: _, unit: __, quantity: ___, ...bare } = aLoss({ ref: 'video_bare' })
    await record(bare)
    expect((await lossesOf(store.read, ['video_bare'])).map(plain)).toEqual([bare])
  })

  test('of calls are written with their rows, together or not at all, and once', async () => {
    await store.tx((tx) =>
      insertAccount(tx, { id: 'acc_1', name: 'acme', source: 'api', createdAtMs: 1 }),
    )
    const failed = aRequest({
      atMs: 5_000,
      totalMs: 250,
      channel: 'second',
      detail: {
        stream: true,
        ending: 'failed',
        attempts: [],
        loss: [
          {
            reason: 'failed_after_cost',
            channel: 'first',
            nanos: '7',
            upstreamId: 'a\x1fb',
            unit: 'token',
            quantity: 12,
            estimated: true,
          },
          { reason: 'failed_after_cost', channel: 'second', nanos: '9' },
        ],
      },
    })
    await Promise.all([store.record(failed), store.record(aRequest()), store.record(failed)])
    const rows = (await lossesOf(store.read, [failed.requestId])).map(plain)
    const base = { atMs: 5_250, accountId: 'acc_1', ref: failed.requestId, model: 'txta-plus' }
    expect(rows.toSorted((a, b) => (a.channel < b.channel ? -1 : 1))).toEqual([
      {
        ...base,
        reason: 'failed_after_cost',
        channel: 'first',
        upstreamId: 'a b',
        unit: 'token',
        quantity: 12,
        amountNanos: 7n,
        isEstimate: true,
      },
      {
        ...base,
        reason: 'failed_after_cost',
        channel: 'second',
        amountNanos: 9n,
        isEstimate: false,
      },
    ])
    const paid = aRequest({ chargeNanos: 5n, channel: 'main' })
    paid.detail.loss = [{ reason: 'balance_short', channel: 'main', nanos: '3' }]
    await store.record(charged(paid, 5n))
    expect((await lossesOf(store.read, [paid.requestId])).map(plain)).toMatchObject([
      { reason: 'balance_short', amountNanos: 3n, ref: paid.requestId },
    ])
  })

  test('are listed newest first, page by page, and by what they are asked for by', async () => {
    const accountId = 'acc_pages'
    for (let at = 0; at < 7; at++) {
      const reason = at % 2 === 0 ? 'second_task' : 'not_delivered'
      await record(
        aLoss({
          accountId,
          ref: `video_p${at}`,
          atMs: 100 + Math.floor(at / 2),
          reason,
          channel: at < 4 ? 'a' : 'b',
          model: at === 6 ? 'm' : 'n',
        }),
      )
    }
    const all: string[] = []
    let cursor: string | undefined
    do {
      const page = await listLosses(store.read, { accountId, limit: 3, cursor })
      all.push(...page.items.map(({ ref }) => ref))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(all).toHaveLength(7)
    expect(all[0]).toBe('video_p6')
    expect(new Set(all).size).toBe(7)
    const count = async (filter: object) =>
      (await listLosses(store.read, { accountId, limit: 100, ...filter })).items.length
    expect(await count({ reason: 'second_task' })).toBe(4)
    expect(await count({ channel: 'b' })).toBe(3)
    expect(await count({ model: 'm' })).toBe(1)
    expect(await count({ ref: 'video_p3' })).toBe(1)
    expect(await count({ fromMs: 101, toMs: 103 })).toBe(4)
    expect(await count({ accountId: 'acc_nobody' })).toBe(0)
  })

  test('add up by reason, channel and model, guesses apart', async () => {
    const accountId = 'acc_sums'
    const put = (ref: string, amountNanos: bigint, isEstimate: boolean, channel = 'main') =>
      record(aLoss({ accountId, ref, amountNanos, isEstimate, channel }))
    await put('v1', 10n, true)
    await put('v2', 5n, false)
    await put('v3', 2n, true, 'other')
    const base = { reason: 'late_success' as const, model: 'vfa-2.7-t2v' }
    expect(await sumLosses(store.read, { accountId })).toEqual([
      { ...base, channel: 'main', losses: 2, amountNanos: 15n, estimatedNanos: 10n },
      { ...base, channel: 'other', losses: 1, amountNanos: 2n, estimatedNanos: 2n },
    ])
    expect(await sumLosses(store.read, { accountId: 'acc_nobody' })).toEqual([])
  })

  test('looks that are due are taken once, and are due again when nothing comes of them', async () => {
    await store.tx(async (tx) => {
      await insertAbandonedCheck(tx, 'video_a', 100)
      await insertAbandonedCheck(tx, 'video_b', 200)
      await insertAbandonedCheck(tx, 'video_a', 50)
    })
    const take = (nowMs: number) =>
      store.tx((tx) =>
        takeAbandonedChecks(tx, store.dialect, { nowMs, againMs: nowMs + 1_000, limit: 10 }),
      )
    expect(await take(99)).toEqual([])
    expect(await nextAbandonedCheckMs(store.read)).toBe(100)
    expect(await take(150)).toEqual([{ taskId: 'video_a', polls: 1 }])
    expect(await take(150)).toEqual([])
    await store.tx((tx) => putOffAbandonedCheck(tx, 'video_b', 5_000))
    expect(await take(1_150)).toEqual([{ taskId: 'video_a', polls: 2 }])
  })
})
