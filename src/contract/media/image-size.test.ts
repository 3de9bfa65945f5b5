import { describe, expect, test } from 'bun:test'
import { type ImageSize, imageSizes, type SizedImageTerms } from '../price.ts'
import { imageTier, sizeAsked, sizeCharged } from './image-size.ts'

const pixels = (width: number, height: number) => ({ size: { width, height } })
const native = (resolution: unknown) => ({
  native: { path: 'generations' as const, body: { resolution } },
})

test.each([
  [64, 64, '1k'],
  [1024, 1536, '1k'],
  [1800, 64, '1k'],
  [64, 1801, '2k'],
  [3600, 3600, '2k'],
  [3601, 100, '4k'],
  [4096, 4096, '4k'],
] as const)('%i by %i pixels are %s, by the long side', (width, height, size) => {
  expect(sizeAsked(pixels(width, height))).toBe(size)
})

test('a word of the caller counts before pixels, and an unknown one asks for nothing', () => {
  expect(imageSizes.map((size) => sizeAsked(native(size)))).toEqual([...imageSizes])
  expect(sizeAsked({ ...native('1k'), ...pixels(4096, 4096) })).toBe('1k')
  for (const odd of ['8k', '2K', 2, undefined]) expect(sizeAsked(native(odd))).toBeUndefined()
  expect(sizeAsked({})).toBeUndefined()
})

describe('the size that is charged', () => {
  const terms = (sizes: readonly ImageSize[], defaultSize: ImageSize = '1k'): SizedImageTerms => ({
    unit: 'image',
    perSizeNanos: Object.fromEntries(sizes.map((size) => [size, 1n])),
    defaultSize,
  })
  test.each([
    [['1k', '2k', '4k'], '2k', '2k'],
    [['1k', '4k'], '2k', '4k'],
    [['2k'], '1k', '2k'],
    [['1k', '2k'], '4k', '2k'],
    [['1k'], '4k', '1k'],
    [['4k'], undefined, '4k'],
    [['1k', '2k'], undefined, '1k'],
  ] as [ImageSize[], ImageSize | undefined, ImageSize][])(
    'of %p for %p is %p',
    (sizes, asked, charged) => {
      expect(sizeCharged(terms(sizes), asked)).toBe(charged)
    },
  )

  test('is the one the price says where nothing was asked for', () => {
    expect(sizeCharged(terms(['1k', '2k'], '2k'), undefined)).toBe('2k')
    expect(sizeCharged(terms(['1k', '2k'], '2k'), '1k')).toBe('1k')
    expect(sizeCharged(terms(['1k', '4k'], '2k'), undefined)).toBe('4k')
  })

  test('is no matter where all sizes cost the same', () => {
    expect(imageTier({ unit: 'image', perImageNanos: 1n }, pixels(4096, 64))).toBeUndefined()
    expect(imageTier(terms(['1k', '4k']), pixels(4096, 64))).toBe('4k')
  })
})
