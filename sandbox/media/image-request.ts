// Pictures that are wanted, in no protocol's words: how many, how large, and what decides how they
// look. Says how many come and where they are.
import type { Directives } from '../http/directives.ts'
import type { PlanReader, PlanWriter } from '../tasks/plan-bytes.ts'
import type { Picture, PictureSource } from './image.ts'
import {
  mostPicturePoints,
  mostPictureSide,
  pictureAddress,
  seedBytes,
  seedOf,
  sha256,
} from './media-address.ts'

export interface PictureOrder {
  /** Asked for; how many come is another matter. */
  count: number
  width: number
  height: number
  /** Made from all that decides the pictures but their number. */
  seed: string
  /** Absent when they are drawn from words alone. */
  source?: PictureSource
}

export const leastPictureSide = 16
export const usualSide = 1024
export const usualFidelity = 50
const markBytes = 3
export const pictureLifeMs = 24 * 3_600_000

export const pictureSeed = seedOf

/** From what was handed over, in whatever form: an address, its bytes, or the sum of a file. */
export function sourceOf(
  inputs: readonly unknown[],
  fidelity = usualFidelity,
): { source?: PictureSource } {
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
  const fits = Math.min(width, height) >= leastPictureSide && width * height <= mostPicturePoints
  return fits && Math.max(width, height) <= mostPictureSide ? { width, height } : undefined
}

export function deliveredCount({ count }: PictureOrder, directives: Directives): number {
  if (directives.noOutput) return 0
  return Math.min(count, directives.images ?? count)
}

/** All that come, in their order. */
export function pictures(order: PictureOrder, directives: Directives): Picture[] {
  const { width, height, seed, source } = order
  return Array.from({ length: deliveredCount(order, directives) }, (_, index) => ({
    ...{ width, height, seed, index },
    ...(source !== undefined && { source }),
  }))
}

/** The addresses of those that come; they work for a day after they were made. */
export function addressesOf(
  order: PictureOrder,
  directives: Directives,
  { origin, madeMs }: { origin: string; madeMs: number },
): string[] {
  const expires = Math.floor((madeMs + pictureLifeMs) / 1000)
  return pictures(order, directives).map((one) => pictureAddress(origin, one, expires))
}

/** For ids that carry an order. The size is left to who knows how it was asked for. */
export function writeLook({ count, seed, source }: PictureOrder, plan: PlanWriter): void {
  plan.hex(seed)
  plan.whole(count)
  plan.whole(source?.count ?? 0)
  if (source === undefined) return
  plan.hex(source.mark)
  plan.whole(source.fidelity)
}

export function readLook(plan: PlanReader): Omit<PictureOrder, 'width' | 'height'> {
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
