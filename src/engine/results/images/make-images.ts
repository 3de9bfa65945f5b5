// Images for a caller that waits for them. They are a task like any other, with row and hold before
// anything is sent; images are delivered first, and only delivered ones are charged.
//
//   accepted ──> sent ──> result at once ─────────────┐
//                  └────> asked for until it is over ──┴─> fetched ──> charged ──> answered
//
// Without a key only this connection can receive them: if it ends early, they are free.
import type { CallContext, Image, MadeImages } from '../../../contract/caller-api.ts'
import { Refusal, refuse } from '../../../contract/errors.ts'
import type { RequestRecord } from '../../../contract/requests.ts'
import {
  type ImageTask,
  isEnd,
  type OutputMedia,
  type Task,
  type TaskUsage,
} from '../../../contract/task.ts'
import { base64Bytes } from '../../../lib/json/json-thread.ts'
import { imageTypeOf } from '../../../lib/text/image-type.ts'
import { addTaskLoss, lossOfTask } from '../../books/losses.ts'
import { endRecord, newRecord, recordUnbilled, writeRecord } from '../../calls/call-record.ts'
import type { Engine } from '../../engine.ts'
import { acceptTask, recordTask } from '../../tasks/create/accept-task.ts'
import type { Accepted } from '../../tasks/create/hold-task.ts'
import { firstRefusal } from '../../tasks/create/idempotency.ts'
import { runAdmitted } from '../../tasks/create/run-admitted.ts'
import { refusalFor, sendTask } from '../../tasks/create/send-task.ts'
import type { TaskInput } from '../../tasks/create/task-members.ts'
import { endTask, type TaskEnd, withheld } from '../../tasks/end-task.ts'
import { sharedTokens } from '../../tasks/image-tokens.ts'
import { retryWrite } from '../../tasks/retry-write.ts'
import { keepBytes } from '../copy-media.ts'
import { keptParts } from '../kept-media.ts'
import { isInline, startOfBase64 } from './inline-image.ts'
import { type WaitedEnd, waitForEnd } from './wait-for-end.ts'

type ImageInput = Extract<TaskInput, { kind: 'image' }> & {
  /** Whether the caller wants the bytes, not a URL. */
  wantsBytes: boolean
}

/** Fetches these files in parallel, as Base64; undefined for each failure. */
export type FetchImages = (
  engine: Engine,
  task: ImageTask,
  media: readonly OutputMedia[],
) => Promise<readonly (string | undefined)[]>

/** How long a caller waits for a slow upstream. */
export const maxWaitMs = 120_000

export async function makeImages(
  engine: Engine,
  ctx: CallContext,
  input: ImageInput,
  fetchImages: FetchImages,
): Promise<MadeImages | Refusal> {
  const record = newRecord(ctx, input.interface, input.model)
  const making = { engine, ctx, input, record, fetchImages }
  return runAdmitted(engine, ctx, record, () => makeAdmitted(making))
}

interface Making {
  engine: Engine
  ctx: CallContext
  input: ImageInput
  record: RequestRecord
  fetchImages: FetchImages
}

async function makeAdmitted(making: Making): Promise<MadeImages | Refusal> {
  const { engine, ctx, input, record } = making
  const { wantsBytes } = input
  const how = { waitedForMs: maxWaitMs, asked: { wantsBytes } }
  const made = await acceptTask(engine, ctx, input, record, how)
  if (made instanceof Refusal) return made
  if ('replayed' in made) return replay(making, made.task as ImageTask)
  return makeAccepted(making, made).finally(() => engine.creating.delete(made.task.id))
}

async function makeAccepted(making: Making, made: Accepted): Promise<MadeImages | Refusal> {
  const { engine, input, record } = making
  const sent = await sendTask(engine, made, input, { isWaitedFor: true })
  recordTask(record, made.task)
  if (sent.upstreamRequestId !== undefined) record.upstreamRequestId = sent.upstreamRequestId
  if ('result' in sent && sent.result instanceof Refusal) {
    return recordUnbilled(engine, record, 'failed', sent.result)
  }
  const task = ('result' in sent ? sent.result : made.task) as ImageTask
  // The poller ended it while the reply to its create was on the way.
  if (task.state === 'succeeded') return replay(making, task)
  const report = 'report' in sent ? sent.report : await waitFor(making, task)
  const { end, images } = await deliver(making, task, report)
  const result = await conclude(engine, task, end)
  if (result instanceof Refusal) return recordUnbilled(engine, record, 'failed', result)
  const shown = await hosted(engine, result, images)
  record.chargeNanos = 0n
  const hasLeft = making.ctx.signal.aborted
  const ending = hasLeft ? 'caller_left' : 'complete'
  writeRecord(engine, endRecord(engine, record, ending, hasLeft ? 499 : 200))
  return { task: result as ImageTask, images: shown, replayed: false }
}

/** Without the caller the work continues, unless the operator wants it released and it has no key. */
function waitFor({ engine, ctx, input }: Making, task: ImageTask): Promise<WaitedEnd> {
  const isReleased = engine.declared.file.left_calls === 'release' && input.key === undefined
  return waitForEnd(engine, task, { forMs: maxWaitMs, ...(isReleased && { signal: ctx.signal }) })
}

/** An address was asked for and bytes came: they are kept here, and had at an address of the gateway. */
async function hosted(
  engine: Engine,
  { id: taskId, accountId }: Task,
  images: readonly Image[],
): Promise<readonly Image[]> {
  return Promise.all(
    images.map(async (image) => {
      const { inlineUrl, ...rest } = image
      const from = inlineUrl === undefined ? undefined : startOfBase64(inlineUrl)
      if (inlineUrl === undefined || from === undefined) return image
      const bytes = await base64Bytes(inlineUrl, from, accountId)
      const type = bytes && imageTypeOf(bytes)
      if (bytes === undefined || type === undefined) return image
      const isKept = await keepBytes(engine, taskId, image.part, { bytes, type }).catch(
        (error: unknown) => {
          engine.log.warn('image not stored', { task_id: taskId, error })
          return false
        },
      )
      return isKept ? rest : image
    }),
  )
}

/** The first answer again; a task that has not ended is still in progress. */
async function replay(
  { engine, input, record, fetchImages }: Making,
  task: ImageTask,
): Promise<MadeImages | Refusal> {
  if (task.state !== 'succeeded') {
    const extras = { retryAfterSeconds: 1 }
    const message = 'the pictures of this Idempotency-Key are still being made'
    const refusal = isEnd(task.state)
      ? firstRefusal(task)
      : refuse('idempotency_in_flight', message, extras)
    return recordUnbilled(engine, record, 'refused', refusal)
  }
  if (await isHandedOver(engine, task, input)) {
    const extras = { replayOf: task.requestId }
    const refusal = refuse('result_download_failed', handedOverOnce, extras)
    return recordUnbilled(engine, record, 'refused', refusal)
  }
  const contents = input.wantsBytes ? await fetchImages(engine, task, task.media) : []
  if (input.wantsBytes && contents.some((each) => each === undefined)) {
    const extras = { replayOf: task.requestId }
    const refusal = refuse('result_download_failed', notAgain, extras)
    return recordUnbilled(engine, record, 'refused', refusal)
  }
  writeRecord(engine, endRecord(engine, record, 'complete', 200))
  const images = task.media.map((_, part) => imageOf(part, contents[part]))
  return { task, images, replayed: true }
}

/** Whether only the first answer had the images: they were inline, and are not kept here. */
async function isHandedOver(engine: Engine, task: ImageTask, input: ImageInput): Promise<boolean> {
  if (!task.media.some(({ url }) => isInline(url))) return false
  if (input.wantsBytes) return true
  const kept = await keptParts(engine, task)
  return task.media.some(({ url }, part) => isInline(url) && !kept.has(part))
}

/** The delivered part of a result, which is the part that is charged. */
async function deliver(
  { engine, input, fetchImages }: Making,
  task: ImageTask,
  report: WaitedEnd,
): Promise<{ end: TaskEnd; images: readonly Image[] }> {
  if (report.state !== 'succeeded') return { end: report, images: [] }
  const { steps = [] } = report
  const files = report.media.filter(({ kind }) => kind === 'image').slice(0, task.request.count)
  if (files.length === 0) {
    const losses = [lossOfTask(engine, task, 'not_delivered')]
    const end = { state: 'failed' as const, error: noOutput(task), raw: report.raw, losses, steps }
    return { end, images: [] }
  }
  const contents = input.wantsBytes ? await fetchImages(engine, task, files) : []
  const media = input.wantsBytes ? files.filter((_, at) => contents[at] !== undefined) : files
  const shared = sharedUsage(report.usage, media.length, files.length)
  const losses = undelivered(engine, task, shared.others)
  if (media.length === 0) {
    const end = { state: 'failed' as const, error: downloadFailed, raw: report.raw, losses, steps }
    return { end, images: [] }
  }
  const had = contents.filter((each) => each !== undefined)
  return {
    end: { ...report, media, usage: shared.delivered, losses },
    images: media.map(({ url }, part) => imageOf(part, had[part], url)),
  }
}

const undelivered = (engine: Engine, task: ImageTask, usage: TaskUsage) =>
  usage.images === 0 ? [] : [lossOfTask(engine, task, 'not_delivered', { usage })]

/** Of the images that were delivered, and of the others. */
function sharedUsage(usage: TaskUsage, images: number, made: number) {
  const [delivered, others]: TaskUsage[] = [{ ...usage, images }, { images: made - images }]
  if (usage.tokens !== undefined) {
    const shared = sharedTokens(usage.tokens, images, made)
    delivered!.tokens = shared.delivered
    others!.tokens = shared.others
  }
  return { delivered: delivered!, others: others! }
}

const imageOf = (part: number, base64: string | undefined, url = ''): Image => ({
  part,
  ...(base64 !== undefined ? { base64 } : isInline(url) && { inlineUrl: url }),
})

async function conclude(engine: Engine, task: Task, end: TaskEnd): Promise<Task | Refusal> {
  const ended = await retryWrite(engine, () => endTask(engine, task, end))
  if (end.state === 'failed') return refusalFor(end.error)
  if (end.state === 'cancelled') return refuse('upstream_timeout', 'nobody waited for the pictures')
  if (ended?.state === 'failed') return refusalFor(withheld.error)
  if (ended !== undefined) return ended
  const usage = { ...end.usage, images: end.media.length }
  await addTaskLoss(engine, lossOfTask(engine, task, 'not_delivered', { usage }))
  return refuse('upstream_timeout', 'the pictures came too late')
}

const downloadFailed = refuse(
  'result_download_failed',
  'the pictures were made but could not be fetched from the upstream; nothing is charged',
)

const notAgain = 'the pictures could not be fetched from the upstream once more'

const handedOverOnce =
  'the upstream gave these pictures without an address; only the first answer had them'

const noOutput = ({ request }: ImageTask) => ({
  code: 'no_output' as const,
  message: request.isEdit
    ? 'the upstream made no picture; usually an input picture is not public, or the model does not edit'
    : 'the upstream made no picture',
})
