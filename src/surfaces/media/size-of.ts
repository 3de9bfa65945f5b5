// The frame size of a task's video, as far as it follows from the request. Knows no dialect.

import { nativeResolutions, nativeSize, type Size } from '../../contract/media/video-size.ts'
import { servingModel, type VideoTask } from '../../contract/task.ts'

const usualRatio = '16:9'

/** The shape as the upstream reported it, if it did. */
interface ShownShape {
  ratio?: string | undefined
  resolution?: string
}

/** Undefined when the shape follows the caller's images, which the gateway does not fetch. */
export function sizeOf(
  { protocol, request, ...task }: VideoTask,
  shown: ShownShape = {},
): Size | undefined {
  const { media } = request
  const resolution = shown.resolution ?? request.resolution
  const ratio = shown.ratio ?? request.ratio ?? (media.length > 0 ? undefined : usualRatio)
  if (ratio === undefined) return undefined
  if (protocol === 'arkvendor') {
    const known = nativeResolutions.find((each) => each === resolution)
    return known && nativeSize(servingModel(task), known, ratio)
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
