import { describe, expect, test } from 'bun:test'
import type { PriceTerms } from '../../contract/price.ts'
import type { ImageTask, VideoRequest, VideoTask } from '../../contract/task.ts'
import { holdFor, settlementFor } from './task-charge.ts'

const tokens: PriceTerms = { unit: 'video_token', perMillionNanos: 15_000_000_000n }
const seconds: PriceTerms = { unit: 'video_second', perSecondNanos: { '720p': 900_000_000n } }

const plain: VideoRequest = { prompt: 'a boat', seconds: 5, resolution: '720p', media: [] }
const native: VideoRequest = { ...plain, native: { body: {}, estimatedTokens: 1_000 } }
const taskOf = (request: VideoRequest) =>
  ({
    kind: 'video',
    id: 'video_1',
    model: 'vidmodel-1-0-pro',
    priceId: 'price_1',
    request,
  }) as VideoTask

describe('by tokens', () => {
  test('a tenth more than expected is set aside', () => {
    expect(holdFor(tokens, 'vidmodel-1-0-pro', taskOf(native))).toBe(1_100n * 15_000n)
  })

  test('a request in plain words is sized by the model', () => {
    // 1248 x 704 x 121 / 1024 = 103818
    const held = 103_818 + 10_382
    expect(holdFor(tokens, 'vidmodel-1-0-pro', taskOf(plain))).toBe(BigInt(held) * 15_000n)
  })

  test.each([
    [900, 900, undefined],
    [1_099, 1_099, undefined],
    [5_000, 1_100, undefined],
    [0, 0, undefined],
    [undefined, 1_000, true],
  ] as const)('%p reported: %p are charged, estimated %p', (videoTokens, quantity, estimated) => {
    const usage = videoTokens === undefined ? {} : { videoTokens }
    const settled = settlementFor(tokens, taskOf(native), usage)
    expect(settled).toMatchObject({ unit: 'video_token', quantity })
    expect(settled.chargeNanos).toBe(BigInt(quantity) * 15_000n)
    expect(settled.estimated).toBe(estimated as true)
  })
})

describe('by seconds', () => {
  test('what was asked for is set aside; a resolution without a price is not had', () => {
    expect(holdFor(seconds, 'any', taskOf(plain))).toBe(4_500_000_000n)
    expect(holdFor(seconds, 'any', taskOf({ ...plain, resolution: '1080p' }))).toBeUndefined()
  })

  test.each([
    [3, 3, undefined],
    [9, 5, undefined],
    [undefined, 5, true],
    [3.0004, 3, undefined],
    [2.9996, 3, undefined],
  ] as const)('%p reported: %p are charged, estimated %p', (outputSeconds, quantity, estimated) => {
    const usage = outputSeconds === undefined ? {} : { outputSeconds }
    const settled = settlementFor(seconds, taskOf(plain), usage)
    expect(settled).toMatchObject({ unit: 'video_second', quantity })
    expect(settled.estimated).toBe(estimated as true)
  })
})

describe('by pictures', () => {
  const each: PriceTerms = { unit: 'image', perImageNanos: 200_000_000n }
  const task = {
    kind: 'image',
    id: 'image_1',
    model: 'imga-plus',
    priceId: 'price_1',
    request: { prompt: 'a boat', count: 4, media: [], isEdit: false },
  } as unknown as ImageTask

  test('what was asked for is set aside, and only by a price for pictures', () => {
    expect(holdFor(each, 'imga-plus', task)).toBe(800_000_000n)
    expect(holdFor(seconds, 'imga-plus', task)).toBeUndefined()
  })

  test.each([
    [4, 4],
    [2, 2],
    [9, 4],
  ])('%p delivered: %p are charged', (pictures, quantity) => {
    const settled = settlementFor(each, task, { pictures })
    expect(settled).toMatchObject({ unit: 'image', quantity })
    expect(settled.chargeNanos).toBe(BigInt(quantity) * 200_000_000n)
  })

  test('of a size cost what the price has for it, when held and when charged', () => {
    const sized: PriceTerms = {
      unit: 'image',
      perSizeNanos: { '1k': 200_000_000n, '2k': 400_000_000n },
      defaultSize: '1k',
    }
    const of = (request: object) => ({ ...task, request: { ...task.request, ...request } })
    for (const [request, tier, each] of [
      [{}, '1k', 200_000_000n],
      [{ size: { width: 2048, height: 1024 } }, '2k', 400_000_000n],
      [{ native: { path: 'omni-image', body: { resolution: '4k' } } }, '2k', 400_000_000n],
    ] as const) {
      const asked = of(request)
      expect(holdFor(sized, 'imga-plus', asked)).toBe(4n * each)
      const settled = settlementFor(sized, asked, { pictures: 3 })
      expect(settled).toMatchObject({ tier, quantity: 3, chargeNanos: 3n * each })
    }
    expect(settlementFor(each, task, { pictures: 1 }).tier).toBeUndefined()
  })
})
