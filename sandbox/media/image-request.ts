// A batch of images, in no protocol's words: how many, how large, and from which seed. Decides how many
// are delivered and under which addresses.
import type { Directives } from '../http/directives.ts'
import type { PlanReader, PlanWriter } from '../tasks/plan-bytes.ts'
import type { Image, ImageSource } from './image.ts'
import {
  imageAddress,
  maxImagePoints,
  maxImageSide,
  seedBytes,
  seedOf,
  sha256,
} from './media-address.ts'

export interface ImageBatch {
  /** Requested; a directive may deliver fewer. */
  count: number
  width: number
  height: number
  /** From everything that determines the images except their number. */
  seed: string
  /** Absent when they are made from a prompt alone. */
  source?: ImageSource
}

const minImageSide = 16
export const usualSide = 1024
export const usualFidelity = 50
const markBytes = 3
const imageLifeMs = 24 * 3_600_000

export const imageSeed = seedOf

/** From the inputs in any form: an address, bytes, or the checksum of a file. */
export function sourceOf(
  inputs: readonly unknown[],
  fidelity = usualFidelity,
): { source?: ImageSource } {
  if (inputs.length === 0) return {}
  const mark = sha256(JSON.stringify(inputs)).slice(0, 2 * markBytes)
  return { source: { count: inputs.length, mark, fidelity } }
}

/** Of the form `1024x768`, with whatever stands between the sides; undefined when it is not. */
export function readSize(
  size: string,
  between: 'x' | '*',
): { width: number; height: number } | undefined {
  const [across = '', down = '', ...rest] = size.split(between)
  if (rest.length > 0 || ![across, down].every((side) => /^[1-9]\d{1,3}$/.test(side))) {
    return undefined
  }
  const [width, height] = [Number(across), Number(down)]
  const fits = Math.min(width, height) >= minImageSide && width * height <= maxImagePoints
  return fits && Math.max(width, height) <= maxImageSide ? { width, height } : undefined
}

export function deliveredCount({ count }: ImageBatch, directives: Directives): number {
  if (directives.noOutput) return 0
  return Math.min(count, directives.images ?? count)
}

/** All that are delivered, in order. */
export function imagesOf(order: ImageBatch, directives: Directives): Image[] {
  const { width, height, seed, source } = order
  return Array.from({ length: deliveredCount(order, directives) }, (_, index) => ({
    ...{ width, height, seed, index },
    ...(source !== undefined && { source }),
  }))
}

/** Addresses of the delivered images, valid for a day. */
export function addressesOf(
  order: ImageBatch,
  directives: Directives,
  { origin, madeMs }: { origin: string; madeMs: number },
): string[] {
  const expires = Math.floor((madeMs + imageLifeMs) / 1000)
  return imagesOf(order, directives).map((one) => imageAddress(origin, one, expires))
}

/** For ids that carry a batch, without the size, which each protocol writes in its own way. */
export function writeImageBatch({ count, seed, source }: ImageBatch, plan: PlanWriter): void {
  plan.hex(seed)
  plan.whole(count)
  plan.whole(source?.count ?? 0)
  if (source === undefined) return
  plan.hex(source.mark)
  plan.whole(source.fidelity)
}

export function readImageBatch(plan: PlanReader): Omit<ImageBatch, 'width' | 'height'> {
  const seed = plan.hex(seedBytes)
  const count = plan.whole()
  const inputs = plan.whole()
  if (inputs === 0) return { seed, count }
  return {
    seed,
    count,
    source: { count: inputs, mark: plan.hex(markBytes), fidelity: plan.whole() },
  }
}
