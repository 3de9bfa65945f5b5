// A price in columns: what has one, and what is folded.
import { expect, test } from 'bun:test'
import { cellsOf } from './price-cells.ts'

const of = (terms: object) =>
  cellsOf({ model: 'm', effective_from: '2026-11-18T00:00:00Z', ...terms } as never)

test('the rates of tokens have a column each; others are counted', () => {
  const per_million = { input: '1', output: '2', cache_read: '0.1', input_audio: '4' }
  const more = {
    per_call: { web_search: '0.05' },
    hours: [{ from: '00:00', to: '08:00', factor: '0.5' }],
  }
  expect(of({ unit: 'token', per_million, ...more })).toEqual({
    amounts: { input: '1', output: '2', cache_read: '0.1' },
    folded: [
      ['other_rates', 1],
      ['tools', 1],
      ['hours', 1],
    ],
  })
})

test('the first of several tiers, sizes and resolutions stands for them', () => {
  const tiers = [
    { up_to: 32_000, per_million: { input: '1', output: '2' } },
    { per_million: { input: '3', output: '4' } },
  ]
  expect(of({ unit: 'token', tiers })).toEqual({
    amounts: { input: '1', output: '2' },
    folded: [['tiers', 2]],
  })
  expect(of({ unit: 'image', per_image: { '1k': '0.2', '2k': '0.4' } })).toEqual({
    amounts: { image: '0.2' },
    folded: [['sizes', 2]],
  })
  expect(of({ unit: 'video_second', per_second: { '720p': '0.6' } })).toEqual({
    amounts: { second: '0.6' },
    folded: [],
  })
})

test('one amount for all is shown as it is', () => {
  expect(of({ unit: 'image', per_image: '0.3' }).amounts).toEqual({ image: '0.3' })
  expect(of({ unit: 'video_token', per_million: '40' }).amounts).toEqual({ output: '40' })
  expect(of({ unit: 'default' })).toEqual({
    amounts: {},
    single: { unit: 'default' },
    folded: [],
  })
})

test('a unit without a column is said with its amount', () => {
  const single = (terms: object) => {
    const { amounts, single } = of(terms)
    return [amounts, single]
  }
  expect(single({ unit: 'audio_second', per_minute: '0.006' })).toEqual([
    {},
    { unit: 'audio_second', amount: '0.006' },
  ])
  expect(single({ unit: 'search', per_search: '0.002' })).toEqual([
    {},
    { unit: 'search', amount: '0.002' },
  ])
  // Not as the price of output tokens.
  expect(single({ unit: 'character', per_million: '30' })).toEqual([
    {},
    { unit: 'character', amount: '30' },
  ])
  expect(single({ unit: 'free' })).toEqual([{}, { unit: 'free' }])
  expect(single({ unit: 'token', per_million: { input: '1' } })).toEqual([
    { input: '1' },
    undefined,
  ])
})
