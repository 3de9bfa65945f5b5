// The file a task made, fetched for its owner and passed on: nothing of the upstream but the bytes.
import { type Refusal, refuse } from '../../contract/errors.ts'
import type { OutputMedia, Task } from '../../contract/task.ts'
import { openDownload } from '../../lib/guarded-fetch.ts'
import type { Engine } from '../engine.ts'

export interface Content {
  status: 200 | 206
  body: ReadableStream<Uint8Array>
  contentType: string
  lengthBytes?: number
  contentRange?: string
}

const headTimeoutMs = 30_000

export async function openContent(
  engine: Engine,
  task: Task,
  range?: string,
  wanted: OutputMedia['kind'] = 'video',
): Promise<Content | Refusal> {
  const file = task.media.find(({ kind }) => kind === wanted)
  if (file === undefined) return refuse('video_not_available', `the task has no ${wanted}`)
  if (file.expiresAtMs !== undefined && file.expiresAtMs <= engine.clock.nowMs()) return expired
  const answer = await openDownload(file.url, {
    rules: rulesFor(engine, task),
    maxRedirects: 3,
    headTimeoutMs,
    ...(range !== undefined && { range }),
  })
  if ('problem' in answer) {
    engine.log.info('a result could not be fetched', { task_id: task.id, error: answer.problem })
    return refuse('upstream_unreachable', 'the result could not be fetched from the upstream')
  }
  if (answer.status === 403 || answer.status === 404 || answer.status === 410) {
    await answer.body?.cancel()
    return expired
  }
  if ((answer.status !== 200 && answer.status !== 206) || answer.body === null) {
    await answer.body?.cancel()
    return refuse('upstream_error', 'the upstream did not hand over the result')
  }
  const length = Number(answer.headers['content-length'])
  const contentRange = answer.headers['content-range']
  return {
    status: answer.status,
    body: answer.body,
    // Whatever the upstream says: a page must not come from our address.
    contentType: wanted === 'video' ? 'video/mp4' : imageType(answer.headers['content-type']),
    ...(Number.isSafeInteger(length) && length >= 0 && { lengthBytes: length }),
    ...(contentRange !== undefined && { contentRange }),
  }
}

const imageType = (told: string | undefined): string =>
  /^image\/(?:png|jpeg|webp)$/.exec(told ?? '')?.[0] ?? 'application/octet-stream'

const expired = refuse('video_expired', 'the result is no longer kept by the upstream')

/** The sandbox runs on this machine; everybody else must be public or allowed. */
function rulesFor(engine: Engine, task: Task) {
  const own = task.channelId === 'sandbox' ? ['127.0.0.1/32'] : []
  return { allow: [...engine.egressAllow, ...own], httpsOnly: true }
}
