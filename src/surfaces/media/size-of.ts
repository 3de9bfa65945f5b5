// How large a task's video is, as far as the gateway can tell without seeing it. Knows no dialect.

import { nativeResolutions, nativeSize, type Size } from '../../contract/media/video-size.ts'
import type { VideoTask } from '../../contract/task.ts'

const usualRatio = '16:9'

/** What an upstream reported of the shape, where it did. */
interface ToldShape {
  ratio?: string | undefined
  resolution?: string
}

/** Undefined when the shape follows the caller's own pictures, which the gateway has not seen. */
export function sizeOf(
  { model, protocol, request }: VideoTask,
  told: ToldShape = {},
): Size | undefined {
  const { media } = request
  const resolution = told.resolution ?? request.resolution
  const ratio = told.ratio ?? request.ratio ?? (media.length > 0 ? undefined : usualRatio)
  if (ratio === undefined) return undefined
  if (protocol === 'arkvendor') {
    const known = nativeResolutions.find((each) => each === resolution)
    return known && nativeSize(model, known, ratio)
  }
  const [across, down] = ratio.split(':').map(Number)
  const short = Number.parseInt(resolution, 10)
  if (!across || !down || !short) return undefined
  const long = Math.round((short * Math.max(across, down)) / Math.min(across, down))
  return across >= down ? { width: long, height: short } : { width: short, height: long }
}

/** 1280x720 */
export function sizeTextOf(task: VideoTask): string | undefined {
  const size = sizeOf(task)
  return size && `${size.width}x${size.height}`
}
