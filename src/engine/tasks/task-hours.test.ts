// Hours of a price on tasks: what counts is when the task was accepted, not when it ended.
import { describe, expect, test } from 'bun:test'
import { createPriceBook } from '../../billing/prices/price-book.ts'
import { weekdays } from '../../contract/price.ts'
import type { Task } from '../../contract/task.ts'
import { insertPrice } from '../../store/catalog/prices.ts'
import { storeKinds } from '../../store/test-stores.ts'
import { model, newTaskEngine, secondNanos, succeeded } from './test-task-engine.ts'

const hourMs = 3_600_000
/** 2026-11-18 is a Wednesday. */
const atMs = (clock: string) => Date.parse(`2026-11-18T${clock}:00Z`)
/** Half price at night in Shanghai, which is 16:30 to 00:30 of UTC; three times as much on Thursdays. */
const hours = [
  {
    ...{ fromMinute: 30, toMinute: 510, zone: 'Asia/Shanghai', factorNanos: 500_000_000n },
    days: weekdays.filter((day) => day !== 'fri'),
  },
  { days: ['thu' as const], fromMinute: 0, toMinute: 0, zone: 'UTC', factorNanos: 3_000_000_000n },
]

describe.each(storeKinds)('a video on %s', (dialect) => {
  test.each<[string, string, number, bigint]>([
    ['accepted before the hours and done in them', '16:29', hourMs, 10n],
    ['accepted in the hours and done after them', '23:59', hourMs, 5n],
    ['accepted and done in the hours', '17:00', 60_000, 5n],
    ['accepted and done at no hours', '12:00', 60_000, 10n],
    // In Shanghai it is Thursday, 08:31.
    ['accepted when the second rule is the first that fits', '24:31', hourMs, 30n],
  ])('%s costs what its price said then', async (_, clock, tookMs, tenths) => {
    const it = await newTaskEngine(dialect)
    const price = {
      id: 'price_hours',
      model,
      terms: { unit: 'video_second', perSecondNanos: { '720p': secondNanos }, hours },
      effectiveFromMs: 0,
      source: 'builtin',
    } as const
    await it.engine.store.tx((tx) => insertPrice(tx, price, 0))
    Object.assign(it.engine, { prices: createPriceBook([price], new Set(), () => it.clock.ms) })
    it.clock.ms = clock === '24:31' ? atMs('00:31') + 24 * hourMs : atMs(clock)
    it.script.check = () => succeeded(4)
    const { id } = (await it.create()) as Task
    const held = -(await it.booked(id))[0]![1]
    expect(held).toBe((5n * secondNanos * tenths) / 10n)
    it.clock.ms += tookMs
    await it.tick()
    const booked = new Map(await it.booked(id))
    expect(booked.get('charge')).toBe((-4n * secondNanos * tenths) / 10n)
    await it.close()
  })
})
