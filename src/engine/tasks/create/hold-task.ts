// Makes an admitted task durable before anything is sent: its row, its hold and its caller's key, in
// one transaction.
import { Exhausted } from '../../../billing/budgets/budget-leases.ts'
import type { BudgetsOfCall } from '../../../billing/budgets/budgets.ts'
import type { CallContext } from '../../../contract/caller-api.ts'
import type { Model } from '../../../contract/catalog.ts'
import { type Refusal, refuse } from '../../../contract/errors.ts'
import { idPrefixes, type Task } from '../../../contract/task.ts'
import { withStep } from '../../../contract/timeline.ts'
import { newId } from '../../../lib/crypto/ids.ts'
import { gatewayOf, Rollback } from '../../../store/index.ts'
import { insertTask } from '../../../store/tasks/tasks.ts'
import { putTaskText, type TaskText } from '../../../store/tasks/texts.ts'
import { budgetExhausted } from '../../admission/reserve.ts'
import type { Declares, Seals } from '../../base-deps.ts'
import type { Engine } from '../../engine.ts'
import { leavePlace } from '../../routing/channel-places.ts'
import { dropProbes } from '../../routing/learn.ts'
import type { PickedRoute } from '../../routing/pick-route.ts'
import { taskTrace } from '../../telemetry/traces/traced-client.ts'
import { keptRequest } from '../kept-request.ts'
import { taskTimeoutsOf } from '../poll/task-timeouts.ts'
import { keyFingerprint } from '../task-upstream.ts'
import type { Admitted } from './admit-task.ts'
import { inFlight, type KeyedCreate, keepKey } from './idempotency.ts'
import type { TaskInput, TaskMember } from './task-members.ts'

/** In `engine.creating` until its create is over. */
export interface Accepted {
  task: Task
  picked: PickedRoute
  model: Model
  /** Members of a virtual model that may serve it if this one refuses. */
  others: readonly TaskMember[]
}

interface HoldOptions {
  keyed: KeyedCreate | undefined
  /** Until then only the caller's connection waits for it. */
  waitedForMs: number | undefined
}

/** A create in progress must not be treated as cut off. */
const graceMs = 60_000

/** It keeps its slot at the channel only if the write succeeds. */
export async function holdTask(
  engine: Engine,
  ctx: CallContext,
  admitted: Admitted,
  { keyed, waitedForMs }: HoldOptions,
): Promise<Accepted | Refusal> {
  const { picked, model, input, others } = admitted
  let id = ''
  let written: Written | undefined
  try {
    const task = newTask(engine, ctx, admitted, waitedForMs)
    id = task.id
    engine.creating.add(id)
    written = await writeTask(engine, ctx, task, keyed)
    if (written === 'done') return { task, picked, model, others }
  } finally {
    if (written !== 'done') {
      engine.creating.delete(id)
      leavePlace(engine, picked.route.channel, picked.channelState, ctx.token.accountId)
    }
  }
  dropProbes(picked)
  return refusedWrite(engine, written, { kind: input.kind, holdNanos: admitted.holdNanos })
}

export function refusedWrite(
  engine: Engine,
  written: Exclude<Written, 'done'> | undefined,
  { kind, holdNanos }: Pick<Task, 'kind' | 'holdNanos'>,
): Refusal {
  if (written === 'named') return nameTaken
  if (written === 'taken') return inFlight
  if (written instanceof Exhausted) {
    return budgetExhausted(written, holdNanos, engine.clock.nowMs())
  }
  const message = `the account's available balance is too low for this ${kind}`
  return refuse('insufficient_quota', message)
}

/** `taken`: its key has been used; `named`: its caller's own id for it has. */
type Written = 'done' | 'named' | 'taken' | 'insufficient' | Exhausted

export async function writeTask(
  engine: Engine,
  { token, tags }: CallContext,
  task: Task,
  keyed: KeyedCreate | undefined,
  text?: TaskText,
): Promise<Written> {
  const budgets = engine.ledger.budgets.of(token, tags)
  for (let tries = 0; ; tries++) {
    const written = await writeOnce(engine, task, keyed, budgets, text)
    if (budgets === undefined || !(written instanceof Exhausted)) return written
    if (!(await engine.ledger.budgets.gather(budgets, tries))) return written
  }
}

function writeOnce(
  engine: Engine,
  task: Task,
  keyed: KeyedCreate | undefined,
  budgets: BudgetsOfCall | undefined,
  text: TaskText | undefined,
): Promise<Written> {
  const { id, accountId, holdNanos, createdAtMs, tags } = task
  const hold = engine.ledger.taskHold(id, accountId, holdNanos, createdAtMs, tags)
  return hold.commit(() =>
    engine.store.tx(async (tx): Promise<Written> => {
      if ((await hold.write(tx)) !== 'done') return 'insufficient'
      const lacking = budgets && (await engine.ledger.budgets.lackingFor(tx, budgets, holdNanos))
      if (lacking !== undefined) throw new Rollback<Written>(lacking)
      const isFirst = keyed === undefined || (await keepKey(engine, tx, keyed, task))
      if (!isFirst) throw new Rollback<Written>('taken')
      if (!(await insertTask(tx, task))) throw new Rollback<Written>('named')
      if (text !== undefined) await putTaskText(tx, text)
      return 'done'
    }, accountId),
  )
}

const nameTaken = refuse('invalid_request', 'another task has this external_task_id', {
  param: 'external_task_id',
})

function newTask(
  engine: Engine,
  ctx: CallContext,
  { input, picked, priceId, holdNanos, servedModel }: Admitted,
  waitedForMs: number | undefined,
): Task {
  const nowMs = engine.clock.nowMs()
  const { externalId, callbackUrl } = input
  return {
    ...requestOf(input),
    ...madeBy(engine, picked),
    id: newId(idPrefixes[input.kind], nowMs),
    accountId: ctx.token.accountId,
    tokenId: ctx.token.id,
    requestId: ctx.requestId,
    interface: input.interface,
    model: input.model,
    ...(servedModel !== undefined && { servedModel }),
    state: 'accepted',
    progress: 0,
    priceId,
    holdNanos,
    chargeNanos: 0n,
    media: [],
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    nextCheckAtMs: nowMs + maxCreateMs(engine, picked, waitedForMs),
    checks: 0,
    misses: 0,
    hidden: false,
    timeline: withStep({ createdAtMs: nowMs }, created(nowMs)),
    ...(ctx.trace !== undefined && { trace: taskTrace(ctx.trace) }),
    ...(ctx.tags !== undefined && { tags: ctx.tags }),
    ...(externalId !== undefined && { externalId }),
    ...(callbackUrl !== undefined && { callbackUrl }),
    awaitedBy: gatewayOf(engine.store),
    ...(waitedForMs !== undefined && input.key === undefined && { ephemeral: true }),
  }
}

export const madeBy = (deps: Seals, { route, key }: PickedRoute) => ({
  protocol: route.protocol,
  channelId: route.channel.id,
  channel: route.channel.name,
  upstreamModel: route.upstreamModel,
  keyFingerprint: keyFingerprint(deps, key),
})

/** If no result is written by then, its create was cut off, and the poller takes over. */
function maxCreateMs(deps: Declares, { route }: PickedRoute, waitedForMs = -graceMs): number {
  const answerMs = route.channel.timeouts.firstByteMs + graceMs
  return Math.max(Math.min(answerMs, taskTimeoutsOf(deps).unknownMs), waitedForMs + graceMs)
}

const created = (atMs: number) =>
  ({ kind: 'created', atMs, state: 'accepted', progress: 0 }) as const

function requestOf(input: TaskInput) {
  if (input.kind === 'response') return { kind: input.kind, request: input.request }
  return input.kind === 'video'
    ? { kind: input.kind, request: keptRequest(input.request) }
    : { kind: input.kind, request: keptRequest(input.request) }
}
