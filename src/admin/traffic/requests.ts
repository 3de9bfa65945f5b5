// The request log, and why a request or a task cost what it cost.

import type { z } from 'zod'
import { lossNanos } from '../../billing/call-loss.ts'
import { costedCall, costedTask, marginOf } from '../../billing/margin.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import type { RequestRecord } from '../../contract/requests.ts'
import { tagsView } from '../../contract/tags/index.ts'
import type { Task } from '../../contract/task.ts'
import { statusRange } from '../../contract/traffic.ts'
import { endUserAsked } from '../../engine/admission/end-user.ts'
import type { BaseDeps, Seals } from '../../engine/base-deps.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import type { Account } from '../../store/catalog/accounts.ts'
import { namesOfTokens, type TokenNames } from '../../store/catalog/tokens.ts'
import type { Page, PageQuery } from '../../store/index.ts'
import { refundedOf } from '../../store/ledger/refunds.ts'
import { timeOfId } from '../../store/log/ids.ts'
import { findRequest, listRequests, type RequestFilter } from '../../store/log/requests.ts'
import { logHorizonMs } from '../../store/log/watermark.ts'
import { findTaskRow, findTaskRows } from '../../store/tasks/tasks.ts'
import { listOf, notFound, time } from '../answers.ts'
import { forAll, owning } from '../permission.ts'
import { type Ask, routesOf, type View } from '../route.ts'
import { taskUsageView } from '../tasks/task-view.ts'
import { usageView } from '../token-usage.ts'
import { explainCall, explainTask, reasonView, translationView } from './explain.ts'
import {
  explanation,
  type requestFilters,
  requestList,
  requestQuery,
  request as requestSchema,
} from './request-schema.ts'

type Filters = Omit<z.output<z.ZodObject<typeof requestFilters>>, 'account'>

function filterOf(
  engine: Seals,
  { token, model, channel, status, error_code, retry, tag, end_user, from, to }: Filters,
  account: Account | undefined,
  page: PageQuery,
): RequestFilter {
  return {
    ...page,
    ...(from !== undefined && { fromMs: from }),
    ...(to !== undefined && { toMs: to }),
    accountId: account?.id,
    tokenId: token,
    model,
    channel,
    status: status === undefined ? undefined : statusRange(status),
    errorCode: error_code,
    isRetry: retry === 'true',
    tag,
    endUser: endUserAsked(engine, account, end_user),
  }
}

async function listAll({
  engine,
  query,
  account,
  page,
  viewer,
}: Ask<{ query: typeof requestQuery }>) {
  const id = query.id ?? query.request_id ?? query.upstream_request_id
  if (id === undefined) {
    const filter = filterOf(engine, query, account, page)
    const sorted = { ...filter, sort: query.sort, isRising: query.order === 'asc' }
    return viewPage(engine, await listRequests(engine.store.read, sorted))
  }
  const own = viewer?.accountId
  const found = await newestFirst(engine, id)
  const items = found.filter(({ accountId }) => own === undefined || own === accountId)
  return viewPage(engine, { items })
}

async function show({ engine, id }: Ask) {
  const [record] = await newestFirst(engine, id)
  if (record === undefined) return missing(engine, id)
  const [shown] = (await viewPage(engine, { items: [record] })).items
  const first = await leftBefore(engine, record)
  return first === undefined ? shown! : { ...shown!, retry_of: first.requestId }
}

/** Clients wait for minutes before they give up, and seconds before they try again. */
const maxRetryMs = 1_800_000

/** The newest call with the same body whose caller left before this retry began. */
async function leftBefore(
  { store }: BaseDeps,
  { tokenId, model, atMs, detail }: RequestRecord,
): Promise<RequestRecord | undefined> {
  if (detail.clientRetry === undefined || detail.bodyHash === undefined) return undefined
  const span = { fromMs: atMs - maxRetryMs, toMs: atMs }
  const left = await listRequests(store.read, {
    tokenId,
    model,
    status: statusRange('499'),
    ...span,
    limit: 100,
  })
  return left.items.find((each) => each.detail.bodyHash === detail.bodyHash)
}

async function explain({ engine, id, viewer }: Ask) {
  const { read } = engine.store
  const isStaff = viewer?.role !== 'member'
  const task = await findTaskRow(read, id)
  if (task !== undefined) return explainTask(engine, task, isStaff)
  const [record] = await newestFirst(engine, id)
  if (record === undefined) return missing(engine, id)
  const { taskId } = record.detail
  const made = taskId === undefined ? undefined : await findTaskRow(read, taskId)
  return made === undefined
    ? explainCall(engine, record, isStaff)
    : explainTask(engine, made, isStaff)
}

/** An upstream's id may stand for several requests; the newest is what people ask about. */
const newestFirst = async (engine: BaseDeps, anyId: string): Promise<RequestRecord[]> =>
  (await findRequest(engine.store.read, anyId)).toReversed()

/** An id that may have had a row once says so. */
async function missing({ store }: BaseDeps, id: string): Promise<Refusal> {
  const horizonMs = await logHorizonMs(store.read)
  const atMs = timeOfId(id)
  if (atMs === undefined || atMs >= horizonMs) return notFound('request', id)
  const kept = `the request log is kept from ${time(horizonMs)} on`
  return refuse('not_found', `${kept}; what '${id}' was charged is in the ledger of its account`)
}

/** Rows know ids; people know names. */
async function viewPage(
  engine: BaseDeps,
  page: Page<RequestRecord>,
): Promise<View<typeof requestList>> {
  const ids = [...new Set(page.items.map(({ tokenId }) => tokenId))]
  const names = await namesOfTokens(engine.store.read, ids)
  const made = page.items.flatMap(({ detail: { taskId } }) =>
    taskId === undefined ? [] : [taskId],
  )
  const tasks = new Map<string, Task>()
  for (const task of await findTaskRows(engine.store.read, made)) tasks.set(task.id, task)
  const charged = page.items.map(({ requestId, detail }) => detail.taskId ?? requestId)
  const refunded = await refundedOf(engine.store.read, charged)
  return listOf(page, (record) => ({
    ...view(
      record,
      names.get(record.tokenId),
      refunded.get(record.detail.taskId ?? record.requestId) ?? 0n,
    ),
    ...costOfTask(
      tasks.get(record.detail.taskId ?? ''),
      refunded.get(record.detail.taskId ?? '') ?? 0n,
    ),
  }))
}

/** What a request made costs when it is done: the row is older than that. */
const costOfTask = (task: Task | undefined, refundedNanos: bigint) =>
  task !== undefined && {
    charge: formatNanos(task.chargeNanos),
    ...marginOf(costedTask(task), refundedNanos),
    usage: task.usage === undefined ? null : taskUsageView(task.usage),
    usage_reported: task.reported ?? null,
  }

const loss = ({ detail }: RequestRecord): string => formatNanos(lossNanos(detail))

const contextView = (detail: RequestRecord['detail']) => ({
  ...(detail.omitted !== undefined && { omitted_count: detail.omitted }),
  ...(detail.operation !== undefined && { operation: detail.operation }),
  ...(detail.taskId !== undefined && { task_id: detail.taskId }),
  ...(detail.replayOf !== undefined && { replay_of: detail.replayOf }),
  ...(detail.clientRetry !== undefined && { retry: detail.clientRetry }),
  ...(detail.conversationBy !== undefined && { conversation_by: detail.conversationBy }),
  ...(detail.cacheMarks !== undefined && { cache_marks: detail.cacheMarks }),
  ...(detail.traceId !== undefined && { trace_id: detail.traceId }),
})

const endingOf = ({ detail: { ending } }: RequestRecord) => ({
  ending,
  caller_left: ending === 'caller_left',
})

/** The name that was called, the model that served it, and its name at the upstream. */
const modelsOf = ({ model, channel, detail }: RequestRecord) => ({
  model,
  served_model: detail.servedModel ?? null,
  service_tier: detail.applied?.serviceTier ?? null,
  upstream_model: channel === undefined ? null : (detail.upstreamModel ?? model),
})

const view = (
  record: RequestRecord,
  names: TokenNames | undefined,
  refundedNanos: bigint,
): View<typeof requestSchema> => ({
  request_id: record.requestId,
  at: time(record.atMs),
  account_id: record.accountId,
  account: names?.account ?? null,
  token_id: record.tokenId,
  token: names?.token ?? null,
  interface: record.interface,
  ...modelsOf(record),
  channel: record.channel ?? null,
  upstream_request_id: record.upstreamRequestId ?? '',
  status: record.status,
  error_code: record.errorCode ?? null,
  error: record.detail.error ?? null,
  ...endingOf(record),
  ...reasonView(record.detail),
  stream: record.detail.stream,
  charge: formatNanos(record.chargeNanos),
  refunded: formatNanos(refundedNanos),
  loss: loss(record),
  ...marginOf(costedCall(record), refundedNanos),
  usage: record.usage === undefined ? null : usageView(record.usage, record.charge),
  usage_reported: record.detail.reported ?? null,
  estimated: record.detail.estimated ?? false,
  price_id: record.priceId ?? null,
  first_byte_ms: record.firstByteMs ?? null,
  total_ms: record.totalMs,
  ...translationView(record.detail),
  ...contextView(record.detail),
  ...tagsView(record.tags),
  attempts: record.detail.attempts.map(({ afterMs, ...attempt }) => ({
    after_ms: afterMs ?? 0,
    ...attempt,
  })),
})

export const requestRoute = routesOf({
  tag: 'Requests',
  thing: 'request',
  param: "Id of a request, the gateway's or the upstream's.",
  permission: forAll,
})

export const requestRoutes = [
  requestRoute('GET /requests', {
    id: 'listRequests',
    summary: 'The request log, newest first or as asked',
    query: requestQuery,
    answer: requestList,
    handle: listAll,
  }),
  requestRoute('GET /requests/:id', {
    id: 'getRequest',
    permission: owning(forAll, 'request'),
    summary: 'Get a request',
    answer: requestSchema,
    handle: show,
  }),
  requestRoute('GET /explain/:id', {
    id: 'explainCharge',
    permission: owning(forAll, 'request or task'),
    summary: 'Why a request or a task cost what it cost',
    param: 'Id of a request or a task.',
    answer: explanation,
    returns: 'Usage, price, arithmetic, entries and receipt.',
    handle: explain,
  }),
]
