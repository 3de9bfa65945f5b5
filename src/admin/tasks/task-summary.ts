// What the task centre draws: how many tasks ended how over the last hours, and how long the ones
// took that succeeded, by model.
import { Refusal } from '../../contract/errors.ts'
import { sumTasks, type TaskSums } from '../../store/tasks/task-sums.ts'
import { time } from '../answers.ts'
import { forAll } from '../permission.ts'
import type { Ask, View } from '../route.ts'
import { summaryQuery, taskSummary } from './task-schema.ts'
import { filterOf, taskRoute } from './tasks.ts'

const hourMs = 3_600_000
const defaultHours = 24
const slots = 48
/** Models that are told apart, the busiest first. */
const maxModels = 12
/** Bars of one model's durations; each is as much longer than the one before. */
const maxBars = 24

async function summarize({ engine, query, account, page, x }: Ask<{ query: typeof summaryQuery }>) {
  const asked = filterOf(query, account?.id, page)
  if (asked instanceof Refusal) return asked
  const { accountId, model, channel, interface: use } = asked
  const { hours = defaultHours } = query
  const slotMs = (hours * hourMs) / slots
  // A slot that is being filled is the last one; long ones end with the hour.
  const stepMs = Math.min(slotMs, hourMs)
  const fromMs = Math.ceil(x.atMs / stepMs) * stepMs - slots * slotMs
  const filter = { accountId, model, channel, interface: use, fromMs, slotMs }
  return view(await sumTasks(engine.store.read, filter), fromMs, slotMs)
}

/** Before the tasks themselves: `summary` is no id. */
export const taskSummaryRoutes = [
  taskRoute('GET /tasks/summary', {
    id: 'sumTasks',
    permission: forAll,
    summary: 'Count tasks of the last hours by state, and how long they took by model',
    query: summaryQuery,
    answer: taskSummary,
    returns: 'Counts by time, durations by model.',
    handle: summarize,
  }),
]

const view = (sums: TaskSums, fromMs: number, slotMs: number): View<typeof taskSummary> => ({
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

function durationsOf({ durations }: TaskSums) {
  const byModel = Map.groupBy(durations, ({ model }) => model)
  return [...byModel]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .slice(0, maxModels)
    .map(([model, all]) => {
      const took = all.map(({ tookMs }) => Math.max(0, tookMs)).toSorted((a, b) => a - b)
      const at = (share: number) =>
        took[Math.min(took.length - 1, Math.floor(share * took.length))]!
      return { model, tasks: took.length, p50_ms: at(0.5), p90_ms: at(0.9), bars: barsOf(took) }
    })
}

/** From the shortest to the longest in equal ratios: a second matters less to what takes minutes. */
function barsOf(took: readonly number[]) {
  const [min, max] = [Math.max(1, took[0]!), Math.max(1, took.at(-1)!)]
  const count = max <= min * 1.05 ? 1 : Math.min(maxBars, Math.max(2, took.length))
  const ratio = (max / min) ** (1 / count)
  const bars = Array.from({ length: count }, (_, i) => ({
    from_ms: Math.round(min * ratio ** i),
    to_ms: Math.round(min * ratio ** (i + 1)),
    tasks: 0,
  }))
  for (const ms of took) {
    const at = count === 1 ? 0 : Math.floor(Math.log(Math.max(1, ms) / min) / Math.log(ratio))
    bars[Math.max(0, Math.min(count - 1, at))]!.tasks++
  }
  return bars
}
