// How large a task's video is, as far as the gateway can tell without seeing it. Knows no dialect.
import type { VideoTask } from '../../contract/task.ts'
import { nativeSize, type Size } from '../../contract/video-size.ts'

const usualRatio = '16:9'

/**
 * `told`: the ratio an upstream reported. Undefined when the shape follows the caller's own
 * pictures, which the gateway has not seen.
 */
export function sizeOf({ model, protocol, request }: VideoTask, told?: string): Size | undefined {
  const { resolution, media } = request
  const ratio = told ?? request.ratio ?? (media.length > 0 ? undefined : usualRatio)
  if (ratio === undefined) return undefined
  if (protocol === 'arkvendor') return nativeSize(model, resolution, ratio)
  const [across, down] = ratio.split(':').map(Number)
  if (!across || !down) return undefined
  const short = Number.parseInt(resolution, 10)
  const long = Math.round((short * Math.max(across, down)) / Math.min(across, down))
  return across >= down ? { width: long, height: short } : { width: short, height: long }
}

/** 1280x720 */
export function sizeTextOf(task: VideoTask): string | undefined {
  const size = sizeOf(task)
  return size && `${size.width}x${size.height}`
}
