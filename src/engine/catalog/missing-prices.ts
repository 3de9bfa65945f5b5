// Models that a channel serves but that cannot be called because they have no price: logged once,
// and an alert until there is a price. Checked after every change and whenever a price begins.
import { listAlerts, raiseAlert, resolveAlerts } from '../../store/catalog/alerts.ts'
import type { Engine } from '../engine.ts'

const kind = 'missing_price'
/** Timers are limited to some weeks; resetting once a day is enough. */
const maxWaitMs = 86_400_000
const minWaitMs = 100
/** Open alerts of one kind; no catalog has more models than this. */
const maxAlerts = 10_000

interface Watch {
  missing: ReadonlySet<string>
  timer?: ReturnType<typeof setTimeout>
}
const watches = new WeakMap<Engine, Watch>()

export function missingPrices({ catalog, prices }: Engine): string[] {
  return [...catalog.models.keys()]
    .filter((model) => catalog.serves(model) && prices.current(model) === undefined)
    .filter((model) => prices.ownersOf(model).length === 0)
    .sort()
}

/** Never fails: a failed write is repeated at the next change. */
export async function watchPrices(engine: Engine): Promise<void> {
  const before = watches.get(engine)
  const missing = new Set(missingPrices(engine))
  clearTimeout(before?.timer)
  const watch: Watch = { missing }
  watches.set(engine, watch)
  const fresh = [...missing].filter((model) => !before?.missing.has(model))
  const isSame = fresh.length === 0 && before?.missing.size === missing.size
  for (const model of fresh) engine.log.warn('a model has no price and cannot be called', { model })
  try {
    if (!isSame) await alertMissing(engine, fresh, missing)
  } catch (error) {
    watches.delete(engine)
    engine.log.warn('an alert about prices could not be written', { error })
  }
  pollAgain(engine, watch)
}

export function stopWatchingPrices(engine: Engine): void {
  clearTimeout(watches.get(engine)?.timer)
  watches.delete(engine)
}

async function alertMissing(
  engine: Engine,
  fresh: readonly string[],
  missing: ReadonlySet<string>,
) {
  const { items } = await listAlerts(engine.store.read, { limit: maxAlerts, kind })
  const over = items.filter(({ subject }) => !missing.has(subject))
  if (fresh.length === 0 && over.length === 0) return
  const atMs = engine.clock.nowMs()
  await engine.store.tx(async (tx) => {
    for (const subject of fresh) {
      const message = `model '${subject}' is served by a channel but has no price in force, so it cannot be called`
      await raiseAlert(tx, { kind, subject, message, atMs })
    }
    for (const { subject } of over) await resolveAlerts(tx, kind, subject, atMs)
  })
}

/** A price may begin between two changes. */
function pollAgain(engine: Engine, watch: Watch): void {
  const startMs = engine.prices.nextStartMs()
  if (startMs === undefined || watches.get(engine) !== watch) return
  const waitMs = Math.min(startMs - engine.clock.nowMs(), maxWaitMs)
  watch.timer = setTimeout(() => watchPrices(engine), Math.max(waitMs + 1, minWaitMs))
  watch.timer.unref()
}
