// Decides whether a task may be created: the model, a channel with a free slot, the price, and the
// maximum cost. Writes nothing; an admitted task has taken its slot.
import type { Route } from '../../../catalog/snapshot.ts'
import type { CallContext, ImageCreate, VideoCreate } from '../../../contract/caller-api.ts'
import type { Model } from '../../../contract/catalog.ts'
import { Refusal, refuse } from '../../../contract/errors.ts'
import { modelNotFound } from '../../../contract/not-found.ts'
import type { Task, VideoTask } from '../../../contract/task.ts'
import { accountSuspended } from '../../admission/admit.ts'
import { hiddenModel } from '../../admission/hidden-model.ts'
import type { Engine } from '../../engine.ts'
import { leavePlace } from '../../routing/channel-places.ts'
import { dropProbes } from '../../routing/learn.ts'
import type { PickedRoute } from '../../routing/pick-route.ts'
import { takePlace } from '../../routing/take-place.ts'
import { holdFor, plainBound } from '../task-charge.ts'
import { keysOf } from '../task-upstream.ts'

/** A caller's input for a task, completed. */
export type TaskInput = (Omit<VideoCreate, 'request'> & Pick<VideoTask, 'request'>) | ImageCreate

export interface Admitted extends Pick<Task, 'priceId' | 'holdNanos'> {
  /** With its maximum at the upstream that was picked. */
  input: TaskInput
  model: Model
  picked: PickedRoute
}

export async function admitTask(
  engine: Engine,
  ctx: CallContext,
  input: TaskInput,
): Promise<Admitted | Refusal> {
  const { accountId } = ctx.token
  const model = engine.catalog.visible(ctx.token, input.model)
  if (model === undefined) return hiddenModel(engine, ctx.token, input.model)
  const routes = routesFor(engine, model, input)
  if (routes.length === 0) {
    const ways = engine.catalog.servedBy(model).join(', ')
    const message = `model '${input.model}' cannot be used here; it is served by: ${ways}`
    return refuse('model_not_supported', message, { param: 'model' })
  }
  const busy = notNow(engine, accountId)
  if (busy !== undefined) return busy
  const price = engine.prices.current(model.pricedAs ?? model.name, accountId)
  if (price === undefined) return modelNotFound(input.model)
  const picked = await takeFor(engine, ctx, pinned(engine, routes, input.pinnedTo))
  if (picked instanceof Refusal) return picked
  const bounded = withBound(engine, model, input, picked)
  const holdNanos = holdFor(price.terms, bounded)
  if (holdNanos === undefined) {
    leavePlace(engine, picked.route.channel, picked.channelState, accountId)
    dropProbes(picked)
    return modelNotFound(input.model)
  }
  return { input: bounded, model, picked, priceId: price.id, holdNanos }
}

const routesFor = (
  engine: Engine,
  model: Model,
  { interface: use, kind }: Pick<TaskInput, 'interface' | 'kind'>,
): Route[] =>
  engine.catalog
    .routes(model, use)
    .filter(({ protocol }) => engine.providers.get(protocol)?.[kind] !== undefined)

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

function pinned(engine: Engine, routes: Route[], to: TaskInput['pinnedTo']): Route[] {
  if (to === undefined) return routes
  return routes
    .filter(({ channel, protocol }) => channel.id === to.channelId && protocol === to.protocol)
    .map((route) => {
      const keys = keysOf(engine, route.channel.keys, to)
      return { ...route, channel: { ...route.channel, keys } }
    })
    .filter(({ channel }) => channel.keys.length > 0)
}

const takeFor = (engine: Engine, { token, signal }: CallContext, routes: readonly Route[]) =>
  takePlace(engine, routes, { accountId: token.accountId, signal })

function withBound(
  engine: Engine,
  model: Model,
  input: TaskInput,
  { route }: PickedRoute,
): TaskInput {
  if (input.kind !== 'video') return input
  const { request } = input
  const outlook = engine.providers.get(route.protocol)?.video?.outlook?.(request, model.name)
  const expected = request.native === undefined ? {} : outlook?.expected
  const bound = outlook?.bound ?? plainBound(model.name, request)
  return { ...input, request: { ...request, ...expected, bound } }
}
