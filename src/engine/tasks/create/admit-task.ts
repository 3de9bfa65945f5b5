// Decides whether a task may be created: the model, a channel with a free slot, the price, and the
// maximum cost. Writes nothing; an admitted task has taken its slot.
import type { CallContext } from '../../../contract/caller-api.ts'
import type { Model } from '../../../contract/catalog.ts'
import { modelNotFound, Refusal, refuse } from '../../../contract/errors.ts'
import type { Task } from '../../../contract/task.ts'
import { hiddenModel } from '../../admission/hidden-model.ts'
import { accountSuspended } from '../../admission/price-for.ts'
import type { Engine } from '../../engine.ts'
import { leavePlace } from '../../routing/channel-places.ts'
import { dropProbes } from '../../routing/learn.ts'
import type { PickedRoute } from '../../routing/pick-route.ts'
import { holdFor } from '../task-charge.ts'
import {
  affordable,
  placeTask,
  type TaskInput,
  type TaskMember,
  taskMembers,
  withBound,
} from './task-members.ts'

export interface Admitted extends Pick<Task, 'priceId' | 'holdNanos' | 'servedModel'> {
  /** With its maximum at the upstream that was picked. */
  input: TaskInput
  /** That serves it. */
  model: Model
  picked: PickedRoute
  /** That may serve it if this one refuses; the hold is enough for each. */
  others: readonly TaskMember[]
}

export async function admitTask(
  engine: Engine,
  ctx: CallContext,
  input: TaskInput,
): Promise<Admitted | Refusal> {
  const { accountId } = ctx.token
  const called = engine.catalog.visible(ctx.token, input.model)
  if (called === undefined) return hiddenModel(engine, ctx.token, input.model)
  const members = taskMembers(engine, ctx, called, input)
  if (members instanceof Refusal && members.code === 'model_not_supported') return members
  const busy = notNow(engine, accountId)
  if (busy !== undefined) return busy
  if (members instanceof Refusal) return members
  const placed = await placeTask(engine, ctx, members)
  if (placed instanceof Refusal) return placed
  const { picked, member } = placed
  const { model, price, servedModel } = member
  const bounded = withBound(engine, member, input, picked.route)
  const ownNanos = holdFor(price.terms, bounded, engine.clock.nowMs())
  if (ownNanos === undefined) {
    leavePlace(engine, picked.route.channel, picked.channelState, accountId)
    dropProbes(picked)
    return modelNotFound(input.model)
  }
  const { others, holdNanos } = affordable(engine, input, placed.others, ownNanos)
  const served = servedModel !== undefined && { servedModel }
  return { input: bounded, model, picked, priceId: price.id, holdNanos, others, ...served }
}

function notNow(engine: Engine, accountId: string): Refusal | undefined {
  if (engine.load.draining) {
    return refuse('overloaded', 'the gateway is shutting down', { retryAfterSeconds: 2 })
  }
  if (engine.jobs.clockWatch.refusal !== undefined) return engine.jobs.clockWatch.refusal
  if (engine.ledger.stopped.has(accountId)) return accountSuspended
  if (engine.store.healthy && engine.ledger.usable(accountId)) return undefined
  const message = 'the gateway cannot record charges at the moment'
  return refuse('overloaded', message, { retryAfterSeconds: 2 })
}
