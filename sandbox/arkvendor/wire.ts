// Tasks in the shapes of the arkvendor protocol. Times are whole seconds.
import { framesPerSecond } from '../../src/contract/media/video-size.ts'
import { imageAddress, mediaAddress } from '../media/media-address.ts'
import type { TaskInput } from '../tasks/task-id.ts'
import type { SandboxTask, SandboxTaskState } from '../tasks/task-memory.ts'
import { failureWords } from './errors.ts'
import type { NativeOrder } from './request.ts'

export interface ArkInput extends TaskInput {
  video: NativeOrder
}

type ArkTask = SandboxTask<ArkInput>

const mediaLifeMs = 24 * 3_600_000

export function taskBody(task: ArkTask, state: SandboxTaskState, origin: string) {
  const { video, directives } = task.input
  const body = {
    id: task.id,
    model: video.model,
    status: state,
    error: state === 'failed' ? failureWords(directives.fail) : null,
    created_at: seconds(task.createdMs),
    updated_at: seconds(changedMs(task, state)),
    ...userOf(task),
    service_tier: 'default',
    execution_expires_after: 172_800,
  }
  if (state !== 'succeeded') return body
  const { frames, tokens } = video
  const length = frames === undefined ? { duration: video.seconds } : { frames }
  return {
    ...body,
    content: {
      video_url: addressOf(task, origin),
      ...(video.lastFrame && { last_frame_url: frameOf(task, origin) }),
    },
    ...(!directives.noUsage && { usage: { completion_tokens: tokens, total_tokens: tokens } }),
    seed: video.seed,
    resolution: video.resolution,
    ratio: video.ratio,
    ...length,
    framespersecond: framesPerSecond,
  }
}

/** Who the caller said its own user is. */
export const userOf = ({ input }: ArkTask): object =>
  input.video.user === undefined ? {} : { safety_identifier: input.video.user }

function changedMs(task: ArkTask, state: SandboxTaskState): number {
  if (state === 'queued') return task.createdMs
  return state === 'running' ? task.startsMs : (task.cancelledMs ?? task.endsMs)
}

const seconds = (ms: number): number => Math.floor(ms / 1000)

function addressOf({ input, endsMs }: ArkTask, origin: string): string {
  const { width, height, seconds: length, videoSeed } = input.video
  const video = { width, height, seconds: length, seed: videoSeed }
  return mediaAddress(origin, video, seconds(endsMs + mediaLifeMs))
}

function frameOf({ input, endsMs }: ArkTask, origin: string): string {
  const { width, height, videoSeed: seed } = input.video
  const frame = { width, height, seed, index: 0 }
  return imageAddress(origin, frame, seconds(endsMs + mediaLifeMs))
}
