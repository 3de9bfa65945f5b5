// The request log, and the door to why a request cost what it cost.
import { lossNanos } from '../../billing/call-loss.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { RequestRecord } from '../../contract/requests.ts'
import type { Task } from '../../contract/task.ts'
import type { Engine } from '../../engine/engine.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { namesOfTokens, type TokenNames } from '../../store/catalog/tokens.ts'
import type { Page } from '../../store/index.ts'
import { timeOfId } from '../../store/log/ids.ts'
import {
  findRequest,
  listRequests,
  logHorizonMs,
  type RequestFilter,
} from '../../store/log/requests.ts'
import { findTaskRow, findTaskRows } from '../../store/tasks/tasks.ts'
import {
  type AdminDeps,
  listOf,
  notFound,
  pageQuery,
  type Resource,
  route,
  spanQuery,
  time,
} from '../legacy-route.ts'
import { taskUsageView } from '../tasks/task-view.ts'
import { explainCall, explainTask, usageView } from './explain.ts'

export const requests: Resource = (app, deps) => {
  const { engine } = deps
  const { store } = engine

  app.get(
    '/requests',
    route(async ({ query }, x) => {
      const id = query('id') ?? query('request_id') ?? query('upstream_request_id')
      if (id !== undefined) {
        const own = x.viewer?.accountId
        const found = await newestFirst(engine, id)
        const items = found.filter(({ accountId }) => own === undefined || own === accountId)
        return viewPage(engine, { items })
      }
      const filter = await filterFrom(query, deps)
      return filter instanceof Refusal
        ? filter
        : viewPage(engine, await listRequests(store.read, filter))
    }),
  )

  app.get(
    '/requests/:id',
    route(async ({ id }) => {
      const [record] = await newestFirst(engine, id)
      if (record === undefined) return missing(engine, id)
      return (await viewPage(engine, { items: [record] })).items[0]!
    }),
  )

  app.get(
    '/explain/:id',
    route(async ({ id }, x) => {
      const task = await findTaskRow(store.read, id)
      if (task !== undefined) return explainTask(engine, task)
      const [record] = await newestFirst(engine, id)
      if (record === undefined) return missing(engine, id)
      const { taskId } = record.detail
      const made = taskId === undefined ? undefined : await findTaskRow(store.read, taskId)
      return made === undefined
        ? explainCall(engine, record, x.viewer?.role !== 'member')
        : explainTask(engine, made)
    }),
  )
}

/** An upstream's id may stand for several requests; the newest is what people ask about. */
const newestFirst = async (engine: Engine, anyId: string): Promise<RequestRecord[]> =>
  (await findRequest(engine.store.read, anyId)).toReversed()

/** An id that may have had a row once says so. */
async function missing({ store }: Engine, id: string): Promise<Refusal> {
  const horizonMs = await logHorizonMs(store.read)
  const atMs = timeOfId(id)
  if (atMs === undefined || atMs >= horizonMs) return notFound('request', id)
  const kept = `the request log is kept from ${time(horizonMs)} on`
  return refuse('not_found', `${kept}; what '${id}' was charged is in the ledger of its account`)
}

/** Rows know ids; people know names. */
export async function viewPage(engine: Engine, page: Page<RequestRecord>) {
  const ids = [...new Set(page.items.map(({ tokenId }) => tokenId))]
  const names = await namesOfTokens(engine.store.read, ids)
  const made = page.items.flatMap(({ detail: { taskId } }) =>
    taskId === undefined ? [] : [taskId],
  )
  const tasks = new Map<string, Task>()
  for (const task of await findTaskRows(engine.store.read, made)) tasks.set(task.id, task)
  return listOf(page, (record) => ({
    ...view(record, names.get(record.tokenId)),
    ...costOfTask(tasks.get(record.detail.taskId ?? '')),
  }))
}

/** What a request made costs when it is done: the row is older than that. */
const costOfTask = (task: Task | undefined) =>
  task !== undefined && {
    charge: formatNanos(task.chargeNanos),
    usage: task.usage === undefined ? null : taskUsageView(task.usage),
    usage_reported: task.reported ?? null,
  }

type Read = (name: string) => string | undefined

export async function filterFrom(read: Read, deps: AdminDeps): Promise<RequestFilter | Refusal> {
  const page = pageQuery(read, deps)
  if (page instanceof Refusal) return page
  const wanted = read('account')
  const account =
    wanted === undefined ? undefined : await findAccount(deps.engine.store.read, wanted)
  if (wanted !== undefined && account === undefined) return notFound('account', wanted)
  const status = read('status')
  if (status !== undefined && !/^\d{3}$/.test(status)) {
    return refuse('invalid_request', "'status' must be an HTTP status", { param: 'status' })
  }
  const times = spanQuery(read)
  if (times instanceof Refusal) return times
  return {
    ...page,
    ...times,
    accountId: account?.id,
    tokenId: read('token'),
    model: read('model'),
    channel: read('channel'),
    status: status === undefined ? undefined : Number(status),
    errorCode: read('error_code'),
  }
}

const loss = ({ detail }: RequestRecord): string => formatNanos(lossNanos(detail))

const view = (record: RequestRecord, names: TokenNames | undefined) => ({
  request_id: record.requestId,
  at: time(record.atMs),
  account_id: record.accountId,
  account: names?.account ?? null,
  token_id: record.tokenId,
  token: names?.token ?? null,
  interface: record.interface,
  model: record.model,
  channel: record.channel ?? null,
  upstream_model:
    record.channel === undefined ? null : (record.detail.upstreamModel ?? record.model),
  upstream_request_id: record.upstreamRequestId ?? '',
  status: record.status,
  error_code: record.errorCode ?? null,
  error: record.detail.error ?? null,
  ending: record.detail.ending,
  stream: record.detail.stream,
  charge: formatNanos(record.chargeNanos),
  loss: loss(record),
  usage: record.usage === undefined ? null : usageView(record.usage),
  usage_reported: record.detail.reported ?? null,
  estimated: record.detail.estimated ?? false,
  price_id: record.priceId ?? null,
  first_byte_ms: record.firstByteMs ?? null,
  total_ms: record.totalMs,
  ...(record.detail.operation !== undefined && { operation: record.detail.operation }),
  ...(record.detail.taskId !== undefined && { task_id: record.detail.taskId }),
  ...(record.detail.replayOf !== undefined && { replay_of: record.detail.replayOf }),
  ...(record.detail.traceId !== undefined && { trace_id: record.detail.traceId }),
  attempts: record.detail.attempts.map(({ afterMs, ...attempt }) => ({
    after_ms: afterMs ?? 0,
    ...attempt,
  })),
})
