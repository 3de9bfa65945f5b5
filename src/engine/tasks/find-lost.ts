// A task whose create was cut off: its upstream is asked whether it has it, again and again for a
// while. It is never sent again. Found, it goes on like any other; not found, it ends free.
import type { Found, LostCreate, TaskUpstream } from '../../contract/provider.ts'
import type { Task } from '../../contract/task.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import { crashPoint } from '../../lib/crash-point.ts'
import { isUniqueConflict } from '../../store/index.ts'
import { claimedIds, hasTwin } from '../../store/lost-creates.ts'
import { updateTask } from '../../store/tasks.ts'
import type { Engine } from '../engine.ts'
import { homeOf, taskUpstream } from './task-upstream.ts'

/** By how much an upstream's clock may differ from ours. */
const skewMs = 2 * 60_000
const waiting = ['accepted', 'unknown'] as const
/** More ids than this are asked for in several questions. */
const idsAtOnce = 500

/** `none`: the upstream has it not, or not so that it is certain. `unheard`: it could not be asked. */
export type Search = 'adopted' | 'none' | 'unheard' | 'impossible'

export async function findLost(engine: Engine, task: Task, fence: number): Promise<Search> {
  const search = finderFor(engine, task)
  if (search === undefined) return 'impossible'
  const home = homeOf(engine, task)
  if (home === undefined) return 'unheard'
  const { route, key } = home
  const lost: Where = {
    fromMs: task.createdAtMs - skewMs,
    untilMs: task.createdAtMs + route.channel.timeouts.firstByteMs + skewMs,
    unclaimed: (upstreamIds) => unclaimed(engine, task, upstreamIds),
  }
  const stop = new Cancellation()
  const deadline = engine.deadlines.start(route.channel.timeouts, stop)
  const upstream = taskUpstream(engine, task, route, key, deadline)
  const found = await search(lost, upstream, stop).finally(() => deadline.end())
  crashPoint('task-looked')
  if (found.kind === 'failed') return 'unheard'
  const upstreamId = await theOne(engine, task, found)
  if (upstreamId === undefined) return 'none'
  return adopt(engine, task, fence, upstreamId, found.upstreamModel)
}

type Where = Omit<LostCreate<never>, 'request'>
type Finder = (lost: Where, upstream: TaskUpstream, stop: Cancellation) => Promise<Found>

function finderFor({ providers }: Engine, task: Task): Finder | undefined {
  const provider = providers.get(task.protocol)
  if (task.kind === 'video') {
    const [find, { request }] = [provider?.video?.find, task]
    return find && ((lost, upstream, stop) => find({ ...lost, request }, upstream, stop))
  }
  const [find, { request }] = [provider?.image?.find, task]
  return find && ((lost, upstream, stop) => find({ ...lost, request }, upstream, stop))
}

async function unclaimed(
  { store }: Engine,
  { channelId }: Task,
  upstreamIds: readonly string[],
): Promise<readonly string[]> {
  const free: string[] = []
  for (let at = 0; at < upstreamIds.length; at += idsAtOnce) {
    const some = upstreamIds.slice(at, at + idsAtOnce)
    const taken = await claimedIds(store.read, channelId, some)
    free.push(...some.filter((id) => !taken.has(id)))
  }
  return free
}

/** Undefined unless it is certain. */
async function theOne(
  engine: Engine,
  task: Task,
  { upstreamIds, by }: Extract<Found, { kind: 'found' }>,
): Promise<string | undefined> {
  const [first, ...others] = upstreamIds
  if (first === undefined) return undefined
  if (by === 'marker') {
    // All of them came of this one create; the account pays for one of them.
    noteAbsorbed(engine, task, others)
    return first
  }
  if (others.length > 0) return undefined
  const { id, channelId, model, request } = task
  const twin = await hasTwin(engine.store.read, { id, channelId, model, prompt: request.prompt })
  return twin ? undefined : first
}

async function adopt(
  engine: Engine,
  task: Task,
  fence: number,
  upstreamId: string,
  upstreamModel = task.upstreamModel,
): Promise<Search> {
  const nowMs = engine.clock.nowMs()
  const { error: _, ...rest } = task
  const found: Task = {
    ...rest,
    state: 'queued',
    upstreamId,
    upstreamModel,
    checks: task.checks + 1,
    doubts: 0,
    updatedAtMs: nowMs,
    nextCheckAtMs: nowMs,
  }
  try {
    const moved = await engine.store.tx((tx) => updateTask(tx, found, waiting, fence))
    if (moved) engine.log.info('a create that was cut off was found', { task_id: task.id })
  } catch (error) {
    // Somebody else was faster: then it is theirs.
    if (!isUniqueConflict(error)) throw error
    return 'none'
  }
  engine.poller.wake(nowMs)
  return 'adopted'
}

/** Work that an upstream did besides what was asked for: the operator bears it. */
export function noteAbsorbed(
  { log }: Pick<Engine, 'log'>,
  { id, channel }: Pick<Task, 'id' | 'channel'>,
  upstreamIds: readonly string[] = [],
): void {
  if (upstreamIds.length === 0) return
  const fields = { task_id: id, channel, upstream_ids: upstreamIds.join(' ') }
  log.warn('an upstream made several tasks of one create; the others are absorbed', fields)
}
