// Traffic under more model names than a page tells apart: the sums add up all the same.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { maxTotalNames } from '../../contract/totals.ts'
import type { Store } from '../index.ts'
import { setMeta } from '../sql/meta.ts'
import { aRequest, newPlace, type Place, storeKinds } from '../test-stores.ts'
import { readLogGroups } from './groups.ts'
import { sumTraffic, type TrafficQuery } from './traffic.ts'
import { TrafficTally, writeTraffic } from './traffic-sums.ts'
import { watermarkKey } from './watermark.ts'

const fromMs = Date.UTC(2026, 9, 1)
const many = maxTotalNames + 200

describe.each(storeKinds)('traffic of many models on %s', (dialect) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await newPlace(dialect)
    store = await place.open()
    const rows = Array.from({ length: many }, (_, i) =>
      aRequest({ model: `model-${i}`, atMs: fromMs + (i % 20) * 3_600_000, status: 200 }),
    )
    await Promise.all(rows.map((row) => store.record(row)))
  })
  afterAll(async () => {
    await store.close()
    await place.remove()
  })

  const query = (more: Partial<TrafficQuery>): TrafficQuery => ({
    ...{ fromMs, untilMs: fromMs + 86_400_000, by: ['model'], where: {} },
    ...more,
  })

  const check = async () => {
    for (const more of [
      {},
      { time: 'hour' as const },
      { time: 'slot' as const, by: ['model', 'status'] as const },
      { by: ['status', 'model', 'channel'] as const },
    ]) {
      const found = await sumTraffic(store.read, query(more))
      const names = new Set(
        found!.sums.map(({ values }) => values.find((v) => /model|\*/.test(String(v)))),
      )
      expect(found!.sums.reduce((sum, { requests }) => sum + requests, 0)).toBe(many)
      expect([found!.sums.length <= 3_000, names.size <= maxTotalNames + 1]).toEqual([true, true])
      expect(names.has('*')).toBe(true)
    }
  }

  test('before the log is indexed', check)
  test('a row is counted at once, also right after others were', async () => {
    const at = { fromMs: fromMs + 100 * 3_600_000, untilMs: fromMs + 101 * 3_600_000 }
    const counted = async () => {
      const asked = Array.from({ length: 4 }, () => sumTraffic(store.read, query(at)))
      const sums = (await Promise.all(asked)).map((found) => found!.sums)
      return sums.map((each) => each.map(({ requests }) => requests))
    }
    for (const requests of [1, 2, 3]) {
      await store.record(aRequest({ model: 'late', atMs: at.fromMs, status: 200 }))
      expect(await counted()).toEqual(Array(4).fill([requests]))
    }
  })
  test('and after', async () => {
    const tally = new TrafficTally()
    for (const group of await readLogGroups(store.read, 1, many + 3, [])) tally.add(group)
    await store.tx(async (tx) => {
      await writeTraffic(tx, dialect, tally)
      await setMeta(tx, watermarkKey, String(many + 3))
    })
    await check()
  })
})
