// What the id of a vendorg operation carries: all that a poll returns.
import { seedBytes } from '../media/media-address.ts'
import type { TaskIds, TaskInput } from '../tasks/task-id.ts'
import { sizeOf, type VideoInput } from './request.ts'

export interface VendorgOrder extends TaskInput {
  video: VideoInput
}

export const vendorgIds: TaskIds<VendorgOrder> = {
  protocol: 'vendorg',
  wrap: (letters) => letters,
  unwrap: (id) => id,
  write({ model, video }, plan) {
    plan.hex(video.videoSeed)
    plan.whole((video.resolution === '1080p' ? 2 : 0) + (video.width > video.height ? 1 : 0))
    plan.whole(video.seconds)
    plan.text(model)
  },
  read(plan) {
    const videoSeed = plan.hex(seedBytes)
    const shape = plan.whole()
    const seconds = plan.whole()
    const model = plan.text()
    const size = sizeOf(shape >= 2 ? '1080p' : '720p', shape % 2 === 1)
    return { model, seconds, resolution: size.resolution, video: { seconds, ...size, videoSeed } }
  },
}
