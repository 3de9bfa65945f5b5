// Which size of a price a request for pictures falls under. By the word the caller used, or by the
// long side of the pixels asked for; what a picture turns out to be changes nothing. No I/O.
import { type ImageSize, type ImageTerms, imageSizes, type SizedImageTerms } from './price.ts'
import type { ImageRequest } from './task.ts'

/** Pixels of the long side up to which a picture of any shape is of this size; 4k takes the rest. */
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

/** The one that is priced: that size, else the next larger, else the largest there is. */
export function sizeCharged(terms: SizedImageTerms, asked: ImageSize | undefined): ImageSize {
  const wanted = imageSizes.indexOf(asked ?? terms.defaultSize)
  const priced = imageSizes.filter((size) => terms.perSizeNanos[size] !== undefined)
  const covering = priced.find((size) => imageSizes.indexOf(size) >= wanted)
  return covering ?? priced.at(-1) ?? terms.defaultSize
}

/** The tier of a picture's price; undefined where all sizes cost the same. */
export const imageTier = (
  terms: ImageTerms,
  request: Pick<ImageRequest, 'size' | 'native'>,
): ImageSize | undefined =>
  'perSizeNanos' in terms ? sizeCharged(terms, sizeAsked(request)) : undefined
