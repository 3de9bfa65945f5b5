// What else can be done with one task: fetch an image it was made from, and run the same request
// again. Both may cost or reach out, so both are bounded and the second is in the audit log.
import { Refusal, refuse } from '../../contract/errors.ts'
import { repeatedTags } from '../../contract/tags/index.ts'
import type { ImageTask, Task, VideoTask } from '../../contract/task.ts'
import { createTask } from '../../engine/tasks/create/create-task.ts'
import { fetchMedia } from '../../engine/tasks/create/fetch-media.ts'
import type { TaskInput } from '../../engine/tasks/create/task-members.ts'
import { workRefusals } from '../../http/operation.ts'
import { answerHeaders, type RequestContext } from '../../http/request-context.ts'
import { bytes } from '../../http/schema.ts'
import { imageTypeOf } from '../../lib/text/image-type.ts'
import { findToken } from '../../store/catalog/tokens.ts'
import { auditChange, notFound } from '../answers.ts'
import { forOperatorsAndMembers, owning } from '../permission.ts'
import type { Ask } from '../route.ts'
import { inputQuery, task } from './task-schema.ts'
import { viewTask } from './task-view.ts'
import { taskRoute } from './tasks.ts'

/** Images that are being fetched for consoles at this moment. */
const maxFetches = 8
let fetches = 0

async function fetchInput({
  engine,
  id,
  found,
  query,
  x,
}: Ask<{ query: typeof inputQuery; found: Task }>) {
  const input = found.kind === 'response' ? undefined : found.request.media[Number(query.part ?? 0)]
  if (input?.kind !== 'image' || input.url.startsWith('data:')) return notFound('image', id)
  if (fetches >= maxFetches) {
    return refuse('overloaded', 'many images are being fetched', { retryAfterSeconds: 1 })
  }
  fetches++
  try {
    return imageFrom(x, await fetchMedia(engine, input.url))
  } finally {
    fetches--
  }
}

/** Only what begins like an image is shown as one: a page of the caller's would run as ours. */
function imageFrom(
  x: RequestContext,
  found: Awaited<ReturnType<typeof fetchMedia>>,
): Response | Refusal {
  if ('problem' in found) return refuse('not_found', `it cannot be fetched: ${found.problem}`)
  const type = imageTypeOf(found.bytes)
  if (type === undefined) return refuse('not_found', 'it is not an image')
  return new Response(found.bytes, { headers: answerHeaders(x, type) })
}

async function rerun({ engine, found, x }: Ask<{ found: Task }>) {
  const { store } = engine
  const token = await findToken(store.read, found.tokenId)
  const isOver = token?.disabled || (token?.expiresAtMs ?? Infinity) <= x.atMs
  if (token === undefined || isOver) return cannotRerun('its token cannot be used any more')
  if (found.interface === 'images') return cannotRerun('images are made by a call')
  if (found.kind === 'response') return cannotRerun('its request is not kept')
  if (found.request.media.some(({ url }) => url.startsWith('data:'))) {
    return cannotRerun('some of its inputs were sent as bytes, which are not kept')
  }
  if (found.request.isCut) return cannotRerun('its texts were too long to be kept whole')
  // Its budgets are those of the task: of its token, and of its tags.
  const tags = repeatedTags(found.tags, token)
  const ctx = { requestId: x.requestId, atMs: x.atMs, token, tags, ...detached() }
  const made = await createTask(engine, ctx, inputOf(found))
  if (made instanceof Refusal) return made
  // It has been made, and an upstream was asked in between: the audit entry comes after it.
  const change = { before: { task: found.id }, after: { task: made.task.id } }
  await store.tx((tx) =>
    auditChange(tx, x, { action: 'task.rerun', subject: made.task.id, ...change }),
  )
  return viewTask(engine, made.task)
}

const cannotRerun = (why: string): Refusal =>
  refuse('invalid_request', `the task cannot be made again: ${why}`)

/** Without the caller's own name for it, which is taken, and without a callback. */
const inputOf = (found: VideoTask | ImageTask): TaskInput => {
  const { interface: use, model } = found
  return found.kind === 'video'
    ? { interface: use, model, kind: found.kind, request: found.request }
    : { interface: use, model, kind: found.kind, request: found.request }
}

/** No caller waits for the answer. */
const detached = () => ({
  signal: new AbortController().signal,
  errorEvent: () => new Uint8Array(),
})

const imageTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']

export const taskActionRoutes = [
  taskRoute('GET /tasks/:id/input', {
    id: 'showTaskInput',
    summary: 'An image that a task was made from, fetched where its caller has it',
    query: inputQuery,
    files: Object.fromEntries(imageTypes.map((type) => [type, bytes()])),
    returns: 'The image.',
    handle: fetchInput,
  }),
  taskRoute('POST /tasks/:id/rerun', {
    id: 'rerunTask',
    permission: owning(forOperatorsAndMembers, 'task'),
    summary: 'Run the same request again, at the expense of the same account',
    answer: task,
    status: 201,
    returns: 'The new task.',
    refusals: [
      ...workRefusals,
      'upstream_outcome_unknown',
      'upstream_task_lost',
      'idempotency_in_flight',
      'idempotency_mismatch',
      'no_output',
    ],
    handle: rerun,
  }),
]
