// The download of a finished video.

import type { CallerApi } from '../../contract/caller-api.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import { isEnd, type VideoTask } from '../../contract/task.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { serveContent } from '../media/serve-content.ts'
import { pollSeconds, statusOf } from './view.ts'

export async function serveVideo(
  api: CallerApi,
  x: RequestContext,
  task: VideoTask,
): Promise<Response | Refusal> {
  const variant = new URL(x.request.url, 'http://gateway').searchParams.get('variant') ?? 'video'
  if (variant !== 'video') return refuse('not_found', 'only the video itself can be downloaded')
  return notDownloadable(task) ?? serveContent(api, x, task, `${task.id}.mp4`)
}

function notDownloadable(task: VideoTask): Refusal | undefined {
  if (task.state === 'succeeded') return undefined
  const status = statusOf(task)
  return isEnd(task.state)
    ? refuse('video_not_available', `there is no video: the task is ${status}`)
    : refuse('video_not_ready', `the video is not ready: the task is ${status}`, {
        retryAfterSeconds: pollSeconds,
      })
}
