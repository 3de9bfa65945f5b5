// Tasks: what was asked for, how far it is, what came of it and what it cost. Looking on and
// cancelling; how a task moves is the engine's business.
import { type Interface, interfaces } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { type Task, type TaskError, type TaskState, taskStates } from '../../contract/task.ts'
import type { Engine } from '../../engine/engine.ts'
import { expiryOf, linksOf } from '../../engine/results/file-links.ts'
import { cancelTask } from '../../engine/tasks/cancel-task.ts'
import { medianMs } from '../../engine/tasks/poll/poll-schedule.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { namesOfTokens, type TokenNames } from '../../store/catalog/tokens.ts'
import type { Page } from '../../store/index.ts'
import { findTaskRow, listTaskRows, type TaskFilter } from '../../store/tasks/tasks.ts'
import {
  type AdminDeps,
  listOf,
  noteChange,
  notFound,
  pageQuery,
  type Resource,
  route,
  time,
} from '../route.ts'
import { callbackView } from './callback-view.ts'
import { timelineView } from './timeline-view.ts'

export const tasks: Resource = (app, deps) => {
  const { engine } = deps
  const { store } = engine

  app.get(
    '/tasks',
    route(async ({ query }) => {
      const filter = await filterFrom(query, deps)
      return filter instanceof Refusal
        ? filter
        : viewPage(engine, await listTaskRows(store.read, filter))
    }),
  )

  app.get(
    '/tasks/:id',
    route(async ({ id }) => {
      const task = await findTaskRow(store.read, id)
      return task === undefined ? notFound('task', id) : viewTask(engine, task)
    }),
  )

  app.post(
    '/tasks/:id/cancel',
    route(async ({ id }, x) => {
      const task = await findTaskRow(store.read, id)
      if (task === undefined) return notFound('task', id)
      const cancelled = await cancelTask(engine, task)
      if (cancelled instanceof Refusal) return cancelled
      if (task.state !== 'cancelled') {
        // The upstream had to be asked in between, so the note cannot share the transaction.
        const change = { before: { state: task.state }, after: { state: cancelled.state } }
        await store.tx((tx) =>
          noteChange(tx, x, { action: 'task.cancel', subject: task.id, ...change }),
        )
      }
      return viewTask(engine, cancelled)
    }),
  )
}

type Read = (name: string) => string | undefined

export async function filterFrom(read: Read, deps: AdminDeps): Promise<TaskFilter | Refusal> {
  const page = pageQuery(read, deps)
  if (page instanceof Refusal) return page
  const state = read('state')
  if (state !== undefined && !taskStates.includes(state as TaskState)) {
    return notOneOf('state', taskStates)
  }
  const made = read('interface')
  if (made !== undefined && !interfaces.includes(made as Interface)) {
    return notOneOf('interface', interfaces)
  }
  const wanted = read('account')
  const account =
    wanted === undefined ? undefined : await findAccount(deps.engine.store.read, wanted)
  if (wanted !== undefined && account === undefined) return notFound('account', wanted)
  return {
    ...page,
    accountId: account?.id,
    model: read('model'),
    state,
    channel: read('channel'),
    interface: made,
  }
}

const notOneOf = (param: string, words: readonly string[]): Refusal =>
  refuse('invalid_request', `'${param}' must be one of ${words.join(', ')}`, { param })

/** Rows know ids; people know names. */
export async function viewPage(engine: Engine, page: Page<Task>) {
  const ids = [...new Set(page.items.map(({ tokenId }) => tokenId))]
  const names = await namesOfTokens(engine.store.read, ids)
  const linkTo = linksOf(engine)
  return listOf(page, (task) => ({
    ...view(task, names.get(task.tokenId)),
    expected_ms: medianMs(engine.durations, task.model) ?? null,
    // Where a browser can open them: the upstream's own address may be nobody else's business.
    files: task.media.map((file, part) => ({
      kind: file.kind,
      url: linkTo(task, part),
      expires_at: time(expiryOf(task, file)),
    })),
  }))
}

/** With the callback and every step, which a list leaves out. */
export const viewTask = async (engine: Engine, task: Task): Promise<object> => ({
  ...(await viewPage(engine, { items: [task] })).items[0]!,
  callback: await callbackView(engine, task),
  timeline: timelineView(task),
})

const timeOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : time(ms))

const view = (task: Task, names: TokenNames | undefined) => ({
  kind: task.kind,
  id: task.id,
  ...(task.externalId !== undefined && { external_id: task.externalId }),
  account_id: task.accountId,
  account: names?.account ?? null,
  token_id: task.tokenId,
  token: names?.token ?? null,
  request_id: task.requestId,
  interface: task.interface,
  model: task.model,
  upstream_model: task.upstreamModel,
  channel: task.channel,
  protocol: task.protocol,
  upstream_id: task.upstreamId ?? null,
  state: task.state,
  progress: task.progress,
  request: requestView(task.request),
  hold: formatNanos(task.holdNanos),
  charge: formatNanos(task.chargeNanos),
  price_id: task.priceId,
  usage: task.usage === undefined ? null : taskUsageView(task.usage),
  usage_reported: task.reported ?? null,
  media: task.media.map(({ kind, url, expiresAtMs }) => ({
    kind,
    url,
    expires_at: timeOrNull(expiresAtMs),
  })),
  error: task.error === undefined ? null : errorView(task.error),
  created_at: time(task.createdAtMs),
  started_at: timeOrNull(task.startedAtMs),
  finished_at: timeOrNull(task.finishedAtMs),
  updated_at: time(task.updatedAtMs),
  next_check_at: task.finishedAtMs === undefined ? time(task.nextCheckAtMs) : null,
  checks: task.checks,
})

const errorView = ({ code, message, upstreamRequestId }: TaskError) => ({
  code,
  message,
  ...(upstreamRequestId !== undefined && { upstream_request_id: upstreamRequestId }),
})

/** What was handed over: addresses as they are, bytes only as a word. A picture may be megabytes. */
const requestView = ({ prompt, seed, media, ...rest }: Task['request']) => ({
  prompt,
  ...('seconds' in rest
    ? { seconds: rest.seconds, resolution: rest.resolution, ratio: rest.ratio ?? null }
    : { count: rest.count, size: rest.size ?? null }),
  seed: seed ?? null,
  images: media.filter(({ kind }) => kind === 'image').length,
  videos: media.filter(({ kind }) => kind === 'video').length,
  inputs: media.map(({ kind, role, url }) => ({
    kind,
    role: role ?? null,
    url: url.startsWith('data:') ? 'data:' : url,
  })),
})

export const taskUsageView = ({
  outputSeconds,
  videoTokens,
  pictures,
}: NonNullable<Task['usage']>) => ({
  output_seconds: outputSeconds ?? null,
  video_tokens: videoTokens ?? null,
  ...(pictures !== undefined && { pictures }),
})
