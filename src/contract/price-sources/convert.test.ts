import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { priceDeclaration } from '../config-schema/index.ts'
import { convert, type Options, type SourceName } from './convert.ts'
import { formatDecimal, one, parseDecimal, times, withNumbersAsText } from './decimal.ts'

const plain: Options = { factor: one, places: 9, only: [] }
const decimal = (text: string) => parseDecimal(text)!

/** From JSON text, as files are read: numbers keep their digits. */
const read = (text: string) => JSON.parse(withNumbersAsText(text))
const converted = (source: SourceName, file: object | string, options: Partial<Options> = {}) =>
  convert(read(typeof file === 'string' ? file : JSON.stringify(file)), source, {
    ...plain,
    ...options,
  })

const dev = (cost: object, more: object = {}) => ({
  openai: { models: { 'gpt-x': { id: 'gpt-x', cost, ...more } } },
})

describe('decimals', () => {
  test.each([
    ['1.25e-05', 'x1', '0.0000125'],
    ['3E-6', 'x1', '0.000003'],
    ['2', 'x7.2', '14.40'],
    ['0.1', 'x0.2', '0.02'],
  ])('%p %p is %p', (text, factor, result) => {
    const product = times(decimal(text), decimal(factor.slice(1)))
    expect(formatDecimal(product, 9)).toBe(result)
  })

  test.each([
    ['0.0000005', 6, '0.000001'],
    ['0.00000049', 6, '0.00'],
    ['2.5', 0, '3.00'],
    ['1.005', 2, '1.01'],
  ])('%p to %p decimals is %p, half up', (text, places, result) => {
    expect(formatDecimal(decimal(text), places)).toBe(result)
  })

  test('of every length are multiplied exactly', () => {
    const digits = fc.bigInt({ min: 0n, max: 10n ** 12n })
    const scale = fc.integer({ min: 0, max: 12 })
    fc.assert(
      fc.property(digits, scale, digits, scale, (a, at, b, bt) => {
        const product = times({ digits: a, scale: at }, { digits: b, scale: bt })
        expect(product.digits * 10n ** BigInt(24 - product.scale)).toBe(
          a * b * 10n ** BigInt(24 - at - bt),
        )
      }),
      { seed: 21 },
    )
  })

  test('texts that look like numbers stay texts', () => {
    expect(read('{"a 1.5": "x \\" 2", "n": -1.50e3, "t": [true, null]}')).toEqual({
      'a 1.5': 'x " 2',
      n: '-1.50e3',
      t: [true, null],
    })
  })
})

describe('models.dev', () => {
  test('has prices per million, caches, bounds', () => {
    const cost = { input: 1.25, output: 10, cache_read: 0.125, cache_write: 1.5625 }
    const file = dev(cost, { limit: { context: 400_000, output: 128_000 } })
    const { models, prices } = converted('models.dev', file, { factor: decimal('1.2') })
    expect(prices).toEqual([
      {
        model: 'gpt-x',
        unit: 'token',
        per_million: { input: '1.50', output: '12.00', cache_read: '0.15', cache_write: '1.875' },
      },
    ])
    expect(models).toEqual([
      {
        name: 'gpt-x',
        kind: 'text',
        interfaces: ['chat', 'responses', 'messages', 'generate'],
        context_window: 400_000,
        max_output_tokens: 128_000,
      },
    ])
  })

  test('has tiers above sizes, in both spellings', () => {
    const above = { input: 3, output: 15 }
    const tiers = [
      { up_to: 200_000, per_million: { input: '2.00', output: '10.00' } },
      { per_million: { input: '3.00', output: '15.00' } },
    ]
    const older = dev({ input: 2, output: 10, context_over_200k: above })
    const newer = dev({
      input: 2,
      output: 10,
      context_over_200k: { input: 9, output: 9 },
      tiers: [{ ...above, tier: { type: 'context', size: 200_000 } }],
    })
    for (const file of [older, newer]) {
      expect(converted('models.dev', file).prices).toEqual([
        { model: 'gpt-x', unit: 'token', tiers },
      ])
    }
  })

  test("takes the maker's price where resellers list the model, and says so", () => {
    const model = (input: number) => ({ models: { 'gpt-x': { cost: { input, output: 1 } } } })
    const file = { reseller: model(0), openai: model(2), other: model(3) }
    const { prices, remarks } = converted('models.dev', file)
    expect(prices).toMatchObject([{ per_million: { input: '2.00' } }])
    expect(remarks[0]).toContain('other/gpt-x')
    const only = converted('models.dev', file, { only: ['other/*'] })
    expect(only.prices).toMatchObject([{ per_million: { input: '3.00' } }])
    expect(only.remarks).toEqual([])
    const some = converted('models.dev', file, { only: ['reseller/*', 'none/*', 'other/*'] })
    expect(some.remarks).toContain('no model fits: none/*')
    expect(some.prices).toHaveLength(1)
  })

  test('names become those that callers type', () => {
    const cost = { input: 1, output: 1 }
    const file = { host: { models: { 'Maker/Big-Model_70B:free': { cost } } } }
    expect(converted('models.dev', file).prices[0]?.model).toBe('big-model-70b-free')
  })

  test('what has no unit here is told', () => {
    const sound = { cost: { input: 1, output: 2 }, modalities: { output: ['audio'] } }
    const file = {
      openai: {
        models: {
          sound,
          free: {},
          deep: { cost: { input: 1, output: 2, reasoning: 3, input_audio: 4 } },
        },
      },
    }
    const { prices, remarks } = converted('models.dev', file)
    expect(prices.map(({ model }) => model)).toEqual(['deep'])
    expect(remarks.sort()).toEqual([
      'left out: it has no price: openai/free',
      'left out: it makes audio, priced by tokens: openai/sound',
      'not carried: cost.reasoning (reasoning is charged as output): openai/deep',
    ])
  })
})

describe('LiteLLM', () => {
  test('has prices per token, written with exponents', () => {
    const file = `{
      "sample_spec": { "input_cost_per_token": 0.0, "mode": "one of: chat" },
      "gpt-x": { "litellm_provider": "openai", "mode": "chat", "max_input_tokens": 1000,
        "input_cost_per_token": 1.25e-06, "output_cost_per_token": 1e-05,
        "cache_read_input_token_cost": 1.25e-07, "cache_creation_input_token_cost": 1.5625e-06,
        "search_context_cost_per_query": { "search_context_size_low": 0.01, "search_context_size_high": 0.025 } }
    }`
    const { prices, models } = converted('litellm', file, { factor: decimal('7.2'), places: 6 })
    expect(prices).toEqual([
      {
        model: 'gpt-x',
        unit: 'token',
        per_million: { input: '9.00', output: '72.00', cache_read: '0.90', cache_write: '11.25' },
        per_call: { web_search: '0.18' },
      },
    ])
    expect(models[0]).toMatchObject({ name: 'gpt-x', context_window: 1_000 })
  })

  test('has tiers as thresholds and as ranges', () => {
    const thresholds = {
      'gemini/g': {
        litellm_provider: 'gemini',
        mode: 'chat',
        input_cost_per_token: 1e-6,
        input_cost_per_token_above_200k_tokens: 2e-6,
        output_cost_per_token: 3e-6,
        output_cost_per_token_above_200k_tokens: 4e-6,
      },
    }
    const { prices } = converted('litellm', thresholds)
    expect(prices).toEqual([
      {
        model: 'g',
        unit: 'token',
        tiers: [
          { up_to: 200_000, per_million: { input: '1.00', output: '3.00' } },
          { per_million: { input: '2.00', output: '4.00' } },
        ],
      },
    ])
    const range = (low: number, high: number, input: number) => ({
      range: [low, high],
      input_cost_per_token: input,
      output_cost_per_token: 1e-6,
    })
    const ranges = {
      'dashscope/q': {
        litellm_provider: 'dashscope',
        mode: 'chat',
        tiered_pricing: [range(0, 32_000, 1e-6), range(32_000, 128_000, 2e-6)],
      },
    }
    expect(converted('litellm', ranges).prices[0]?.tiers).toEqual([
      { up_to: 32_000, per_million: { input: '1.00', output: '1.00' } },
      { per_million: { input: '2.00', output: '1.00' } },
    ])
  })

  test('has images, embeddings, searches, speech and sound, and modes without a unit', () => {
    const file = {
      'dall-e': { mode: 'image_generation', output_cost_per_image: 0.04 },
      pixels: { mode: 'image_generation', input_cost_per_pixel: 1e-8 },
      embed: { mode: 'embedding', input_cost_per_token: 2e-8 },
      rerank: { mode: 'rerank', input_cost_per_query: 0.002, input_cost_per_token: 0 },
      'rerank-tokens': { mode: 'rerank', input_cost_per_token: 5e-8 },
      tts: { mode: 'audio_speech', input_cost_per_character: 0.000015 },
      'tts-tokens': {
        mode: 'audio_speech',
        input_cost_per_token: 2.5e-6,
        output_cost_per_audio_token: 1.2e-5,
      },
      whisper: {
        mode: 'audio_transcription',
        input_cost_per_second: 0.0001,
        output_cost_per_second: 0.0001,
      },
      omni: { mode: 'moderation', input_cost_per_token: 0, output_cost_per_token: 0 },
      'not-said': { mode: 'moderation' },
      film: { mode: 'video_generation', output_cost_per_second: 0.1 },
    }
    const { models, prices, remarks } = converted('litellm', file)
    expect(prices).toEqual([
      { model: 'dall-e', unit: 'image', per_image: '0.04' },
      { model: 'embed', unit: 'token', per_million: { input: '0.02', output: '0.00' } },
      { model: 'omni', unit: 'free' },
      { model: 'rerank', unit: 'search', per_search: '0.002' },
      { model: 'rerank-tokens', unit: 'token', per_million: { input: '0.05', output: '0.00' } },
      { model: 'tts', unit: 'character', per_million: '15.00' },
      {
        model: 'tts-tokens',
        unit: 'token',
        per_million: { input: '2.50', output: '12.00', output_audio: '12.00' },
      },
      { model: 'whisper', unit: 'audio_second', per_minute: '0.006' },
    ])
    for (const price of prices) expect(priceDeclaration.safeParse(price).error).toBeUndefined()
    expect(models.find(({ name }) => name === 'whisper')).toEqual({
      ...{ name: 'whisper', kind: 'transcription', interfaces: ['transcriptions'] },
    })
    expect(remarks.join()).toContain('video_generation')
    expect(remarks.join()).toContain('it has no price by tokens: not-said')
    expect(remarks.join()).toContain('pixels')
  })

  const night = (off: object) => ({
    deep: {
      ...{ mode: 'chat', input_cost_per_token: 4e-7, output_cost_per_token: 1e-6 },
      off_peak_pricing: {
        ...{ hours_utc: '16:30-00:30', input_cost_per_token: 2e-7, output_cost_per_token: 5e-7 },
        ...off,
      },
    },
  })

  test.each<[object, object[]]>([
    [{}, [{ from: '16:30', to: '00:30', factor: '0.5' }]],
    [
      { hours_utc: ['16:30-24:00', '00:00-00:30'] },
      [
        { from: '16:30', to: '00:00', factor: '0.5' },
        { from: '00:00', to: '00:30', factor: '0.5' },
      ],
    ],
  ])('has hours at which all is cheaper: %j', (off, hours) => {
    const { prices, remarks } = converted('litellm', night(off))
    expect(prices).toMatchObject([{ per_million: { input: '0.40', output: '1.00' }, hours }])
    expect(remarks).toEqual([])
    expect(priceDeclaration.safeParse(prices[0]).error).toBeUndefined()
  })

  test.each<object>([
    { input_cost_per_token: 3e-7 },
    { output_cost_per_token: undefined },
    { hours_utc: '16:30-25:00' },
    { hours_utc: '24:00-08:00' },
    { hours_utc: Array(17).fill('16:30-00:30') },
    { weekdays: ['sat', 'sun'] },
    { input_cost_per_token_above_200k_tokens: 2e-7 },
  ])('hours that cannot be said are told, and not taken: %j', (off) => {
    const { prices, remarks } = converted('litellm', night(off))
    expect(prices).toMatchObject([{ model: 'deep' }])
    expect(prices[0]).not.toHaveProperty('hours')
    expect(remarks.join()).toContain('not carried: off_peak_pricing')
  })

  test('a price that rounding takes away is told, and one that is 0', () => {
    const rates = { mode: 'chat', input_cost_per_token: 1e-6, output_cost_per_token: 1e-6 }
    const file = {
      tiny: { ...rates, input_cost_per_token: 1e-12 },
      search: { ...rates, search_context_cost_per_query: { low: 0.001 } },
      free: { mode: 'chat', input_cost_per_token: 0, output_cost_per_token: 0 },
    }
    const { remarks } = converted('litellm', file, { places: 2 })
    expect(remarks).toEqual([
      'costs nothing there, and so would it here: free',
      'rounded to 0: use more decimals: search, tiny',
    ])
  })
})
