import { afterEach, describe, expect, test } from 'bun:test'
import { SteadyClock } from '../../lib/clock.ts'
import type { Store } from '../index.ts'
import { getMeta, setMeta } from '../sql/meta.ts'
import { newPlace, type Place, storeKinds } from '../test-stores.ts'
import { ClockKeeper } from './clock-keeper.ts'

const realNow = Date.now
const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Longer than opening a store takes on the busiest machine. */
const roughMs = 30_000

describe.each(storeKinds)('the clock of a store on %s', (dialect) => {
  let place: Place | undefined
  let store: Store | undefined
  afterEach(async () => {
    Date.now = realNow
    await store?.close()
    await place?.remove()
    place = undefined
    store = undefined
  })
  const open = async (join = false) => {
    place ??= await newPlace(dialect)
    store = await place.open({ join })
    return store.clock
  }

  test('is not moved by a step of the wall clock', async () => {
    const clock = await open(true)
    const unsureMs = clock.nowMs() - clock.sureMs()
    for (const step of [-hourMs, 40 * dayMs]) {
      Date.now = () => realNow() + step
      await Bun.sleep(450)
      expect(Math.abs(clock.nowMs() - realNow())).toBeLessThan(roughMs)
      expect(Math.abs(clock.nowMs() - clock.sureMs() - unsureMs)).toBeLessThan(2)
      expect(Math.abs(clock.aheadMs() - step)).toBeLessThan(roughMs)
    }
  })

  test('leaves out of ages what passed since it was last kept, for a while', async () => {
    await open()
    await store!.tx((tx) => setMeta(tx, 'clock_at_ms', String(realNow() - 40 * dayMs)))
    const clock = new SteadyClock()
    const keeper = new ClockKeeper(store!, clock)
    await keeper.start()
    expect(Math.abs(clock.nowMs() - realNow())).toBeLessThan(roughMs)
    expect(Math.abs(clock.sureMs() - (realNow() - 40 * dayMs))).toBeLessThan(roughMs)
    await keeper.stop()
    // What is kept is what is sure: another start knows no more than this one.
    const kept = Number(await getMeta(store!.read, 'clock_at_ms'))
    expect(Math.abs(kept - clock.sureMs())).toBeLessThan(roughMs)
  })

  if (dialect === 'sqlite') return

  test("is the database's where the wall clock is wrong", async () => {
    Date.now = () => realNow() + 25 * hourMs
    const clock = await open(true)
    expect(Math.abs(clock.nowMs() - realNow())).toBeLessThan(roughMs)
    expect(Math.abs(clock.sureMs() - clock.nowMs())).toBeLessThan(hourMs)
    expect(Math.abs(clock.aheadMs() - 25 * hourMs)).toBeLessThan(roughMs)
    const opened = Number(await getMeta(store!.read, 'opened_at_ms'))
    expect(Math.abs(opened - realNow())).toBeLessThan(roughMs)
  })
})
