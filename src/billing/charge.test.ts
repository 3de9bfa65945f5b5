import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { PriceTerms, TokenTier } from '../contract/price.ts'
import type { TokenUsage } from '../contract/usage.ts'
import {
  chargeSeconds,
  chargeTokens,
  chargeVideoTokens,
  maxChargeTokens,
  tierFor,
} from './charge.ts'

/** Exact rationals, written apart from the code under test: numerator over denominator. */
interface Ratio {
  top: bigint
  bottom: bigint
}
const add = (a: Ratio, b: Ratio): Ratio => ({
  top: a.top * b.bottom + b.top * a.bottom,
  bottom: a.bottom * b.bottom,
})
const halfUp = ({ top, bottom }: Ratio): bigint => {
  const whole = top / bottom
  return (top - whole * bottom) * 2n >= bottom ? whole + 1n : whole
}

function oracle(tiers: readonly TokenTier[], usage: TokenUsage): bigint {
  let tier = tiers[tiers.length - 1]!
  for (let i = tiers.length - 1; i >= 0; i--) {
    const bound = tiers[i]!.upTo
    if (bound === undefined || usage.inputTokens <= bound) tier = tiers[i]!
  }
  const plain = usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens
  const part = (tokens: number, rate: bigint): Ratio => ({
    top: BigInt(tokens) * rate,
    bottom: 1_000_000n,
  })
  return halfUp(
    [
      part(plain, tier.inputNanos),
      part(usage.cacheReadTokens, tier.cacheReadNanos ?? tier.inputNanos),
      part(usage.cacheWriteTokens, tier.cacheWriteNanos ?? tier.inputNanos),
      part(usage.outputTokens, tier.outputNanos),
    ].reduce(add),
  )
}

const nanos = fc.bigInt({ min: 0n, max: 10n ** 15n })
const optionalRate = fc.option(nanos, { nil: undefined })
const tier = fc
  .record({ input: nanos, output: nanos, read: optionalRate, write: optionalRate })
  .map(({ input, output, read, write }) => ({
    inputNanos: input,
    outputNanos: output,
    ...(read !== undefined && { cacheReadNanos: read }),
    ...(write !== undefined && { cacheWriteNanos: write }),
  }))
const tiers = fc
  .tuple(
    fc.array(tier, { minLength: 1, maxLength: 4 }),
    fc.uniqueArray(fc.integer({ min: 1, max: 300_000 }), { minLength: 4, maxLength: 4 }),
    fc.boolean(),
  )
  .map(([list, bounds, open]) => {
    const sorted = bounds.toSorted((a, b) => a - b)
    return list.map((rates, i) =>
      open && i === list.length - 1 ? rates : { ...rates, upTo: sorted[i]! },
    ) as TokenTier[]
  })
const usageAround = (bounds: readonly number[]) =>
  fc
    .record({
      input: fc.oneof(
        fc.nat(1_000_000),
        ...bounds.map((b) => fc.constantFrom(b - 1, b, b + 1).filter((n) => n >= 0)),
      ),
      output: fc.nat(200_000),
      read: fc.double({ min: 0, max: 1, noNaN: true }),
      write: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    .map(({ input, output, read, write }): TokenUsage => {
      const cacheReadTokens = Math.floor(input * read)
      const cacheWriteTokens = Math.floor((input - cacheReadTokens) * write)
      return { inputTokens: input, outputTokens: output, cacheReadTokens, cacheWriteTokens }
    })
const cases = tiers.chain((list) =>
  fc.tuple(fc.constant(list), usageAround(list.flatMap(({ upTo }) => upTo ?? []))),
)

describe('charges', () => {
  test('equal the exact-rational oracle, tiers, caches and rounding included', () => {
    fc.assert(
      fc.property(cases, ([list, usage]) => {
        const terms: PriceTerms = { unit: 'token', tiers: list }
        expect(chargeTokens(terms, usage)).toBe(oracle(list, usage))
      }),
      { numRuns: 20_000 },
    )
  })

  test('never pass the most that their bounds allow, which some usage reaches', () => {
    fc.assert(
      fc.property(cases, fc.nat(50_000), fc.nat(50_000), ([list, usage], more, others) => {
        const terms: PriceTerms = { unit: 'token', tiers: list }
        const [input, output] = [usage.inputTokens + more, usage.outputTokens + others]
        const most = maxChargeTokens(terms, input, output)
        expect(chargeTokens(terms, usage)).toBeLessThanOrEqual(most)
        const reached = [input, ...list.flatMap(({ upTo }) => upTo ?? [])]
          .filter((inputTokens) => inputTokens <= input)
          .flatMap((inputTokens) =>
            [0, 1, 2].map((way) =>
              chargeTokens(terms, {
                inputTokens,
                outputTokens: output,
                cacheReadTokens: way === 1 ? inputTokens : 0,
                cacheWriteTokens: way === 2 ? inputTokens : 0,
              }),
            ),
          )
        expect(reached).toContain(most)
      }),
      { numRuns: 5_000 },
    )
  })

  test('never fall when usage grows within a tier, and are never negative', () => {
    fc.assert(
      fc.property(tier, fc.nat(100_000), fc.nat(100_000), fc.nat(1000), (rates, i, o, more) => {
        const terms: PriceTerms = { unit: 'token', tiers: [rates] }
        const at = (input: number, output: number) =>
          chargeTokens(terms, {
            inputTokens: input,
            outputTokens: output,
            cacheReadTokens: 0,
            cacheWriteTokens: 0,
          })
        expect(at(i, o) >= 0n).toBe(true)
        expect(at(i + more, o) >= at(i, o)).toBe(true)
        expect(at(i, o + more) >= at(i, o)).toBe(true)
      }),
    )
  })

  test('round half up, once', () => {
    const at = (perMillion: bigint, tokens: number) =>
      chargeTokens(
        { unit: 'token', tiers: [{ inputNanos: perMillion, outputNanos: perMillion }] },
        { inputTokens: tokens, outputTokens: tokens, cacheReadTokens: 0, cacheWriteTokens: 0 },
      )
    expect(at(250_000n, 1)).toBe(1n) // 0.25 + 0.25 rounds up once; rounding each would give 0
    expect(at(249_999n, 1)).toBe(0n)
    expect(at(750_000n, 1)).toBe(2n) // 1.5 -> 2
  })

  test('cached and written tokens lie inside the input, as in the worked example', () => {
    const terms: PriceTerms = {
      unit: 'token',
      tiers: [
        {
          inputNanos: 800_000_000n,
          outputNanos: 2_000_000_000n,
          cacheReadNanos: 80_000_000n,
          cacheWriteNanos: 1_000_000_000n,
        },
      ],
    }
    // 1500 plain, 1000 read, 500 written, 50 out, in nano-units per token: 800, 80, 1000, 2000
    expect(
      chargeTokens(terms, {
        inputTokens: 3000,
        cacheReadTokens: 1000,
        cacheWriteTokens: 500,
        outputTokens: 50,
      }),
    ).toBe(1500n * 800n + 1000n * 80n + 500n * 1000n + 50n * 2000n)
  })

  test('negative or overlapping usage can never become money', () => {
    const terms: PriceTerms = { unit: 'token', tiers: [{ inputNanos: 1n, outputNanos: 1n }] }
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
    for (const wrong of [{ outputTokens: -1 }, { cacheReadTokens: 2 }, { inputTokens: -1 }]) {
      expect(() => chargeTokens(terms, { ...usage, ...wrong })).toThrow('invariant')
    }
  })
})

test('a tier reaches up to and including its bound, and the last one takes the rest', () => {
  const list: TokenTier[] = [32_000, 128_000, 256_000].map((upTo, i) => ({
    upTo,
    inputNanos: BigInt(i),
    outputNanos: 0n,
  }))
  const chosen = (tokens: number) => Number(tierFor(list, tokens).inputNanos)
  expect([0, 32_000, 32_001, 128_000, 128_001, 256_000, 256_001, 9e9].map(chosen)).toEqual([
    0, 0, 1, 1, 2, 2, 2, 2,
  ])
})

describe('charges for seconds of video', () => {
  const perSecond = (nanos: bigint): PriceTerms => ({
    unit: 'video_second',
    perSecondNanos: { '720p': nanos, '1080p': nanos * 2n },
  })

  test('are exact to the thousandth of a second and rounded half up, once', () => {
    fc.assert(
      fc.property(nanos, fc.nat(600_000), (rate, thousandths) => {
        const exact = halfUp({ top: rate * BigInt(thousandths), bottom: 1000n })
        expect(chargeSeconds(perSecond(rate), '720p', thousandths / 1000)).toBe(exact)
      }),
      { numRuns: 5_000 },
    )
    expect(chargeSeconds(perSecond(1n), '720p', 0.5)).toBe(1n)
    expect(chargeSeconds(perSecond(1n), '720p', 0.499)).toBe(0n)
  })

  test('follow the tier, and there is none without one', () => {
    expect(chargeSeconds(perSecond(600_000_000n), '720p', 5)).toBe(3_000_000_000n)
    expect(chargeSeconds(perSecond(600_000_000n), '1080p', 5)).toBe(6_000_000_000n)
    expect(chargeSeconds(perSecond(1n), '480p', 5)).toBeUndefined()
    expect(chargeSeconds({ unit: 'image', perImageNanos: 1n }, '720p', 5)).toBeUndefined()
  })

  test('never fall when the film is longer', () => {
    const length = fc.double({ min: 0, max: 600, noNaN: true })
    fc.assert(
      fc.property(nanos, length, length, (rate, a, b) => {
        const at = (seconds: number) => chargeSeconds(perSecond(rate), '720p', seconds)!
        expect(at(Math.min(a, b)) <= at(Math.max(a, b))).toBe(true)
      }),
    )
  })

  test('are never made of less than nothing', () => {
    for (const wrong of [-1, -0.001, Number.NaN]) {
      expect(() => chargeSeconds(perSecond(1n), '720p', wrong)).toThrow('invariant')
    }
  })
})

describe('charges for video tokens', () => {
  const perMillion = (nanos: bigint): PriceTerms => ({
    unit: 'video_token',
    perMillionNanos: nanos,
  })

  test('are exact and rounded half up, once', () => {
    fc.assert(
      fc.property(nanos, fc.nat(100_000_000), (rate, tokens) => {
        const exact = halfUp({ top: rate * BigInt(tokens), bottom: 1_000_000n })
        expect(chargeVideoTokens(perMillion(rate), tokens)).toBe(exact)
      }),
    )
    expect(chargeVideoTokens(perMillion(15_000_000_000n), 246_840)).toBe(3_702_600_000n)
    expect(chargeVideoTokens(perMillion(1n), 500_000)).toBe(1n)
    expect(chargeVideoTokens(perMillion(1n), 499_999)).toBe(0n)
  })

  test('are not made by a price of another unit, nor of a part of a token', () => {
    expect(chargeVideoTokens({ unit: 'image', perImageNanos: 1n }, 5)).toBeUndefined()
    for (const wrong of [-1, 0.5, Number.NaN]) {
      expect(() => chargeVideoTokens(perMillion(1n), wrong)).toThrow('invariant')
    }
  })
})
