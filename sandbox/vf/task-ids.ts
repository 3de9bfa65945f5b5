// What the id of a vf task carries: all that a poll returns, the prompt only if it is short. No
// account of a single task names its model.

import { readImageBatch, writeImageBatch } from '../media/image-request.ts'
import { seedBytes } from '../media/media-address.ts'
import type { PlanReader, PlanWriter } from '../tasks/plan-bytes.ts'
import type { CarriedInput, TaskIds } from '../tasks/task-id.ts'
import type { ImageInput } from './image-request.ts'
import { ratios, secondsPerVideo, sizeOf, type VideoInput } from './request.ts'
import type { VfInput } from './wire.ts'

export const vfIds: TaskIds<VfInput> = {
  protocol: 'vf',
  // 01hx5c2e-8m3k-q7rd-9w0z-…
  wrap: (letters) => letters.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  unwrap: (id) => id.replaceAll('-', ''),
  write(input, plan) {
    plan.whole(things.indexOf(input.thing))
    if (input.thing === 'video') writeVideo(input.video, plan)
    else writeImage(input.image, plan)
  },
  read(plan) {
    const thing = things[plan.whole()]
    if (thing === undefined) return undefined
    return thing === 'video' ? readVideo(plan) : readImage(plan)
  },
}

const things = ['video', 'image'] as const

function writeVideo(video: VideoInput, plan: PlanWriter): void {
  plan.hex(video.videoSeed)
  plan.whole(2 * ratios.indexOf(video.ratio) + (video.lines === 1080 ? 1 : 0))
  plan.whole(video.seconds)
  plan.whole(video.inputSeconds / secondsPerVideo)
  plan.words(video.prompt)
}

function readVideo(plan: PlanReader): CarriedInput<VfInput> | undefined {
  const videoSeed = plan.hex(seedBytes)
  const shape = plan.whole()
  const lines = shape % 2 === 1 ? 1080 : 720
  const ratio = ratios[Math.floor(shape / 2)]
  if (ratio === undefined) return undefined
  const seconds = plan.whole()
  const inputSeconds = plan.whole() * secondsPerVideo
  const size = sizeOf(lines, ratio)
  const length = { seconds, inputSeconds }
  const video = { model: '', prompt: plan.words(), ...length, lines, ratio, ...size, videoSeed }
  return { model: '', seconds, resolution: `${lines}p`, thing: 'video', video }
}

function writeImage(image: ImageInput, plan: PlanWriter): void {
  writeImageBatch(image, plan)
  plan.whole(image.width)
  plan.whole(image.height)
  plan.words(image.prompt)
}

function readImage(plan: PlanReader): CarriedInput<VfInput> {
  const batch = readImageBatch(plan)
  const [width, height] = [plan.whole(), plan.whole()]
  const image = { ...batch, width, height, prompt: plan.words() }
  return { model: '', seconds: 0, resolution: `${width}*${height}`, thing: 'image', image }
}
