// What the task centre draws: how many tasks came to what over the last hours, and how long those took
// that succeeded, by model.
import { Refusal, refuse } from '../../contract/errors.ts'
import { sumTasks, type TaskSums } from '../../store/tasks/task-sums.ts'
import { type Resource, route, time } from '../route.ts'
import { filterFrom } from './tasks.ts'

const defaultHours = 24
const mostHours = 7 * 24
const slots = 48
/** Models that are told apart, the busiest first. */
const mostModels = 12
/** Bars of one model's durations; each is as much longer than the one before. */
const mostBars = 24

/** Before the tasks themselves: `summary` is no id. */
export const taskSummary: Resource = (app, deps) => {
  app.get(
    '/tasks/summary',
    route(async ({ query: read }, x) => {
      const filter = await filterFrom(read, deps)
      if (filter instanceof Refusal) return filter
      const hours = Number(read('hours') ?? defaultHours)
      if (!Number.isInteger(hours) || hours < 1 || hours > mostHours) {
        const message = `'hours' must be a whole number from 1 to ${mostHours}`
        return refuse('invalid_request', message, { param: 'hours' })
      }
      const slotMs = (hours * 3_600_000) / slots
      // A slot that is being filled is the last one.
      const fromMs = Math.floor(x.atMs / slotMs) * slotMs - (slots - 1) * slotMs
      const { accountId, model, channel, interface: use } = filter
      const query = { accountId, model, channel, interface: use, fromMs, slotMs }
      return view(await sumTasks(deps.engine.store.read, query), fromMs, slotMs)
    }),
  )
}

const view = (sums: TaskSums, fromMs: number, slotMs: number) => ({
  from: time(fromMs),
  slot_ms: slotMs,
  counted_since: time(sums.sinceMs),
  slots: Array.from({ length: slots }, (_, i) => {
    const atMs = fromMs + i * slotMs
    const here = sums.slots.filter((each) => each.atMs === atMs)
    return {
      at: time(atMs),
      counts: Object.fromEntries(here.map(({ state, count }) => [state, count])),
    }
  }),
  durations: durationsOf(sums),
})

function durationsOf({ durations }: TaskSums): object[] {
  const byModel = Map.groupBy(durations, ({ model }) => model)
  return [...byModel]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .slice(0, mostModels)
    .map(([model, all]) => {
      const took = all.map(({ tookMs }) => Math.max(0, tookMs)).toSorted((a, b) => a - b)
      const at = (share: number) => took[Math.min(took.length - 1, Math.floor(share * took.length))]
      return { model, tasks: took.length, p50_ms: at(0.5), p90_ms: at(0.9), bars: barsOf(took) }
    })
}

/** From the shortest to the longest in equal ratios: a second matters less to what takes minutes. */
function barsOf(took: readonly number[]): object[] {
  const [least, most] = [Math.max(1, took[0]!), Math.max(1, took.at(-1)!)]
  const count = most <= least * 1.05 ? 1 : Math.min(mostBars, Math.max(2, took.length))
  const ratio = (most / least) ** (1 / count)
  const bars = Array.from({ length: count }, (_, i) => ({
    from_ms: Math.round(least * ratio ** i),
    to_ms: Math.round(least * ratio ** (i + 1)),
    tasks: 0,
  }))
  for (const ms of took) {
    const at = count === 1 ? 0 : Math.floor(Math.log(Math.max(1, ms) / least) / Math.log(ratio))
    bars[Math.max(0, Math.min(count - 1, at))]!.tasks++
  }
  return bars
}
