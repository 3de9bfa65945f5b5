// What the id of an arkvendor task carries: all that a poll returns, the user only if that is
// short.
import { framesIn, nativeResolutions } from '../../src/contract/media/video-size.ts'
import { seedBytes } from '../media/media-address.ts'
import type { TaskIds } from '../tasks/task-id.ts'
import { ratios, videoOf } from './request.ts'
import type { ArkInput } from './wire.ts'

/** How names of models usually begin; the rest is written out. The first that fits is taken. */
const beginnings = ['vidmodel-1-0-lite-', 'vidmodel-1-0-pro-', 'vidmodel-1-5-pro-', 'vidmodel-', '']
const shapes = ratios.length * nativeResolutions.length
const prefix = /^cgt-\d{14}-/

export const arkIds: TaskIds<ArkInput> = {
  protocol: 'arkvendor',
  // cgt-20260102030405-ab1cd…
  wrap: (letters, createdMs) => `cgt-${digitsOf(createdMs)}-${letters}`,
  unwrap: (id) => id.replace(prefix, ''),
  write({ video }, plan) {
    const { model, resolution, ratio, frames } = video
    plan.hex(video.videoSeed)
    const shape =
      ratios.indexOf(ratio) * nativeResolutions.length + nativeResolutions.indexOf(resolution)
    plan.whole(shape + (video.lastFrame ? shapes : 0))
    plan.whole(2 * (frames ?? video.seconds) + (frames === undefined ? 0 : 1))
    plan.whole(video.seed + 1)
    const beginning = beginnings.findIndex((each) => model.startsWith(each))
    plan.whole(beginning)
    plan.text(model.slice(beginnings[beginning]!.length))
    plan.words(video.user)
  },
  read(plan) {
    const videoSeed = plan.hex(seedBytes)
    const flags = plan.whole()
    const [shape, lastFrame] = [flags % shapes, flags >= shapes]
    const resolution = nativeResolutions[shape % nativeResolutions.length]!
    const ratio = ratios[Math.floor(shape / nativeResolutions.length)] ?? ''
    const length = plan.whole()
    const frames = length % 2 === 1 ? (length - 1) / 2 : undefined
    const seed = plan.whole() - 1
    const model = `${beginnings[plan.whole()] ?? ''}${plan.text()}`
    const measures = videoOf(model, resolution, ratio, frames ?? framesIn(length / 2))
    if (measures === undefined) return undefined
    const user = plan.words()
    const video = {
      model,
      resolution,
      ratio,
      frames,
      ...measures,
      seed,
      videoSeed,
      lastFrame,
      user,
    }
    return { model, seconds: video.seconds, resolution, video }
  },
}

/** 20260102030405; empty for a time that is none, which only an id made up can tell. */
function digitsOf(ms: number): string {
  const date = new Date(ms)
  if (Number.isNaN(date.getTime())) return ''
  return date.toISOString().replaceAll(/\D/g, '').slice(0, 14)
}
