// Recovers a task after its create was cut off: asks the upstream repeatedly, for a limited time,
// whether it has the task. Never sends it again. Found, it continues like any other; not found, it
// ends free of charge.

import type { Found, LostCreate, TaskUpstream } from '../../../contract/provider.ts'
import type { Task } from '../../../contract/task.ts'
import { withStep } from '../../../contract/timeline.ts'
import type { Cancellation } from '../../../lib/cancellation.ts'
import { crashPoint } from '../../../lib/crash-point.ts'
import { isUniqueConflict, type Tx } from '../../../store/index.ts'
import { recordLoss } from '../../../store/ledger/losses.ts'
import { claimedIds, hasTwin } from '../../../store/tasks/lost-creates.ts'
import { updateTask } from '../../../store/tasks/tasks.ts'
import { lossOfTask } from '../../books/losses.ts'
import type { TaskDeps } from '../task-deps.ts'
import { askUpstream, originOf } from '../task-upstream.ts'

/** Maximum difference between an upstream's clock and ours. */
const skewMs = 2 * 60_000
const waiting = ['accepted', 'unknown'] as const
/** More ids than this are split into several queries. */
const idsAtOnce = 500
/** Maximum number of extra upstream tasks that are recorded. */
const maxOthers = 100

/** `none`: the upstream does not have it, or not with certainty. `unheard`: no reply. */
type Search = 'adopted' | 'none' | 'unheard' | 'impossible'

export async function findLost(deps: TaskDeps, task: Task, fence: number): Promise<Search> {
  const found = await searchLost(deps, task)
  if (typeof found === 'string') return found
  const [upstreamId, ...others] = found.upstreamIds
  if (upstreamId === undefined) return 'none'
  return adopt(deps, task, fence, { upstreamId, others, upstreamModel: found.upstreamModel })
}

/** Whether its upstream can be searched. */
export const canAsk = (deps: TaskDeps, task: Task): boolean =>
  task.upstreamId !== undefined || finderFor(deps, task) !== undefined

interface FoundTasks {
  /** The first is the requested one; the others came from the same create. */
  upstreamIds: readonly string[]
  upstreamModel: string | undefined
}

/** What its upstream made of a create that was cut off, as far as it is certain. */
export async function searchLost(
  deps: TaskDeps,
  task: Task,
): Promise<FoundTasks | 'unheard' | 'impossible'> {
  const search = finderFor(deps, task)
  if (search === undefined) return 'impossible'
  const origin = originOf(deps, task)
  if (origin === undefined) return 'unheard'
  const lost: Where = {
    fromMs: task.createdAtMs - skewMs,
    untilMs: task.createdAtMs + origin.route.channel.timeouts.firstByteMs + skewMs,
    unclaimed: (upstreamIds) => unclaimed(deps, task, upstreamIds),
  }
  const found = await askUpstream(deps, task, origin, (upstream, stop) =>
    search(lost, upstream, stop),
  )
  crashPoint('task-polled')
  if (found.kind === 'failed') return 'unheard'
  return { upstreamIds: await theOnes(deps, task, found), upstreamModel: found.upstreamModel }
}

type Where = Omit<LostCreate<never>, 'request'>
type Finder = (lost: Where, upstream: TaskUpstream, stop: Cancellation) => Promise<Found>

function finderFor({ providers }: TaskDeps, task: Task): Finder | undefined {
  const provider = providers.get(task.protocol)
  if (task.kind === 'video') {
    const [find, { request }] = [provider?.video?.find, task]
    return find && ((lost, upstream, stop) => find({ ...lost, request }, upstream, stop))
  }
  if (task.kind !== 'image') return undefined
  const [find, { request }] = [provider?.image?.find, task]
  return find && ((lost, upstream, stop) => find({ ...lost, request }, upstream, stop))
}

async function unclaimed(
  { store }: TaskDeps,
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

/** Empty unless it is certain. */
async function theOnes(
  deps: TaskDeps,
  task: Task,
  { upstreamIds, by }: Extract<Found, { kind: 'found' }>,
): Promise<readonly string[]> {
  // All of them came from this one create; the account pays for one of them.
  if (by === 'marker') return upstreamIds
  if (upstreamIds.length !== 1) return []
  const { id, channelId, model, request } = task
  const twin = await hasTwin(deps.store.read, { id, channelId, model, prompt: request.prompt })
  return twin ? [] : upstreamIds
}

interface Adopted {
  upstreamId: string
  others: readonly string[]
  upstreamModel: string | undefined
}

async function adopt(
  deps: TaskDeps,
  task: Task,
  fence: number,
  { upstreamId, others, upstreamModel = task.upstreamModel }: Adopted,
): Promise<Search> {
  const nowMs = deps.clock.nowMs()
  const { error: _, ...rest } = task
  const found: Task = {
    ...rest,
    state: 'queued',
    upstreamId,
    upstreamModel,
    checks: task.checks + 1,
    misses: 0,
    updatedAtMs: nowMs,
    nextCheckAtMs: nowMs,
    timeline: withStep(task, {
      kind: 'found',
      atMs: nowMs,
      state: 'queued',
      progress: task.progress,
    }),
  }
  try {
    const moved = await deps.store.tx(async (tx) => {
      const isMine = await updateTask(tx, found, waiting, fence)
      if (isMine) await addOtherLosses(deps, tx, task, others)
      return isMine
    })
    if (moved) deps.log.info('lost create found upstream', { task_id: task.id })
  } catch (error) {
    // Another gateway was faster and owns it now.
    if (!isUniqueConflict(error)) throw error
    return 'none'
  }
  deps.jobs.poller.wake(nowMs)
  return 'adopted'
}

/** Upstream work beyond the request: a loss of the operator's. */
export async function addOtherLosses(
  deps: TaskDeps,
  tx: Tx,
  task: Task,
  upstreamIds: readonly string[] = [],
): Promise<void> {
  if (upstreamIds.length === 0) return
  const fields = { task_id: task.id, channel: task.channel, upstream_ids: upstreamIds.join(' ') }
  deps.log.warn('an upstream made several tasks of one create; the others are losses', fields)
  for (const upstreamId of upstreamIds.slice(0, maxOthers)) {
    const loss = lossOfTask(deps, task, 'second_task', { upstreamId })
    if (await recordLoss(tx, loss)) deps.jobs.lossAlerts.announce(loss)
  }
}
