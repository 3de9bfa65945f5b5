// The request log, and why a request cost what it cost.
import { explainTokens, explainUnits } from '../billing/explain.ts'
import { Refusal, refuse } from '../contract/errors.ts'
import type { RequestRecord } from '../contract/requests.ts'
import type { Task } from '../contract/task.ts'
import type { Engine } from '../engine/engine.ts'
import { formatNanos } from '../lib/decimal.ts'
import { findAccount } from '../store/accounts.ts'
import { findEntries } from '../store/entries.ts'
import type { Page } from '../store/index.ts'
import { findRequest, listRequests, type RequestFilter } from '../store/requests.ts'
import { findTaskRow } from '../store/tasks.ts'
import { namesOfTokens, type TokenNames } from '../store/tokens.ts'
import { entryView } from './accounts.ts'
import { priceView } from './catalog.ts'
import { type AdminDeps, listOf, notFound, pageQuery, type Resource, route, time } from './route.ts'

export const requests: Resource = (app, deps) => {
  const { engine } = deps
  const { store } = engine

  app.get(
    '/requests',
    route(async ({ query }) => {
      const id = query('id') ?? query('request_id') ?? query('upstream_request_id')
      if (id !== undefined) return viewPage(engine, { items: await newestFirst(engine, id) })
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
      if (record === undefined) return notFound('request', id)
      return (await viewPage(engine, { items: [record] })).items[0]!
    }),
  )

  app.get(
    '/explain/:id',
    route(async ({ id }) => {
      const task = await findTaskRow(store.read, id)
      if (task !== undefined) return explainTask(engine, task)
      const [record] = await newestFirst(engine, id)
      if (record === undefined) return notFound('request', id)
      const { taskId } = record.detail
      const made = taskId === undefined ? undefined : await findTaskRow(store.read, taskId)
      return made === undefined ? explain(engine, record) : explainTask(engine, made)
    }),
  )
}

/** An upstream's id may stand for several requests; the newest is what people ask about. */
const newestFirst = async (engine: Engine, anyId: string): Promise<RequestRecord[]> =>
  (await findRequest(engine.store.read, anyId)).toReversed()

/** Rows know ids; people know names. */
async function viewPage(engine: Engine, page: Page<RequestRecord>) {
  const ids = [...new Set(page.items.map(({ tokenId }) => tokenId))]
  const names = await namesOfTokens(engine.store.read, ids)
  return listOf(page, (record) => view(record, names.get(record.tokenId)))
}

type Read = (name: string) => string | undefined

async function filterFrom(read: Read, deps: AdminDeps): Promise<RequestFilter | Refusal> {
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
  const times: { fromMs?: number; toMs?: number } = {}
  for (const [name, field] of [
    ['from', 'fromMs'],
    ['to', 'toMs'],
  ] as const) {
    const text = read(name)
    if (text === undefined) continue
    const ms = Date.parse(text)
    if (Number.isNaN(ms)) {
      return refuse('invalid_request', `'${name}' must be an RFC 3339 time`, { param: name })
    }
    times[field] = ms
  }
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

const usageView = (usage: NonNullable<RequestRecord['usage']>) => ({
  input_tokens: usage.inputTokens,
  output_tokens: usage.outputTokens,
  cache_read_tokens: usage.cacheReadTokens,
  cache_write_tokens: usage.cacheWriteTokens,
})

const absorbed = ({ detail }: RequestRecord): string =>
  formatNanos(BigInt(detail.absorbedNanos ?? '0'))

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
  absorbed: absorbed(record),
  usage: record.usage === undefined ? null : usageView(record.usage),
  usage_reported: record.detail.reported ?? null,
  estimated: record.detail.estimated ?? false,
  price_id: record.priceId ?? null,
  first_byte_ms: record.firstByteMs ?? null,
  total_ms: record.totalMs,
  ...(record.detail.operation !== undefined && { operation: record.detail.operation }),
  ...(record.detail.taskId !== undefined && { task_id: record.detail.taskId }),
  ...(record.detail.replayOf !== undefined && { replay_of: record.detail.replayOf }),
  attempts: record.detail.attempts.map(({ afterMs, ...attempt }) => ({
    after_ms: afterMs ?? 0,
    ...attempt,
  })),
})

/** A task is charged for what came of it, by the price it was admitted at. */
async function explainTask(engine: Engine, task: Task): Promise<object> {
  const { currency } = engine.declared.file
  const entries = await findEntries(engine.store.read, task.id)
  const charge = entries.find(({ kind }) => kind === 'charge')
  const price = engine.prices.byId(task.priceId)
  const tier = task.kind === 'video' ? task.request.resolution : undefined
  const steps =
    charge === undefined
      ? [`nothing was charged: the task is ${task.error?.message ?? task.state}`]
      : price === undefined
        ? []
        : explainUnits(price, { quantity: charge.quantity ?? 0, tier }, currency)
  if (charge?.estimated) steps.push('the upstream reported no usage; what was asked for counts')
  return {
    request_id: task.requestId,
    task_id: task.id,
    model: task.model,
    currency,
    charge: formatNanos(task.chargeNanos),
    usage: task.usage ?? null,
    usage_reported: task.reported ?? null,
    estimated: charge?.estimated ?? false,
    price: price === undefined ? null : priceView(engine, price),
    steps: [`set aside when it was made: ${formatNanos(task.holdNanos)} ${currency}`, ...steps],
    entries: entries.map(entryView),
  }
}

async function explain(engine: Engine, record: RequestRecord): Promise<object> {
  const { currency } = engine.declared.file
  const { usage, priceId } = record
  const { estimated } = record.detail
  const price = priceId === undefined ? undefined : engine.prices.byId(priceId)
  const entries = await findEntries(engine.store.read, record.requestId)
  const steps =
    usage === undefined || price === undefined
      ? [`nothing was charged: ${record.detail.error ?? record.detail.ending}`]
      : explainTokens(price, usage, currency)
  if (estimated) steps.push('the upstream reported no usable usage; the gateway counted the text')
  if (record.detail.absorbedNanos !== undefined) {
    steps.push(`not covered by the balance and carried by the operator: ${absorbed(record)}`)
  }
  return {
    request_id: record.requestId,
    model: record.model,
    currency,
    charge: formatNanos(record.chargeNanos),
    usage: usage === undefined ? null : usageView(usage),
    usage_reported: record.detail.reported ?? null,
    estimated: estimated ?? false,
    price: price === undefined ? null : priceView(engine, price),
    steps,
    entries: entries.map(entryView),
  }
}
