// The only way a task ends: state and money in one transaction, once. A second writer finds the
// hold already ended and changes nothing.

import type { TaskBooking, TaskSettlement } from '../../billing/end-hold.ts'
import { refuse } from '../../contract/errors.ts'
import type { Loss } from '../../contract/ledger.ts'
import type { MadeAnswer, UpstreamError } from '../../contract/provider.ts'
import type { OutputMedia, Task, TaskUsage } from '../../contract/task.ts'
import { type NewStep, withSteps } from '../../contract/timeline.ts'
import { crashPoint } from '../../lib/crash-point.ts'
import { newId } from '../../lib/crypto/ids.ts'
import { ensure } from '../../lib/ensure.ts'
import { parseJson } from '../../lib/json/parse.ts'
import { trimmed } from '../../lib/json/trim.ts'
import { withoutInlineData } from '../../lib/text/inline-data.ts'
import { type AlertOf, raiseAlert } from '../../store/catalog/alerts.ts'
import type { Tx } from '../../store/index.ts'
import { recordLoss } from '../../store/ledger/losses.ts'
import { insertAbandonedCheck } from '../../store/tasks/abandoned-checks.ts'
import { insertCallback } from '../../store/tasks/callbacks.ts'
import { findTaskRow, freeExternalId, liveStates, updateTask } from '../../store/tasks/tasks.ts'
import { dropTaskText, putTaskText, type TaskText } from '../../store/tasks/texts.ts'
import type { Unknown } from '../admission/price-reach.ts'
import { unpricedMessage } from '../calls/usage-alerts.ts'
import { waitBeforePoll } from './poll/task-timeouts.ts'
import { responseCost, responseUsage } from './response-usage.ts'
import { costFor, type Settled, settlementFor } from './task-charge.ts'
import type { TaskDeps } from './task-deps.ts'
import { bodyOf, sealedText } from './task-texts.ts'

/** The depth that providers read. */
const maxReportDepth = 64
const dayMs = 24 * 3_600_000

export type TaskEnd = Outcome & {
  /** Upstream work for it that its caller does not pay for. */
  losses?: readonly Loss[]
  /** It may still succeed upstream: that is checked later, and changes nothing here. */
  abandonedCheck?: true
  /** Its last step, not stored yet. */
  steps?: readonly PollStep[]
}

export type PollStep = Omit<NewStep, 'state' | 'progress'>

type Outcome =
  | {
      state: 'succeeded'
      media: readonly OutputMedia[]
      usage: TaskUsage
      raw: unknown
      /** Of a response; it is stored with the end. */
      answer?: MadeAnswer
    }
  | {
      state: 'failed'
      error: Pick<UpstreamError, 'code' | 'message' | 'upstreamRequestId'>
      raw?: unknown
      /** Its create was refused: the caller learns that from the answer. */
      isAnswer?: boolean
    }
  /** A caller that cancelled it gets no callback. */
  | { state: 'cancelled'; byCaller?: boolean }

/** The task as it ended; undefined when another writer had ended it. */
export async function endTask(deps: TaskDeps, task: Task, end: TaskEnd): Promise<Task | undefined> {
  const nowMs = deps.clock.nowMs()
  const settled = end.state === 'succeeded' ? settlementOf(deps, task, end) : undefined
  const checkAtMs = end.abandonedCheck && nowMs + waitBeforePoll(deps, 0)
  const answer = end.state === 'succeeded' ? end.answer : undefined
  const text = answer && sealedText(deps, task, 'answer', bodyOf(task, answer))
  const ending = { task, end: withoutSecrets(deps, end), settled, nowMs, checkAtMs, text }
  const { id: taskId, accountId } = task
  const step = deps.ledger.taskEnd(accountId, { taskId, atMs: nowMs }, settled)
  const done = await step.commit(() =>
    deps.store.tx(async (tx) => {
      const booked = await step.write(tx)
      return booked && writeEnd(tx, ending, booked)
    }, accountId),
  )
  if (done === undefined) return undefined
  crashPoint('task-ended')
  const { ended, losses } = done
  deps.meters?.taskEnded(ended, settled?.estimated)
  deps.tracer?.taskEnded(ended)
  for (const loss of losses) deps.jobs.lossAlerts.announce(loss)
  if (ended.callbackUrl !== undefined) deps.jobs.callbacks.wake()
  if (ended.state === 'succeeded') deps.jobs.mediaKeeper?.keep(ended)
  if (checkAtMs !== undefined) deps.jobs.abandonedChecks.wake(checkAtMs)
  return ended
}

interface Ending {
  task: Task
  end: TaskEnd
  settled: Settlement | undefined
  nowMs: number
  checkAtMs: number | undefined
  /** The answer of a response. */
  text: TaskText | undefined
}

/** In the transaction of its money: all that the end of a task changes. */
async function writeEnd(
  tx: Tx,
  { task, end, settled, nowMs, checkAtMs, text }: Ending,
  booked: TaskBooking,
): Promise<{ ended: Task; losses: readonly Loss[] }> {
  // It may have changed since it was read: the current row is the one that ends.
  const row = await findTaskRow(tx, task.id)
  ensure(row?.upstreamId === task.upstreamId, `task ${task.id} is the one that was polled`)
  const outcome = booked.isWithheld ? withheld : end
  const ended = endedAs({ ...task, ...row, ...servedBy(task) }, outcome, nowMs, booked.chargeNanos)
  if (settled?.usage !== undefined && !booked.isWithheld) ended.usage = settled.usage
  else if (ended.state === 'succeeded' && ended.kind === 'image') {
    ended.usage = usageOf(ended.usage, settled)
  }
  ended.checks = Math.max(ended.checks, task.checks)
  const costNanos = end.state === 'succeeded' ? settled?.costNanos : 0n
  if (costNanos !== undefined) ended.costNanos = costNanos
  ended.timeline = timelineOf(row ?? task, ended, end, nowMs)
  if (isRefusedCreate(end)) {
    ended.hidden = true
    await freeExternalId(tx, task.id)
  }
  const moved = await updateTask(tx, ended, liveStates)
  ensure(moved, `task ${task.id} has not ended while its hold is open`)
  await queueCallback(tx, ended, end)
  const unpaid = settled?.losses ?? []
  const losses = [...(end.losses ?? []), ...unpaid, ...uncovered(ended, settled, booked)]
  if (task.kind === 'response') {
    await dropTaskText(tx, task.id, 'request')
    if (text !== undefined && !booked.isWithheld) await putTaskText(tx, text)
  }
  for (const loss of losses) await recordLoss(tx, loss)
  if (settled?.implausible !== undefined) await raiseAlert(tx, implausibleUsage(ended, settled))
  if (settled?.unpriced !== undefined) await raiseAlert(tx, missingPrice(ended, settled.unpriced))
  if (checkAtMs !== undefined) await insertAbandonedCheck(tx, task.id, checkAtMs)
  crashPoint('task-ending')
  return { ended, losses }
}

/** Tokens as they were charged, where the price is by tokens. */
function usageOf({ tokens: _, ...usage }: TaskUsage = {}, settled: Settled | undefined): TaskUsage {
  return settled?.tokens === undefined ? usage : { ...usage, tokens: settled.tokens }
}

/** Of a call that the gateway makes itself: who served it is known at its end. */
const servedBy = ({ kind, priceId, servedModel, upstreamModel, channel, channelId }: Task) =>
  kind === 'response' && {
    priceId,
    upstreamModel,
    ...(channelId !== '' && { channel, channelId }),
    ...(servedModel !== undefined && { servedModel }),
  }

/** The transition from its current state. */
function timelineOf(row: Task, ended: Task, end: TaskEnd, nowMs: number): string {
  const { state, progress } = row
  const steps = (end.steps ?? []).map((each) => ({ ...each, state, progress }))
  const { error } = ended
  return withSteps(row, [
    ...steps,
    {
      kind: 'ended',
      atMs: nowMs,
      state: ended.state,
      progress: ended.progress,
      ...(error !== undefined && { note: `${error.code}: ${error.message}` }),
    },
  ])
}

/**
 * The task costs more than its account has left, and the account has already been served beyond its
 * balance. Its media and the report that names them are not stored.
 */
export const withheld = {
  state: 'failed' as const,
  error: refuse(
    'insufficient_quota',
    'the result costs more than the account has left; it is not delivered and not charged',
  ),
}

/** The part of a task's cost beyond its account's balance. */
function uncovered(
  ended: Task,
  charge: TaskSettlement | undefined,
  { shortNanos, isWithheld }: TaskBooking,
): Loss[] {
  if (charge === undefined || (shortNanos === 0n && !isWithheld)) return []
  const { id: ref, accountId, channel, model, upstreamId, updatedAtMs: atMs } = ended
  const { chargeNanos, unit, quantity, estimated } = charge
  const isEstimate = estimated === true
  const named = upstreamId !== undefined && { upstreamId }
  const what = { atMs, accountId, ref, channel, model, ...named, isEstimate }
  if (!isWithheld) return [{ ...what, amountNanos: shortNanos, reason: 'balance_short' }]
  const lost = { ...(unit !== undefined && { unit }), ...(quantity !== undefined && { quantity }) }
  return [{ ...what, ...lost, amountNanos: chargeNanos, reason: 'not_delivered' }]
}

/** Reported usage above the model's maximum is rejected, and raises an alert. */
function implausibleUsage(ended: Task, { implausible, quantity, unit }: Settled): AlertOf {
  const { id, channel, model, updatedAtMs: atMs } = ended
  const reported = `reported ${implausible} of ${unit} for task ${id} of ${model}`
  const message = `channel '${channel}' ${reported}; at most ${quantity} are possible and were charged`
  return { kind: 'implausible_usage', subject: channel, message, atMs }
}

function missingPrice(
  { id, channel, model, updatedAtMs: atMs }: Task,
  unpriced: NonNullable<Settlement['unpriced']>,
): AlertOf {
  const served = `channel '${channel}' served ${id} (model '${model}')`
  const message = unpricedMessage(served, unpriced.model, unpriced)
  return { kind: 'missing_price', subject: `${unpriced.model} ${unpriced.name}`, message, atMs }
}

/** The callback is written with the end itself: one never exists without the other. */
async function queueCallback(tx: Tx, task: Task, end: TaskEnd): Promise<void> {
  const { id: taskId, accountId, callbackUrl: url, updatedAtMs } = task
  if (url === undefined || isKnown(end)) return
  const id = newId('msg', updatedAtMs)
  await insertCallback(tx, { id, taskId, accountId, url, createdAtMs: updatedAtMs })
}

/** No callback about an end that the caller already knows. */
const isKnown = (end: TaskEnd): boolean =>
  (end.state === 'cancelled' && end.byCaller === true) || isRefusedCreate(end)

/** Its caller sees no task: none is listed, and the caller's own id for it is free again. */
const isRefusedCreate = (end: TaskEnd): boolean => end.state === 'failed' && end.isAnswer === true

function endedAs(task: Task, end: TaskEnd, nowMs: number, chargeNanos: bigint): Task {
  ensure(task.finishedAtMs === undefined, `task ${task.id} ends once`)
  const ended: Task = {
    ...task,
    state: end.state,
    progress: end.state === 'succeeded' ? 100 : task.progress,
    updatedAtMs: nowMs,
    finishedAtMs: nowMs,
    chargeNanos,
    ...(end.state === 'succeeded' && { media: withinADay(end.media, nowMs), usage: end.usage }),
    ...(end.state !== 'cancelled' && end.raw !== undefined && { reported: trimmed(end.raw) }),
  }
  if (end.state === 'failed') {
    const { code, message, upstreamRequestId = task.error?.upstreamRequestId } = end.error
    ended.error = { code, message, ...(upstreamRequestId !== undefined && { upstreamRequestId }) }
  } else delete ended.error
  return ended
}

/**
 * Caps an upstream's claim of how long its link lasts. Inline data went to the waiting caller; a
 * row does not store images.
 */
const withinADay = (media: readonly OutputMedia[], nowMs: number): OutputMedia[] =>
  withoutInlineData(media).map((file) =>
    file.expiresAtMs === undefined
      ? file
      : { ...file, expiresAtMs: Math.min(file.expiresAtMs, nowMs + dayMs) },
  )

/** The upstream's report is stored unchanged, except for the key, which it may repeat. */
function withoutSecrets({ cleaner }: TaskDeps, end: TaskEnd): TaskEnd {
  if (end.state === 'cancelled' || end.raw === undefined) return end
  const parsed = parseJson(
    cleaner.cleanLine(JSON.stringify(withoutInlineData(end.raw))),
    maxReportDepth,
  )
  return { ...end, raw: 'value' in parsed ? parsed.value : undefined }
}

interface Settlement extends Settled {
  /** As charged, where it is not as reported. */
  usage?: TaskUsage
  /** Of what was reported and is not charged. */
  losses?: readonly Loss[]
  /** How it was served, where the price of the model does not name it. */
  unpriced?: Unknown & { model: string }
}

function settlementOf(
  deps: TaskDeps,
  task: Task,
  { usage: reported, media, answer }: Extract<TaskEnd, { state: 'succeeded' }>,
): Settlement {
  const price = deps.prices.byId(task.priceId)
  ensure(price !== undefined, `price ${task.priceId} of task ${task.id} is known`)
  if (task.kind === 'response') {
    ensure(answer !== undefined, `response ${task.id} ends with an answer`)
    const used = responseUsage(price.terms, task, answer, deps.clock.nowMs())
    const { usage, estimated, losses, implausible, unknown } = used
    const costNanos = responseCost(deps.costs, task, answer, price.model)
    return {
      ...settlementFor(price.terms, task, usage),
      ...(costNanos !== undefined && { costNanos }),
      ...(estimated && { estimated }),
      ...(implausible !== undefined && { implausible }),
      ...{ usage, losses },
      ...(unknown !== undefined && { unpriced: { ...unknown, model: price.model } }),
    }
  }
  const images = media.filter(({ kind }) => kind === 'image').length
  const used = { ...sane(reported), images }
  const settled = settlementFor(price.terms, task, used)
  const costNanos = costFor(deps.costs, task, used, price.model)
  return costNanos === undefined ? settled : { ...settled, costNanos }
}

/** An invalid value counts as not reported: it must not keep the task from ending. */
export function sane({ outputSeconds, videoTokens, tokens }: TaskUsage): TaskUsage {
  const isCount = (count: number | undefined) => count !== undefined && count >= 0
  return {
    ...(isCount(outputSeconds) && { outputSeconds }),
    ...(isCount(videoTokens) && { videoTokens }),
    ...(tokens !== undefined && { tokens }),
  } as TaskUsage
}
