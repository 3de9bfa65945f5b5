// The download of a finished video.

import type { CallerApi } from '../../contract/caller-api.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import { isEnd, type Task } from '../../contract/task.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { serveContent } from '../media/serve-content.ts'
import { plainIdOf } from './names.ts'
import { pollSeconds } from './view.ts'

export const serveFile = async (
  api: CallerApi,
  x: RequestContext,
  task: Task,
): Promise<Response | Refusal> =>
  notDownloadable(task) ?? serveContent(api, x, task, `${plainIdOf(task.id)}.mp4`)

function notDownloadable({ state }: Task): Refusal | undefined {
  if (state === 'succeeded') return undefined
  if (isEnd(state)) return refuse('video_not_available', `there is no video: the task ${state}`)
  return refuse('video_not_ready', 'the video is not ready: its operation is not done', {
    retryAfterSeconds: pollSeconds,
  })
}
