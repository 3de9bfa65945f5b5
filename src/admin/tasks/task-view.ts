// Tasks as the admin API shows them: rows know ids, people know names.
import { costedTask, marginOf } from '../../billing/margin.ts'
import { tagsView } from '../../contract/tags/index.ts'
import { expiryOf, servingModel, type Task, type TaskError } from '../../contract/task.ts'
import type { BaseDeps } from '../../engine/base-deps.ts'
import type { Jobs } from '../../engine/jobs.ts'
import { type LinkDeps, linksOf } from '../../engine/results/file-links.ts'
import { type CancelDeps, cancelProblem } from '../../engine/tasks/cancel-problem.ts'
import { medianMs } from '../../engine/tasks/poll/poll-schedule.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { namesOfTokens, type TokenNames } from '../../store/catalog/tokens.ts'
import type { Page } from '../../store/index.ts'
import { refundedOf } from '../../store/ledger/refunds.ts'
import { callbackStates } from '../../store/tasks/callbacks.ts'
import { listOf, time, timeOrNull } from '../answers.ts'
import type { View } from '../route.ts'
import { usageView } from '../token-usage.ts'
import { callbackView } from './callback-view.ts'
import type { listedTask, task as shownTask, taskList, taskUsage } from './task-schema.ts'
import { timelineView } from './timeline-view.ts'

interface TaskViewDeps extends BaseDeps, LinkDeps, CancelDeps {
  readonly jobs: Pick<Jobs, 'poller'>
}

export async function viewPage(
  engine: TaskViewDeps,
  page: Page<Task>,
): Promise<View<typeof taskList>> {
  const ids = [...new Set(page.items.map(({ tokenId }) => tokenId))]
  const names = await namesOfTokens(engine.store.read, ids)
  const withCallback = page.items.filter(({ callbackUrl }) => callbackUrl !== undefined)
  const callbacks = await callbackStates(
    engine.store.read,
    withCallback.map(({ id }) => id),
  )
  const refunded = await refundedOf(
    engine.store.read,
    page.items.map(({ id }) => id),
  )
  return listOf(page, (task) => ({
    ...viewOf(engine, task, names.get(task.tokenId)),
    refunded: formatNanos(refunded.get(task.id) ?? 0n),
    ...marginOf(costedTask(task), refunded.get(task.id) ?? 0n),
    callback_state: callbacks.get(task.id) ?? null,
    cancel_problem: cancelProblem(engine, task) ?? null,
  }))
}

/** With the callback and every step, which a list leaves out. */
export const viewTask = async (
  engine: TaskViewDeps,
  task: Task,
): Promise<View<typeof shownTask>> => ({
  ...(await viewPage(engine, { items: [task] })).items[0]!,
  callback: await callbackView(engine, task),
  timeline: timelineView(task),
})

const modelsOf = ({ model, servedModel, upstreamModel }: Task) => ({
  model,
  served_model: servedModel ?? null,
  upstream_model: upstreamModel,
})

type AddedLater = 'callback_state' | 'cancel_problem' | 'refunded' | 'cost' | 'margin'

const viewOf = (
  engine: TaskViewDeps,
  task: Task,
  names: TokenNames | undefined,
): Omit<View<typeof listedTask>, AddedLater> => ({
  kind: task.kind,
  id: task.id,
  ...(task.externalId !== undefined && { external_id: task.externalId }),
  account_id: task.accountId,
  account: names?.account ?? null,
  token_id: task.tokenId,
  token: names?.token ?? null,
  request_id: task.requestId,
  interface: task.interface,
  ...modelsOf(task),
  channel: task.channel,
  protocol: task.protocol,
  upstream_id: task.upstreamId ?? null,
  state: task.state,
  progress: task.progress,
  request: requestView(task.request),
  hold: formatNanos(task.holdNanos),
  charge: formatNanos(task.chargeNanos),
  ...tagsView(task.tags),
  price_id: task.priceId,
  usage: task.usage === undefined ? null : taskUsageView(task.usage),
  usage_reported: task.reported ?? null,
  media: task.media.map(mediaView),
  error: task.error === undefined ? null : errorView(task.error),
  created_at: time(task.createdAtMs),
  started_at: timeOrNull(task.startedAtMs),
  finished_at: timeOrNull(task.finishedAtMs),
  updated_at: time(task.updatedAtMs),
  next_check_at: task.finishedAtMs === undefined ? time(task.nextCheckAtMs) : null,
  checks: task.checks,
  unknown_since: timeOrNull(task.missingSinceMs),
  expected_ms: medianMs(engine.jobs.poller.durations, servingModel(task)) ?? null,
  files: filesOf(engine, task),
})

/** Where a browser can open them: the upstream's own address is not for everyone. */
function filesOf(engine: TaskViewDeps, task: Task) {
  const linkTo = linksOf(engine)
  return task.media.map((file, part) => ({
    kind: file.kind,
    url: linkTo(task, part),
    expires_at: time(expiryOf(task, file)),
  }))
}

const mediaView = ({ kind, url, expiresAtMs }: Task['media'][number]) => ({
  kind,
  url,
  expires_at: timeOrNull(expiresAtMs),
})

const errorView = ({ code, message, upstreamRequestId }: TaskError) => ({
  code,
  message,
  ...(upstreamRequestId !== undefined && { upstream_request_id: upstreamRequestId }),
})

/** Addresses as they are, bytes only as a word: an image may have megabytes. */
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
  images,
  tokens,
}: NonNullable<Task['usage']>): View<typeof taskUsage> => ({
  output_seconds: outputSeconds ?? null,
  video_tokens: videoTokens ?? null,
  ...(images !== undefined && { images }),
  ...(tokens !== undefined && usageView(tokens)),
})
