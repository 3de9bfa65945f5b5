import { describe, expect, test } from 'bun:test'
import type { PriceTerms } from '../../contract/price.ts'
import type { ImageTask, VideoRequest, VideoTask } from '../../contract/task.ts'
import { holdFor, settlementFor } from './task-charge.ts'

const tokens: PriceTerms = { unit: 'video_token', perMillionNanos: 15_000_000_000n }
const seconds: PriceTerms = { unit: 'video_second', perSecondNanos: { '720p': 900_000_000n } }

const plain: VideoRequest = { prompt: 'a boat', seconds: 5, resolution: '720p', media: [] }
const bound = {
  seconds: 12,
  tokens: 1_000,
  resolution: '720p',
  maxSeconds: 15,
  maxTokens: 4_000,
} as const
const native: VideoRequest = { ...plain, native: { body: {} }, bound }
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
    expect(holdFor(tokens, taskOf(native), 0)).toBe(1_100n * 15_000n)
  })

  test('a request in plain words is sized by the model', () => {
    // 1248 x 704 x 121 / 1024 = 103818
    const held = 103_818 + 10_382
    expect(holdFor(tokens, taskOf(plain), 0)).toBe(BigInt(held) * 15_000n)
  })

  test.each([
    [900, 900],
    [1_101, 1_101],
    [4_400, 4_400],
    [5_000, 4_400],
    [0, 0],
  ])('%p reported: %p are charged', (videoTokens, quantity) => {
    const settled = settlementFor(tokens, taskOf(native), { videoTokens })
    expect(settled).toMatchObject({ unit: 'video_token', quantity })
    expect(settled.chargeNanos).toBe(BigInt(quantity) * 15_000n)
    expect(settled.estimated).toBeUndefined()
  })
})

test('tokens that were not reported are those of the length that was', () => {
  const wide: VideoRequest = { ...native, bound: { ...bound, maxTokens: 500_000 } }
  const settled = settlementFor(tokens, taskOf(wide), { outputSeconds: 10 })
  // 1248 x 704 x 241 / 1024
  expect(settled).toMatchObject({ quantity: 206_778, estimated: true })
})

test('what the model cannot make is told apart from what was charged', () => {
  expect(settlementFor(tokens, taskOf(native), { videoTokens: 4_401 }).implausible).toBe(4_401)
  expect(settlementFor(seconds, taskOf(plain), { outputSeconds: 600 }).implausible).toBe(600)
  expect(settlementFor(seconds, taskOf(plain), { outputSeconds: 5.5 })).not.toHaveProperty(
    'implausible',
  )
})

describe('by seconds', () => {
  test('a length that does not go up bounds nothing', () => {
    const open: VideoRequest = { ...plain, seconds: 3, bound: { ...bound, seconds: 15 } }
    expect(holdFor(seconds, taskOf(open), 0)).toBe(13_500_000_000n)
    expect(settlementFor(seconds, taskOf(open), { outputSeconds: 12 }).quantity).toBe(12)
  })

  test('what was asked for is set aside; a resolution without a price is not had', () => {
    expect(holdFor(seconds, taskOf(plain), 0)).toBe(4_500_000_000n)
    expect(holdFor(seconds, taskOf({ ...plain, resolution: '1080p' }), 0)).toBeUndefined()
  })

  test.each([
    [3, 3, undefined],
    [5.5, 5, undefined],
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
    expect(holdFor(each, task, 0)).toBe(800_000_000n)
    expect(holdFor(seconds, task, 0)).toBeUndefined()
  })

  test.each([
    [4, 4],
    [2, 2],
    [9, 4],
  ])('%p delivered: %p are charged', (images, quantity) => {
    const settled = settlementFor(each, task, { images })
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
      expect(holdFor(sized, asked, 0)).toBe(4n * each)
      const settled = settlementFor(sized, asked, { images: 3 })
      expect(settled).toMatchObject({ tier, quantity: 3, chargeNanos: 3n * each })
    }
    expect(settlementFor(each, task, { images: 1 }).tier).toBeUndefined()
  })
})
