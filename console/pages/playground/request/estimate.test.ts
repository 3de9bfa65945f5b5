// What a call is likely to cost, before it is sent.
import { expect, test } from 'bun:test'
import { codeFor } from './code.ts'
import { estimateFor, type Priced } from './estimate.ts'

const of = (price: Priced, body: object) => estimateFor(price, JSON.stringify(body))

test('a call is estimated by the unit of its price', () => {
  expect(of({ unit: 'image', per_image: '0.04' }, { n: 2 })).toBe('0.080000000')
  const seconds = { unit: 'video_second', per_second: { '720p': '0.20' } }
  expect(of(seconds, { seconds: 5, resolution: '720p' })).toBe('1.000000000')
  expect(of({ unit: 'search', per_search: '0.002' }, { query: 'x' })).toBe('0.002000000')
  expect(of({ unit: 'character', per_million: '30' }, { input: 'Good day' })).toBe('0.000240000')
})

test('nothing is estimated of what is not known', () => {
  expect(estimateFor(undefined, '{}')).toBeUndefined()
  expect(estimateFor({ unit: 'search', per_search: '1' }, 'no JSON')).toBeUndefined()
  expect(of({ unit: 'character', per_million: '30' }, { input: ['a', 'b'] })).toBeUndefined()
  expect(of({ unit: 'audio_second' }, {})).toBeUndefined()
})

test('an address with a question mark is one word of the shell', () => {
  const [curl] = codeFor('http://gateway.example', '/v1beta/models/m:stream?alt=sse', {}, 'sk-1')
  expect(curl?.code).toStartWith("curl 'http://gateway.example/v1beta/models/m:stream?alt=sse' ")
})
