// The price tier of an image request, by the size name the caller used or by the long side of the
// requested pixels; the size of the finished image changes nothing. No I/O.
import { type ImageSize, type ImageTerms, imageSizes, type SizedImageTerms } from '../price.ts'
import type { ImageRequest } from '../task.ts'

/** Maximum pixels of the long side for each size, any aspect ratio; 4k takes the rest. */
export const maxSide = { '1k': 1_800, '2k': 3_600 } as const

/** Undefined when the request leaves the size to the model. */
export function sizeAsked({
  size,
  native,
}: Pick<ImageRequest, 'size' | 'native'>): ImageSize | undefined {
  if (native !== undefined) {
    return imageSizes.find((each) => each === native.body['resolution'])
  }
  if (size === undefined) return undefined
  const side = Math.max(size.width, size.height)
  if (side <= maxSide['1k']) return '1k'
  return side <= maxSide['2k'] ? '2k' : '4k'
}

/** The priced size: that one, else the next larger, else the largest. */
export function sizeCharged(terms: SizedImageTerms, asked: ImageSize | undefined): ImageSize {
  const wanted = imageSizes.indexOf(asked ?? terms.defaultSize)
  const priced = imageSizes.filter((size) => terms.perSizeNanos[size] !== undefined)
  const covering = priced.find((size) => imageSizes.indexOf(size) >= wanted)
  return covering ?? priced.at(-1) ?? terms.defaultSize
}

/** The tier of an image price; undefined where all sizes cost the same. */
export const imageTier = (
  terms: ImageTerms,
  request: Pick<ImageRequest, 'size' | 'native'>,
): ImageSize | undefined =>
  'perSizeNanos' in terms ? sizeCharged(terms, sizeAsked(request)) : undefined
