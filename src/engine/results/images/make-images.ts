// Pictures for a caller that waits for them. They are a task like any other, with its row and hold
// before anything is sent; what comes of it is handed over first and charged for as far as it was.
//
//   accepted ──> sent ──> result at once ─────────────┐
//                  └────> asked for until it is over ──┴─> fetched ──> charged ──> answered
//
// Without a key nobody but this connection can see them: if it ends early, they cost nothing.
import type { CallContext, MadeImages, Picture } from '../../../contract/caller-api.ts'
import { Refusal, refuse } from '../../../contract/errors.ts'
import type { TaskReport } from '../../../contract/provider.ts'
import type { RequestRecord } from '../../../contract/requests.ts'
import { type ImageTask, isEnd, type OutputMedia, type Task } from '../../../contract/task.ts'
import { crashPoint } from '../../../lib/crash-point.ts'
import { imageTypeOf } from '../../../lib/text/image-type.ts'
import { absorbTask, lossOfTask } from '../../books/losses.ts'
import { endRecord, newRecord, recordUnbilled, writeRecord } from '../../calls/call-record.ts'
import type { Engine } from '../../engine.ts'
import { type Accepted, acceptTask, type TaskWish } from '../../tasks/create/accept-task.ts'
import {
  createOnce,
  firstRefusal,
  keyedCreate,
  replayedIn,
} from '../../tasks/create/repeat-create.ts'
import { runAdmitted } from '../../tasks/create/run-admitted.ts'
import { type FinishedReport, refusalFor, sendTask } from '../../tasks/create/send-task.ts'
import { endTask, type TaskEnd, withheld } from '../../tasks/end-task.ts'
import { insist } from '../../tasks/retry-write.ts'
import { keepBytes } from '../copy-media.ts'
import { keptParts } from '../kept-media.ts'
import { waitForEnd } from './wait-for-end.ts'

export type ImageWish = Extract<TaskWish, { kind: 'image' }> & {
  /** Whether the caller wants the bytes, not an address. */
  wantsBytes: boolean
}

/** Gets the bytes of these files, all at once; what cannot be had is undefined. */
export type FetchPictures = (
  engine: Engine,
  task: ImageTask,
  media: readonly OutputMedia[],
) => Promise<readonly (Uint8Array | undefined)[]>

/** How long a caller waits for an upstream that takes its time. */
export const longestWaitMs = 120_000

export async function makeImages(
  engine: Engine,
  ctx: CallContext,
  wish: ImageWish,
  fetchPictures: FetchPictures,
): Promise<MadeImages | Refusal> {
  const record = newRecord(ctx, wish.interface, wish.model)
  const making = { engine, ctx, wish, record, fetchPictures }
  return runAdmitted(engine, ctx, record, () => makeAdmitted(making))
}

interface Making {
  engine: Engine
  ctx: CallContext
  wish: ImageWish
  record: RequestRecord
  fetchPictures: FetchPictures
}

async function makeAdmitted(making: Making): Promise<MadeImages | Refusal> {
  const { engine, ctx, wish, record } = making
  const keyed = await keyedCreate(ctx.token, wish, { wantsBytes: wish.wantsBytes })
  const made = await createOnce(engine, keyed, () =>
    acceptTask(engine, ctx, wish, keyed, { waitedForMs: longestWaitMs }),
  )
  const replayOf = replayedIn(made)
  if (replayOf !== undefined) record.detail.replayOf = replayOf
  if (made instanceof Refusal) return recordUnbilled(engine, record, 'refused', made)
  if ('replayed' in made) return replay(making, made.task as ImageTask)
  return makeAccepted(making, made).finally(() => engine.creating.delete(made.task.id))
}

async function makeAccepted(making: Making, made: Accepted): Promise<MadeImages | Refusal> {
  const { engine, ctx, wish, record } = making
  crashPoint('task-accepted')
  record.detail.taskId = made.task.id
  record.channel = made.task.channel
  record.priceId = made.task.priceId
  let pictures: readonly Picture[] = []
  const finish = async (
    task: Task,
    report: FinishedReport & Pick<TaskEnd, 'lateLook' | 'seen'>,
  ) => {
    const end = await deliver(making, task as ImageTask, report)
    pictures = end.pictures
    return conclude(engine, task, { ...end.end, seen: report.seen ?? [] })
  }
  const sent = await sendTask(engine, made, wish, { finish, isWaitedFor: true })
  if (sent.upstreamRequestId !== undefined) record.upstreamRequestId = sent.upstreamRequestId
  let { result } = sent
  if (!(result instanceof Refusal) && result.state !== 'succeeded') {
    const report = await waitForEnd(engine, result as ImageTask, {
      forMs: longestWaitMs,
      // With a key the answer can be asked for again: then it is worth going on alone.
      ...(wish.key === undefined && { signal: ctx.signal }),
    })
    result = await (report.state === 'cancelled'
      ? conclude(engine, result, report)
      : finish(result, report))
  }
  if (result instanceof Refusal) return recordUnbilled(engine, record, 'failed', result)
  pictures = await hosted(engine, result.id, pictures)
  record.chargeNanos = 0n
  writeRecord(engine, endRecord(engine, record, 'complete', 200))
  return { task: result as ImageTask, pictures, replayed: false }
}

/** An address was asked for and bytes came: they are kept here, and had at an address of the gateway. */
async function hosted(
  engine: Engine,
  taskId: string,
  pictures: readonly Picture[],
): Promise<readonly Picture[]> {
  return Promise.all(
    pictures.map(async (picture) => {
      const { inlineUrl, ...rest } = picture
      const bytes = inlineUrl === undefined ? undefined : bytesIn(inlineUrl)
      const type = bytes && imageTypeOf(bytes)
      if (bytes === undefined || type === undefined) return picture
      const isKept = await keepBytes(engine, taskId, picture.part, { bytes, type }).catch(
        (error: unknown) => {
          engine.log.warn('a picture could not be kept', { task_id: taskId, error })
          return false
        },
      )
      return isKept ? rest : picture
    }),
  )
}

function bytesIn(url: string): Uint8Array | undefined {
  const comma = url.indexOf(',')
  if (comma === -1 || !/;base64$/i.test(url.slice(0, comma))) return undefined
  return Buffer.from(url.slice(comma + 1), 'base64')
}

/** The first answer again; what has not ended yet is still under way. */
async function replay(
  { engine, wish, record, fetchPictures }: Making,
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
  if (await isHandedOver(engine, task, wish)) {
    const extras = { replayOf: task.requestId }
    const refusal = refuse('result_download_failed', handedOverOnce, extras)
    return recordUnbilled(engine, record, 'refused', refusal)
  }
  const bytes = wish.wantsBytes ? await fetchPictures(engine, task, task.media) : []
  if (wish.wantsBytes && bytes.some((each) => each === undefined)) {
    const extras = { replayOf: task.requestId }
    const refusal = refuse('result_download_failed', notAgain, extras)
    return recordUnbilled(engine, record, 'refused', refusal)
  }
  writeRecord(engine, endRecord(engine, record, 'complete', 200))
  const pictures = task.media.map((_, part) => pictureOf(part, bytes[part]))
  return { task, pictures, replayed: true }
}

/** Whether only the first answer had the pictures: they came inside one, and are not kept here. */
async function isHandedOver(engine: Engine, task: ImageTask, wish: ImageWish): Promise<boolean> {
  if (!task.media.some(({ url }) => isInline(url))) return false
  if (wish.wantsBytes) return true
  const kept = await keptParts(engine, task)
  return task.media.some(({ url }, part) => isInline(url) && !kept.has(part))
}

/** What of a result reaches the caller, and so what the task comes to. */
async function deliver(
  { engine, wish, fetchPictures }: Making,
  task: ImageTask,
  report: Extract<TaskReport, { state: 'succeeded' | 'failed' }> & Pick<TaskEnd, 'lateLook'>,
): Promise<{ end: TaskEnd; pictures: readonly Picture[] }> {
  if (report.state === 'failed') return { end: report, pictures: [] }
  const files = report.media.filter(({ kind }) => kind === 'image').slice(0, task.request.count)
  if (files.length === 0) {
    const losses = [lossOfTask(engine, task, 'not_delivered')]
    const end = { state: 'failed' as const, error: noOutput(task), raw: report.raw, losses }
    return { end, pictures: [] }
  }
  const bytes = wish.wantsBytes ? await fetchPictures(engine, task, files) : []
  const media = wish.wantsBytes ? files.filter((_, at) => bytes[at] !== undefined) : files
  const losses = undelivered(engine, task, files.length - media.length)
  if (media.length === 0) {
    const end = { state: 'failed' as const, error: downloadFailed, raw: report.raw, losses }
    return { end, pictures: [] }
  }
  const had = bytes.filter((each) => each !== undefined)
  return {
    end: { ...report, media, usage: { ...report.usage, pictures: media.length }, losses },
    pictures: media.map(({ url }, part) => pictureOf(part, had[part], url)),
  }
}

const undelivered = (engine: Engine, task: ImageTask, pictures: number) =>
  pictures === 0 ? [] : [lossOfTask(engine, task, 'not_delivered', { usage: { pictures } })]

const pictureOf = (part: number, bytes: Uint8Array | undefined, url = ''): Picture => ({
  part,
  ...(bytes !== undefined ? { bytes } : isInline(url) && { inlineUrl: url }),
})

const isInline = (url: string): boolean => url.startsWith('data:')

async function conclude(engine: Engine, task: Task, end: TaskEnd): Promise<Task | Refusal> {
  const ended = await insist(engine, () => endTask(engine, task, end))
  if (end.state === 'failed') return refusalFor(end.error)
  if (end.state === 'cancelled') return refuse('upstream_timeout', 'nobody waited for the pictures')
  if (ended?.state === 'failed') return refusalFor(withheld.error)
  if (ended !== undefined) return ended
  const usage = { pictures: end.media.length }
  await absorbTask(engine, lossOfTask(engine, task, 'not_delivered', { usage }))
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
