import { describe, expect, test } from 'bun:test'
import {
  estimateTokens,
  framesIn,
  nativeResolutions,
  nativeSize,
  secondsOf,
  tokensOf,
} from './video-size.ts'

describe('video tokens', () => {
  test.each([
    ['vidmodel-1-0-pro', '1080p', '16:9', framesIn(5), 246_840],
    ['vidmodel-1-5-pro', '720p', '16:9', framesIn(5), 108_900],
    ['vidmodel-1-0-pro', '1080p', '9:16', 145, 295_800],
  ] as const)('%s at %s, %s, %p pictures: %p', (model, resolution, ratio, images, tokens) => {
    expect(estimateTokens(model, resolution, ratio, images)).toBe(tokens)
  })

  test('of a shape nobody knows yet are those of the dearest one', () => {
    for (const model of ['vidmodel-1-0-pro', 'vidmodel-1-5-pro']) {
      for (const resolution of nativeResolutions) {
        const unknown = estimateTokens(model, resolution, 'adaptive', 121)
        for (const ratio of ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9']) {
          const size = nativeSize(model, resolution, ratio)!
          expect(unknown).toBeGreaterThanOrEqual(tokensOf(size, 121))
        }
      }
    }
  })
})

test('an upright shape is a lying one turned round', () => {
  for (const model of ['vidmodel-1-0-pro', 'vidmodel-1-5-pro']) {
    for (const resolution of nativeResolutions) {
      for (const [lying, upright] of [
        ['16:9', '9:16'],
        ['4:3', '3:4'],
      ] as const) {
        const { width, height } = nativeSize(model, resolution, lying)!
        expect(nativeSize(model, resolution, upright)).toEqual({ width: height, height: width })
      }
    }
  }
  expect(nativeSize('vidmodel-1-0-pro', '720p', 'adaptive')).toBeUndefined()
})

test('pictures are told as whole seconds, one at least', () => {
  expect([29, 121, 145, 289, 1].map(secondsOf)).toEqual([1, 5, 6, 12, 1])
})
