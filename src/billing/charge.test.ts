import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Applied, PriceTerms, TokenRates, TokenTerms, TokenTier } from '../contract/price.ts'
import { addCounts, type TokenUsage } from '../contract/usage.ts'
import { chargeSeconds, chargeTokens, chargeVideoTokens } from './charge.ts'
import { maxChargeTokens } from './max-charge.ts'
import { rateLines, tierFor } from './rates.ts'

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

describe('charges by every term of a price', () => {
  const factor = fc.bigInt({ min: 1n, max: 100_000_000_000n })
  const rates = fc
    .record(
      {
        inputNanos: nanos,
        outputNanos: nanos,
        cacheReadNanos: nanos,
        cacheWriteNanos: nanos,
        cacheWrite1hNanos: nanos,
        inputAudioNanos: nanos,
        inputImageNanos: nanos,
        outputAudioNanos: nanos,
        outputImageNanos: nanos,
      },
      { requiredKeys: ['inputNanos', 'outputNanos'] },
    )
    .map((all): TokenRates => all)
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  const usage = fc
    .record({
      input: fc.nat(2_000_000),
      output: fc.nat(200_000),
      shares: fc.tuple(share, share, share, share, share, share, share),
    })
    .map(
      ({ input, output, shares: [read, write, hour, sound, image, spoken, drawn] }): TokenUsage => {
        const cacheReadTokens = Math.floor(input * read)
        const cacheWriteTokens = Math.floor((input - cacheReadTokens) * write)
        const fresh = input - cacheReadTokens - cacheWriteTokens
        const inputAudioTokens = Math.floor(fresh * sound)
        const outputAudioTokens = Math.floor(output * spoken)
        return {
          inputTokens: input,
          outputTokens: output,
          cacheReadTokens,
          cacheWriteTokens,
          parts: {
            cacheWrite1hTokens: Math.floor(cacheWriteTokens * hour),
            inputAudioTokens,
            inputImageTokens: Math.floor((fresh - inputAudioTokens) * image),
            outputAudioTokens,
            outputImageTokens: Math.floor((output - outputAudioTokens) * drawn),
          },
        }
      },
    )

  /** Exact, of one price and its usage, before rounding. */
  function exactly(
    terms: PriceTerms & TokenTerms,
    {
      inputTokens,
      outputTokens,
      cacheReadTokens,
      cacheWriteTokens,
      parts = {},
      toolCalls,
    }: TokenUsage,
    { serviceTier, geo, hours }: Applied,
  ): Ratio {
    const tier = serviceTier === undefined ? undefined : terms.serviceTiers?.[serviceTier]
    const r = tier !== undefined && 'rates' in tier ? tier.rates : terms.tiers[0]!
    const hour: Ratio =
      r.cacheWrite1hNanos !== undefined
        ? { top: r.cacheWrite1hNanos, bottom: 1n }
        : r.cacheWriteNanos !== undefined
          ? { top: r.cacheWriteNanos * 16n, bottom: 10n }
          : { top: r.inputNanos * 2n, bottom: 1n }
    const { cacheWrite1hTokens = 0, inputAudioTokens = 0, inputImageTokens = 0 } = parts
    const { outputAudioTokens = 0, outputImageTokens = 0 } = parts
    const at = (tokens: number, rate: bigint): Ratio => ({
      top: BigInt(tokens) * rate,
      bottom: 1_000_000n,
    })
    const plain =
      inputTokens - cacheReadTokens - cacheWriteTokens - inputAudioTokens - inputImageTokens
    const tokens = [
      at(plain, r.inputNanos),
      at(cacheReadTokens, r.cacheReadNanos ?? r.inputNanos),
      at(cacheWriteTokens - cacheWrite1hTokens, r.cacheWriteNanos ?? r.inputNanos),
      { top: BigInt(cacheWrite1hTokens) * hour.top, bottom: hour.bottom * 1_000_000n },
      at(inputAudioTokens, r.inputAudioNanos ?? r.inputNanos),
      at(inputImageTokens, r.inputImageNanos ?? r.inputNanos),
      at(outputTokens - outputAudioTokens - outputImageTokens, r.outputNanos),
      at(outputAudioTokens, r.outputAudioNanos ?? r.outputNanos),
      at(outputImageTokens, r.outputImageNanos ?? r.outputNanos),
    ].reduce(add)
    const times = (a: Ratio, nanos: bigint): Ratio => ({
      top: a.top * nanos,
      bottom: a.bottom * 10n ** 9n,
    })
    const ofTier = tier !== undefined && 'factorNanos' in tier ? tier.factorNanos : 10n ** 9n
    const ofPlace = (geo && terms.geo?.[geo]) || 10n ** 9n
    const calls = {
      top: BigInt(toolCalls?.['web_search'] ?? 0) * (terms.perCallNanos?.['web_search'] ?? 0n),
      bottom: 1n,
    }
    const all = add(times(times(tokens, ofTier), ofPlace), calls)
    return times(all, hours === undefined ? 10n ** 9n : terms.hours![hours]!.factorNanos)
  }

  const price = fc
    .record({ rates, fast: factor, flex: rates, us: factor, night: factor, search: nanos })
    .map(({ rates, fast, flex, us, night, search }) => ({
      unit: 'token' as const,
      tiers: [rates],
      perCallNanos: { web_search: search },
      serviceTiers: { fast: { factorNanos: fast }, flex: { rates: flex } },
      geo: { us },
      hours: [{ fromMinute: 0, toMinute: 480, zone: 'UTC', factorNanos: night }],
    }))
  const applied = fc.record(
    {
      serviceTier: fc.constantFrom('fast', 'flex'),
      geo: fc.constant('us'),
      hours: fc.constant(0),
    },
    { requiredKeys: [] },
  )

  test('equal an independent calculation in exact rationals, with one rounding', () => {
    fc.assert(
      fc.property(price, usage, applied, fc.nat(9), (terms, used, by, calls) => {
        const all = { ...used, toolCalls: { web_search: calls } }
        expect(chargeTokens(terms, all, by)).toBe(halfUp(exactly(terms, all, by)))
      }),
      { numRuns: 5_000 },
    )
  })

  test('of several models are the sum of their exact charges, rounded once', () => {
    fc.assert(
      fc.property(price, price, usage, usage, applied, (terms, other, used, theirs, by) => {
        const sum: TokenUsage = addCounts(used, theirs)
        const others = [{ ...theirs, model: 'other', priceId: 'p', applied: by }]
        const charged = chargeTokens(terms, { ...sum, others }, undefined, () => other)
        expect(charged).toBe(halfUp(add(exactly(terms, used, {}), exactly(other, theirs, by))))
      }),
      { numRuns: 2_000 },
    )
  })

  test('never pass the hold for what the request can meet', () => {
    const reach = {
      rates: ['cache_write_1h', 'input_audio', 'input_image', 'output_audio', 'output_image'],
      serviceTiers: 'all',
      hours: 0,
    } as const
    fc.assert(
      fc.property(price, usage, applied, (terms, used, by) => {
        const most = maxChargeTokens(terms, used.inputTokens, used.outputTokens, reach)
        expect(chargeTokens(terms, used, { ...by, hours: 0 })).toBeLessThanOrEqual(most)
      }),
      { numRuns: 2_000 },
    )
  })

  test('add up line by line in the explanation', () => {
    fc.assert(
      fc.property(price, usage, (terms, used) => {
        const lines = rateLines(terms.tiers[0]!, used)
        const sum = lines.reduce((total, { tokens, fifths }) => total + BigInt(tokens) * fifths, 0n)
        expect(halfUp({ top: sum, bottom: 5_000_000n })).toBe(chargeTokens(terms, used))
      }),
    )
  })
})
