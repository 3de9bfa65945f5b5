// Price lists in both formats: what is written is what is read, and what is wrong is named.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { termsFrom } from '../../contract/config-schema/index.ts'
import { imageSizes, type Price, type PriceTerms } from '../../contract/price.ts'
import { type PriceList, readYamlPrices, writeYamlPrices } from './price-list.ts'
import { readCsvPrices, writeCsvPrices } from './price-table.ts'

const nanos = fc.bigInt({ min: 0n, max: 10n ** 18n - 1n })
const rates = fc
  .tuple(nanos, nanos, fc.option(nanos), fc.option(nanos))
  .map(([inputNanos, outputNanos, read, write]) => ({
    inputNanos,
    outputNanos,
    ...(read !== null && { cacheReadNanos: read }),
    ...(write !== null && { cacheWriteNanos: write }),
  }))
const bounds = fc.uniqueArray(fc.integer({ min: 1, max: 10 ** 9 }), { minLength: 1, maxLength: 5 })
const eachOf = <T extends string>(names: readonly T[]) =>
  fc
    .uniqueArray(fc.constantFrom(...names), { minLength: 1 })
    .chain((some) => fc.tuple(...some.map((name) => fc.tuple(fc.constant(name), nanos))))
    .map((pairs) => Object.fromEntries(pairs) as Record<T, bigint>)
const terms: fc.Arbitrary<PriceTerms> = fc.oneof(
  fc.tuple(bounds, fc.array(rates, { minLength: 5, maxLength: 5 }), fc.boolean()).map(
    ([upTo, list, isOpen]): PriceTerms => ({
      unit: 'token',
      tiers: upTo
        .toSorted((a, b) => a - b)
        .map((bound, i) =>
          isOpen && i === upTo.length - 1 ? list[i]! : { upTo: bound, ...list[i]! },
        ),
    }),
  ),
  nanos.map((perImageNanos): PriceTerms => ({ unit: 'image', perImageNanos })),
  fc.tuple(eachOf(imageSizes), fc.constantFrom(...imageSizes)).map(
    ([perSizeNanos, defaultSize]): PriceTerms => ({
      unit: 'image',
      perSizeNanos,
      defaultSize,
    }),
  ),
  eachOf(['480p', '720p', '1080p']).map(
    (perSecondNanos): PriceTerms => ({ unit: 'video_second', perSecondNanos }),
  ),
  nanos.map((perMillionNanos): PriceTerms => ({ unit: 'video_token', perMillionNanos })),
)
const prices = fc.array(
  fc
    .record({
      terms: fc.oneof(terms, fc.constant<PriceTerms>({ unit: 'default' })),
      account: fc.option(fc.constantFrom('acme', '-odd', '_x')),
      startMs: fc.integer({ min: 0, max: 4_000_000_000_000 }),
    })
    .filter(({ terms: its, account }) => its.unit !== 'default' || account !== null),
  { maxLength: 6 },
)

describe.each([
  ['YAML', writeYamlPrices, readYamlPrices],
  ['a table', writeCsvPrices, readCsvPrices],
] as const)('a list as %s', (_, write, read: (text: string) => PriceList) => {
  test('is read as it was written, to the nano-unit', () => {
    fc.assert(
      fc.property(prices, (list) => {
        const written = list.map(
          ({ terms: its, account, startMs }, index): Price => ({
            id: `p${index}`,
            model: `model-${index}`,
            ...(account !== null && { account: { id: 'acc', name: account } }),
            terms: its,
            effectiveFromMs: startMs,
            source: 'api',
          }),
        )
        const back = read(write(written))
        if ('problems' in back) throw new Error(JSON.stringify(back.problems))
        const shown = back.prices.map(({ declared }) => [
          declared.model,
          declared.account,
          Date.parse(declared.effective_from!),
          termsFrom(declared),
        ])
        expect(shown).toEqual(
          written.map((each) => [each.model, each.account?.name, each.effectiveFromMs, each.terms]),
        )
      }),
      { numRuns: 300 },
    )
  })
})

const problemsOf = (list: PriceList): string[] =>
  'prices' in list
    ? []
    : list.problems.map(({ line, field, message }) => `${line}: ${field} ${message}`)

describe('a table that is wrong names line and column:', () => {
  const head = 'model,unit,tier,price,input,output,default_size\n'
  test.each([
    ['', '1: the first row must name the columns'],
    ['model unit price\n', '1: the first row must name the columns'],
    ['model,unit,prise\n', "1: column 'prise' is not known; did you mean 'price'?"],
    ['model,price\n', "1: column 'unit' is missing"],
    ['model,unit,unit\n', '1: the first row names a column twice'],
    [`${head}a,image,,0.2\n\nb,image,,x\n`, '4: price must be a decimal'],
    [`${head}a,image,9k,1\na,image,1k,1\n`, '2: tier is not a known key'],
    [`${head}a,image,1k,1\na,image,1k,2\n`, '3: tier is the same as in line 2'],
    [`${head}a,video_token,,1\na,video_token,,2\n`, '3: tier is the same as in line 2'],
    [`${head}a,image,,1,,,2k\n`, '2: default_size is for prices by size only'],
    [`${head}a,image,,1,1\n`, '2: input must be empty for image'],
    [`${head}a,token,32000,,1,1\na,token,16000,,1,1\n`, '3: tier must be above 32000'],
    [`${head}a,token,much,,1,1\na,token,,,1,1\n`, '2: tier must be'],
    [`${head}a,token,,,1\n`, '2: output is missing'],
    [`${head}a,video_second,,1\n`, '2: tier must be a resolution tier'],
    [`${head}a,video_token\n`, '2: price is missing'],
    [`${head}a,furlong,,1\n`, '2: unit must be one of token'],
    [`${head}A b,image,,1\n`, '2: model must be a model name'],
    [`${head}a,default\n`, '2: account is missing'],
    [`${head}a,image,"1\n`, '2: the table is broken'],
    [`${head}a,image,,1,,,,,9\n`, '2: the table is broken'],
  ])('%j', (text, says) => {
    expect(problemsOf(readCsvPrices(text))[0]).toStartWith(says)
  })

  test('semicolons and tabs do as well as commas', () => {
    for (const text of ['model;unit;price\na;image;1\n', 'model\tunit\tprice\na\timage\t1']) {
      expect(readCsvPrices(text)).toMatchObject({ prices: [{ declared: { per_image: '1' } }] })
    }
  })

  test('columns may stand in any order, and cells may be formulas made harmless', () => {
    const list = readCsvPrices("unit,price,account,model\r\nimage,0.5,'-odd,a\r\n")
    expect(list).toMatchObject({
      prices: [{ line: 2, declared: { model: 'a', account: '-odd', per_image: '0.5' } }],
    })
  })
})

describe('a YAML list that is wrong names line and setting:', () => {
  test.each([
    ['', '1: prices is missing'],
    ['prices: [', '1: YAML'],
    ['prizes: []', '1: prizes is not a known key; did you mean "prices"?'],
    [
      '- model: a\n  unit: image\n  per_image: 1',
      '3: prices[0].per_image must be a quoted decimal',
    ],
    [
      'prices:\n- model: a\n  unit: image\n  per_image: { 3k: "1" }',
      '4: prices[0].per_image["3k"]',
    ],
    ['just words', '1: the list must be'],
  ])('%j', (text, says) => {
    expect(problemsOf(readYamlPrices(text))[0]).toStartWith(says)
  })
})
