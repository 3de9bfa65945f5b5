import { describe, expect, test } from 'bun:test'
import { Refusal } from '../../contract/errors.ts'
import { parseNative } from './parse.ts'

const text = { type: 'text', text: 'a boat' }
const image = { type: 'image_url', image_url: { url: 'https://m.example/a.png' } }

const wishOf = (more: object = {}) => ({ model: 'vidmodel-1-0-pro', content: [text], ...more })

function read(more: object = {}) {
  const call = parseNative(wishOf(more))
  if (call instanceof Refusal) throw new Error(call.message)
  return call.request
}

function refused(more: object): [string, string | undefined] {
  const call = parseNative(wishOf(more))
  if (!(call instanceof Refusal)) return ['taken', undefined]
  return [call.code, call.extras.param]
}

describe('the body that goes up', () => {
  const bodyOf = (more: object) => read(more).native?.body

  test('is the caller’s but for the model and its own address', () => {
    const more = { watermark: true, seed: 7, callback_url: 'https://me.example/', tools: [] }
    expect(bodyOf(more)).toEqual({ content: [text], watermark: true, seed: 7, tools: [] })
  })

  test('calls the ratio by its own name, and the caller’s ratio goes first', () => {
    expect(bodyOf({ aspect_ratio: '9:16' })).toEqual({ content: [text], ratio: '9:16' })
    expect(bodyOf({ aspect_ratio: '9:16', ratio: '1:1' })).toMatchObject({ ratio: '1:1' })
  })

  test('has no duration beside frames, and nothing that is null', () => {
    expect(bodyOf({ frames: 145, duration: 5 })).toEqual({ content: [text], frames: 145 })
    const nulls = { frames: null, duration: 5, seed: null }
    expect(bodyOf(nulls)).toEqual({ content: [text], duration: 5 })
  })
})

describe('what is set aside for', () => {
  const tokensOf = (more: object) => read(more).native?.estimatedTokens
  const says = (command: string) => ({ content: [{ type: 'text', text: `a boat ${command}` }] })
  /** Of a 1.0 model: 1920 x 1088, 5 seconds. */
  const usual = 246_840

  test.each([
    ['nothing said', {}, usual],
    ['fields', { resolution: '1080p', ratio: '16:9', duration: 5 }, usual],
    ['frames before duration', { ratio: '9:16', frames: 145, duration: 12 }, 295_800],
    ['commands', says('--rs 720p --rt 16:9 --dur 10'), 206_778],
    ['a long command', says('--resolution=1080p --ratio 9:16 --frames 145'), 295_800],
    ['a wrong command', says('--rs 8k --dur 99 --frames 7'), usual],
    [
      'a dearer command',
      { ...says('--dur 10 --rs 1080p'), duration: 5, resolution: '480p' },
      491_640,
    ],
    [
      'a cheaper command',
      { ...says('--dur 2 --rs 480p'), duration: 5, resolution: '1080p' },
      usual,
    ],
    ['a shape told in two ways', { ...says('--rt 1:1'), ratio: '16:9' }, 246_840],
    ['a shape that follows a picture', { content: [text, image], resolution: '720p' }, 113_740],
  ])('%s', (_, more, tokens) => {
    expect(tokensOf(more)).toBe(tokens)
  })

  test('a length the model chooses is the longest', () => {
    const more = { model: 'vidmodel-1-5-pro', duration: -1, ratio: '16:9' }
    expect(tokensOf(more)).toBe(Math.round((1280 * 720 * 289) / 1024))
    expect(read(more)).toMatchObject({ seconds: 12, resolution: '720p', ratio: '16:9' })
  })
})

test('the seed is kept where every interface looks for it', () => {
  expect(read({ seed: 4_294_967_295 }).seed).toBe(4_294_967_295)
  expect(read()).not.toHaveProperty('seed')
})

test.each([
  [{ model: 7 }, 'invalid_request', 'model'],
  [{ content: undefined }, 'invalid_request', 'content'],
  [{ content: [] }, 'invalid_request', 'content'],
  [{ content: 'a boat' }, 'invalid_request', 'content'],
  [{ content: [image] }, 'invalid_request', 'content'],
  [{ content: [{ type: 'text', text: ' ' }] }, 'invalid_request', 'content'],
  [{ content: [{ type: 'text' }] }, 'invalid_request', 'content'],
  [{ content: [{ text: 'a boat' }] }, 'invalid_request', 'content'],
  [{ content: [text, 'a boat'] }, 'invalid_request', 'content'],
  [{ content: [text, { type: 'image_url', image_url: 'x' }] }, 'invalid_request', 'content'],
  [{ content: Array(33).fill(text) }, 'invalid_request', 'content'],
  [{ resolution: '1080P' }, 'invalid_resolution', 'resolution'],
  [{ resolution: 720 }, 'invalid_resolution', 'resolution'],
  [{ ratio: 1 }, 'invalid_request', 'ratio'],
  [{ aspect_ratio: {} }, 'invalid_request', 'aspect_ratio'],
  [{ duration: '5' }, 'invalid_duration', 'duration'],
  [{ duration: 0 }, 'invalid_duration', 'duration'],
  [{ duration: 61 }, 'invalid_duration', 'duration'],
  [{ frames: '29' }, 'invalid_duration', 'frames'],
  [{ frames: 1_501 }, 'invalid_duration', 'frames'],
  [{ seed: '4' }, 'invalid_seed', 'seed'],
  [{ seed: 1.5 }, 'invalid_seed', 'seed'],
  [{ seed: -2 }, 'invalid_seed', 'seed'],
  [{ seed: 4_294_967_296 }, 'invalid_seed', 'seed'],
])('%j is refused: %s', (more, code, param) => {
  expect(refused(more)).toEqual([code, param])
})

test('what only the upstream can judge is left to it', () => {
  const draft = [{ type: 'draft_task', draft_task: { id: 'cgt-1' } }]
  for (const more of [
    { model: 'vidmodel-1-0-lite-i2v' },
    { content: draft },
    { content: [text, { type: 'video_url', video_url: { url: 'x' } }] },
    { ratio: '2:1', frames: 30, seed: -1, service_tier: 'flex' },
  ]) {
    expect(refused(more)).toEqual(['taken', undefined])
  }
})
