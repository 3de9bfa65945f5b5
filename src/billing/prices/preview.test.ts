// The range a preview gives must hold the sum of single charges, and be that sum where it says so.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { imageTier, sizeCharged } from '../../contract/media/image-size.ts'
import {
  type ImageSize,
  type ImageTerms,
  imageSizes,
  type Price,
  type PriceTerms,
  type TokenTier,
} from '../../contract/price.ts'
import type { TokenUsage } from '../../contract/usage.ts'
import { inputBucketOf, inputBuckets } from '../../store/proof/grains.ts'
import { chargeImages, chargeSeconds, chargeTokens, chargeVideoTokens } from '../charge.ts'
import { type Draft, previewPrices } from './preview.ts'
import { createPriceBook } from './price-book.ts'
import { type Range, reprice, type Spent } from './reprice.ts'

const none: Spent = {
  accountId: 'a',
  model: 'm',
  unit: 'token',
  tier: '',
  priceId: 'p',
  inputBucket: 0,
  entries: 0,
  quantity: 0,
  amountNanos: 0n,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
}

type TokenCount = Exclude<keyof TokenUsage, 'toolCalls' | 'parts' | 'others' | 'quantity'>

/** As the ledger adds them up: by size class of the input. */
function summed(usages: readonly TokenUsage[]): Spent[] {
  const sums = new Map<number, Spent>()
  for (const usage of usages) {
    const inputBucket = inputBucketOf(usage.inputTokens)
    const sum = sums.get(inputBucket) ?? { ...none, inputBucket }
    sums.set(inputBucket, sum)
    sum.entries++
    sum.quantity += usage.inputTokens + usage.outputTokens
    for (const field of Object.keys(usage) as TokenCount[]) sum[field] += usage[field]
  }
  return [...sums.values()]
}

function rangeOf(terms: PriceTerms, sums: readonly Spent[], before?: PriceTerms): Range {
  const total = { minNanos: 0n, maxNanos: 0n }
  for (const sum of sums) {
    const range = reprice(terms, sum, before, inputBuckets)
    if (typeof range === 'string') throw new Error(range)
    total.minNanos += range.minNanos
    total.maxNanos += range.maxNanos
  }
  return total
}

const holds = ({ minNanos, maxNanos }: Range, nanos: bigint): boolean =>
  minNanos <= nanos && nanos <= maxNanos

// Per million: whole nano-units per token, halves, fifths, and anything.
const rate = fc.oneof(
  fc.integer({ min: 0, max: 50_000 }).map((n) => BigInt(n) * 1_000_000n),
  fc.integer({ min: 0, max: 50_000 }).map((n) => BigInt(n) * 500_000n),
  fc.integer({ min: 0, max: 50_000 }).map((n) => BigInt(n) * 200_000n),
  fc.bigInt({ min: 0n, max: 10n ** 12n }),
)
const optional = fc.option(rate, { nil: undefined })
const edges = fc.uniqueArray(
  fc.oneof(fc.constantFrom(32_000, 128_000, 256_000), fc.integer({ min: 1, max: 300_000 })),
  { minLength: 1, maxLength: 4 },
)
const tiers = fc
  .tuple(edges, fc.array(fc.tuple(rate, rate, optional, optional), { minLength: 4, maxLength: 4 }))
  .map(([bounds, rates]): TokenTier[] =>
    bounds
      .toSorted((a, b) => a - b)
      .map((upTo, index) => {
        const [inputNanos, outputNanos, read, write] = rates[index]!
        return {
          upTo,
          inputNanos,
          outputNanos,
          ...(read !== undefined && { cacheReadNanos: read }),
          ...(write !== undefined && { cacheWriteNanos: write }),
        }
      }),
  )
const share = fc.constantFrom(0, 0, 0.25, 0.5, 1)
const usage = fc
  .record({ input: fc.nat(400_000), output: fc.nat(20_000), read: share, write: share })
  .map(({ input, output, read, write }): TokenUsage => {
    const cacheReadTokens = Math.floor(input * read)
    const cacheWriteTokens = Math.floor((input - cacheReadTokens) * write)
    return { inputTokens: input, outputTokens: output, cacheReadTokens, cacheWriteTokens }
  })

describe('a range', () => {
  test('holds the exact sum of token charges, tiers, caches and rounding included', () => {
    const seen = { exact: 0, inexact: 0 }
    fc.assert(
      fc.property(tiers, fc.array(usage, { maxLength: 40 }), (list, usages) => {
        const terms: PriceTerms = { unit: 'token', tiers: list }
        const exact = usages.reduce((sum, each) => sum + chargeTokens(terms, each), 0n)
        const range = rangeOf(terms, summed(usages))
        expect(holds(range, exact)).toBe(true)
        seen[range.minNanos === range.maxNanos ? 'exact' : 'inexact']++
      }),
      { numRuns: 3000 },
    )
    expect(seen.exact).toBeGreaterThan(100)
    expect(seen.inexact).toBeGreaterThan(100)
  })

  test('is exact for whole nano-units per token and tiers that end where size classes do', () => {
    const whole = fc.integer({ min: 0, max: 50_000 }).map((n) => BigInt(n) * 1_000_000n)
    fc.assert(
      fc.property(
        fc.tuple(whole, whole, whole),
        fc.array(usage, { minLength: 2, maxLength: 40 }),
        ([first, second, third], usages) => {
          const at = (upTo: number, nanos: bigint) => ({
            upTo,
            inputNanos: nanos,
            outputNanos: nanos * 3n,
          })
          const list = [at(32_000, first), at(128_000, second), at(256_000, third)]
          const terms: PriceTerms = { unit: 'token', tiers: list }
          const exact = usages.reduce((sum, each) => sum + chargeTokens(terms, each), 0n)
          const range = rangeOf(terms, summed(usages))
          expect(range).toEqual({ minNanos: exact, maxNanos: exact })
        },
      ),
    )
  })

  test('is no wider than rounding can make it', () => {
    // 37.5 nano-units per token: every charge is whole or rounds up by half.
    const terms: PriceTerms = {
      unit: 'token',
      tiers: [{ inputNanos: 37_500_000n, outputNanos: 0n }],
    }
    const odd: TokenUsage = {
      inputTokens: 3,
      outputTokens: 0,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    }
    const range = rangeOf(terms, summed([odd, odd]))
    expect(range).toEqual({ minNanos: 225n, maxNanos: 226n })
    expect(2n * chargeTokens(terms, odd)).toBe(226n)
  })

  test('holds the exact sum of seconds, to the thousandth, and of video tokens', () => {
    const thousandths = fc.array(fc.nat(60_000), { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(rate, thousandths, (nanos, all) => {
        const seconds: PriceTerms = { unit: 'video_second', perSecondNanos: { '720p': nanos } }
        const spent = { ...none, unit: 'video_second', tier: '720p', entries: all.length }
        const quantity = all.reduce((sum, each) => sum + each / 1000, 0)
        const exact = all.reduce((sum, n) => sum + chargeSeconds(seconds, '720p', n / 1000)!, 0n)
        expect(holds(rangeOf(seconds, [{ ...spent, quantity }]), exact)).toBe(true)
        const tokens: PriceTerms = { unit: 'video_token', perMillionNanos: nanos }
        const count = all.reduce((sum, each) => sum + each, 0)
        const charged = all.reduce((sum, n) => sum + chargeVideoTokens(tokens, n)!, 0n)
        const counted = { ...spent, unit: 'video_token', tier: '', quantity: count }
        expect(holds(rangeOf(tokens, [counted]), charged)).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  test('holds the exact sum of pictures, as far as the old price told sizes apart', () => {
    const sized = fc
      .tuple(
        fc.uniqueArray(fc.constantFrom(...imageSizes), { minLength: 1 }),
        fc.bigInt({ min: 1n, max: 10n ** 9n }),
        fc.constantFrom(...imageSizes),
      )
      .map(([sizes, nanos, defaultSize]): ImageTerms => {
        const each = sizes.map((size) => [size, nanos * BigInt(imageSizes.indexOf(size) + 1)])
        return { unit: 'image', perSizeNanos: Object.fromEntries(each), defaultSize }
      })
    const flat = fc.constant<ImageTerms>({ unit: 'image', perImageNanos: 7n })
    const terms = fc.oneof(sized, flat)
    const asked = fc.constantFrom<ImageSize | undefined>(...imageSizes, undefined)
    const tierOf = (its: ImageTerms, size: ImageSize | undefined) =>
      'perSizeNanos' in its ? sizeCharged(its, size) : undefined
    fc.assert(
      fc.property(terms, terms, fc.array(asked, { minLength: 1 }), (before, after, all) => {
        const byTier = Map.groupBy(all, (size) => tierOf(before, size) ?? '')
        const sums = [...byTier].map(([tier, list]) => ({
          ...none,
          unit: 'image',
          tier,
          entries: list.length,
          quantity: list.length,
        }))
        const exact = all.reduce(
          (sum, size) => sum + chargeImages(after, 1, tierOf(after, size))!,
          0n,
        )
        const range = rangeOf(after, sums, before)
        expect(holds(range, exact)).toBe(true)
        const isKnown = 'perImageNanos' in after || Bun.deepEquals(before, after)
        if (isKnown) expect(range.minNanos).toBe(range.maxNanos)
      }),
      { numRuns: 1000 },
    )
    expect(imageTier({ unit: 'image', perImageNanos: 1n }, {})).toBeUndefined()
  })
})

describe('a preview', () => {
  const perToken = (nanos: bigint): PriceTerms => ({
    unit: 'token',
    tiers: [{ inputNanos: nanos * 1_000_000n, outputNanos: nanos * 1_000_000n }],
  })
  const price = (id: string, more: Partial<Price> = {}): Price => ({
    id,
    model: 'm',
    terms: perToken(10n),
    effectiveFromMs: 0,
    source: 'api',
    ...more,
  })
  const book = createPriceBook(
    [price('p'), price('own', { account: { id: 'b', name: 'b' }, terms: perToken(4n) })],
    new Set(),
    () => 1,
  )
  const spent = (accountId: string, priceId: string, tokens: number, each: bigint): Spent => ({
    ...none,
    accountId,
    priceId,
    entries: 2,
    quantity: tokens,
    inputTokens: tokens,
    amountNanos: -BigInt(tokens) * each,
  })
  const sums = [
    spent('a', 'p', 1000, 10n),
    spent('b', 'own', 500, 4n),
    { ...spent('c', 'p', 100, 10n), model: 'm-2026-01-01' },
    { ...spent('a', 'other', 7, 1n), model: 'other' },
  ]
  const run = (...drafts: Draft[]) => {
    const { rows, total } = previewPrices(sums, drafts, book, inputBuckets)
    const each = rows.map((row) => [row.accountId, row.model, row.charged, row.would_charge])
    return { each, rows, total }
  }

  test('for everybody leaves own prices alone and takes dated models along', () => {
    const { each, total } = run({ model: 'm', terms: perToken(20n) })
    expect(each).toEqual([
      ['a', 'm', '0.00001', '0.00002'],
      ['b', 'm', '0.000002', '0.000002'],
      ['c', 'm-2026-01-01', '0.000001', '0.000002'],
    ])
    expect(total).toEqual({
      charges: 6,
      charged: '0.000013',
      would_charge: '0.000024',
      difference: '0.000011',
      exact: true,
    })
  })

  test('for an account is felt by that account only, and wins over one for everybody', () => {
    const own = { model: 'm', accountId: 'a', terms: perToken(1n) }
    expect(run(own).each).toEqual([['a', 'm', '0.00001', '0.000001']])
    const both = run(own, { model: 'm', terms: perToken(20n) }).each
    expect(both.map(([, , , would]) => would)).toEqual(['0.000001', '0.000002', '0.000002'])
  })

  test('of the end of an own price takes what everybody pays, drafted or not', () => {
    const end: Draft = { model: 'm', accountId: 'b', terms: { unit: 'default' } }
    expect(run(end).each).toEqual([['b', 'm', '0.000002', '0.000005']])
    const [, b] = run(end, { model: 'm', terms: perToken(20n) }).each
    expect(b).toEqual(['b', 'm', '0.000002', '0.00001'])
  })

  test('in another unit says that the two cannot be compared, and adds up the rest', () => {
    const drafts: Draft[] = [
      { model: 'm', accountId: 'a', terms: { unit: 'image', perImageNanos: 1n } },
      { model: 'm', terms: perToken(20n) },
    ]
    const { rows, total } = run(...drafts)
    expect(rows[0]).toEqual({
      accountId: 'a',
      model: 'm',
      unit: 'token',
      charges: 2,
      quantity: 1000,
      charged: '0.00001',
      would_charge: null,
      difference: null,
      exact: false,
      not_comparable: 'charged by token, drafted by image',
    })
    expect(total.charges).toBe(4)
  })

  test('that is not exact says between what it lies', () => {
    const cut: Draft = {
      model: 'm',
      accountId: 'a',
      terms: {
        unit: 'token',
        tiers: [
          { upTo: 600, inputNanos: 1_000_000n, outputNanos: 0n },
          { inputNanos: 3_000_000n, outputNanos: 0n },
        ],
      },
    }
    expect(run(cut).rows[0]).toMatchObject({
      exact: false,
      at_least: '0.000001',
      at_most: '0.000003',
      would_charge: '0.000002',
      difference: '-0.000008',
    })
  })
})
