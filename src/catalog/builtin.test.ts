// The shipped rows, held against the rules that declared ones must pass.
import { expect, test } from 'bun:test'
import { priceDeclaration, termsFrom } from '../contract/config-schema/index.ts'
import { rateNames } from '../contract/price.ts'
import { builtinModels, builtinPrices } from './builtin.ts'

const model = (name: string) => builtinModels.find((each) => each.name === name)

test('every model has one row and one price, and every price a model', () => {
  const names = builtinModels.map((each) => each.name)
  expect(new Set(names).size).toBe(names.length)
  expect(builtinPrices.map((price) => price.model).sort()).toEqual(names.sort())
})

test('every price passes the check that declared ones pass', () => {
  for (const price of builtinPrices) expect(priceDeclaration.parse(price)).toEqual(price)
})

test('the unit follows from what the model makes', () => {
  const units: Record<string, readonly string[]> = {
    text: ['token'],
    embedding: ['token'],
    image: ['image', 'token'],
    video: ['video_second', 'video_token'],
    rerank: ['search'],
    moderation: ['free'],
    speech: ['character'],
    transcription: ['audio_second'],
  }
  for (const price of builtinPrices) {
    expect(units[model(price.model)?.kind ?? '']).toContain(price.unit)
  }
})

test('each family has its interfaces and protocols', () => {
  const rows: [string, string[], string[]][] = [
    [
      'txta-plus',
      ['chat', 'responses', 'messages', 'generate'],
      ['chat', 'responses', 'messages', 'generate'],
    ],
    ['txta-embed', ['embeddings', 'generate'], ['generate', 'embeddings']],
    ['imga-edit', ['images'], ['images', 'vf']],
    ['vfa-2.7-videoedit', ['videos'], ['vf']],
    ['vfb-1.0-video-edit', ['videos'], ['vf']],
    ['vidmodel-1-0-lite-i2v', ['arkvendor', 'videos'], ['arkvendor']],
    ['imgvendor-v3-omni', ['imgvendor'], ['imgvendor']],
    ['vendorg-video-1', ['vendorg', 'videos'], ['vendorg']],
    ['imgvendor-v2-5-turbo', [], ['imgvendor']],
  ]
  for (const [name, interfaces, protocols] of rows) {
    expect(model(name)).toMatchObject({ name, interfaces, protocols, source: 'builtin' })
  }
})

test('one text model has every rate, service tier, place and hours', () => {
  const price = builtinPrices.find(({ model }) => model === 'txta-max')
  if (price?.unit !== 'token') throw new Error('txta-max is not priced by tokens')
  expect(Object.keys(price.per_million ?? {}).sort()).toEqual([...rateNames].sort())
  for (const part of [price.service_tiers, price.geo, price.hours]) expect(part).toBeDefined()
})

test('the published prices are the shipped ones', () => {
  const terms = (name: string) => termsFrom(builtinPrices.find((price) => price.model === name)!)
  expect(terms('vfb-1.1-i2v')).toEqual({
    unit: 'video_second',
    perSecondNanos: { '720p': 900_000_000n, '1080p': 1_200_000_000n },
  })
  const long = terms('txta-vl-long')
  expect(long.unit === 'token' && long.tiers.map((tier) => tier.upTo)).toEqual([
    32_000, 128_000, 256_000,
  ])
})
