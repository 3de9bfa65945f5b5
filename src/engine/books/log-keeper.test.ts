import { describe, expect, test } from 'bun:test'
import { newId } from '../../lib/crypto/ids.ts'
import { notifyThese } from '../../store/deliveries/notices.ts'
import { firstId } from '../../store/log/ids.ts'
import { indexNextSegment } from '../../store/log/indexer.ts'
import { listPartitions, makeWeeks } from '../../store/log/partitions.ts'
import { segmentRows } from '../../store/log/posting-list.ts'
import { findRequest } from '../../store/log/requests.ts'
import { logHorizonMs } from '../../store/log/watermark.ts'
import { aRequest, storeKinds } from '../../store/test-stores.ts'
import { newTestEngine } from '../test-engine.ts'
import { keepLog } from './log-keeper.ts'

const dayMs = 86_400_000

describe.each([...storeKinds])('on %s', (on) => {
  test('the log is kept as long as the file says, and has room for the weeks to come', async () => {
    const it = await newTestEngine(on)
    const { engine } = it
    const { store } = engine
    const nowMs = engine.clock.nowMs()
    const oldMs = nowMs - 20 * dayMs
    if (on === 'postgres') await makeWeeks(store, oldMs, oldMs + 1)
    const at = (atMs: number) => aRequest({ atMs, requestId: newId('req', atMs) })
    const old = at(oldMs)
    await store.record(old)
    const more = Array.from({ length: segmentRows - 2 }, () => at(oldMs))
    const recent = Array.from({ length: segmentRows }, () => at(nowMs))
    await Promise.all([...more, ...recent].map((row) => store.record(row)))
    while (await indexNextSegment(store, 2 * segmentRows));

    await keepLog(engine)
    expect(await findRequest(store.read, old.requestId)).toHaveLength(1)
    engine.declared = {
      ...engine.declared,
      file: { ...engine.declared.file, logs: { keep: '7d' } },
    }
    await keepLog(engine)
    expect(await findRequest(store.read, old.requestId)).toEqual([])
    expect(await findRequest(store.read, recent[0]!.requestId)).toHaveLength(1)
    expect(await logHorizonMs(store.read)).toBeGreaterThan(oldMs)
    if (on === 'postgres') {
      const weeks = await listPartitions(store.read)
      const ahead = firstId(nowMs + 30 * dayMs)
      expect(weeks.some(({ toId }) => toId !== undefined && toId > ahead)).toBe(true)
    }
    await it.close()
  })

  test('notices are kept for a month, and longer while they are to be sent or told once', async () => {
    const it = await newTestEngine(on)
    const { store } = it.engine
    const nowMs = it.engine.clock.nowMs()
    const webhooks = [{ id: 'whk_1', address: 'https://hooks.example/' }]
    const tell = (type: 'bill.closed' | 'balance.empty' | 'loss.booked', days: number) =>
      store.tx(async (tx) => {
        const once = type === 'balance.empty' ? { once: 'acc_1' } : {}
        const notice = { type, atMs: nowMs - days * dayMs, data: {}, ...once }
        const id = (await notifyThese(tx, notice, webhooks))!
        if (type === 'loss.booked') return id
        await tx
          .updateTable('notice_deliveries')
          .set({ state: 'delivered' })
          .where('notice_id', '=', id)
          .execute()
        return id
      })
    const [, empty, waiting, recent] = [
      await tell('bill.closed', 31),
      await tell('balance.empty', 31),
      await tell('loss.booked', 31),
      await tell('bill.closed', 29),
    ]
    await keepLog(it.engine)
    const ids = async (table: 'notices' | 'notice_deliveries', column: 'id' | 'notice_id') =>
      (
        await store.read
          .selectFrom(table)
          .select(column as 'id')
          .execute()
      ).map((row) => row[column as 'id'])
    expect((await ids('notices', 'id')).toSorted()).toEqual([empty, waiting, recent].toSorted())
    expect((await ids('notice_deliveries', 'notice_id')).toSorted()).toEqual(
      [waiting, recent].toSorted(),
    )
    await it.close()
  })
})
