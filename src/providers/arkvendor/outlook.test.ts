import { describe, expect, test } from 'bun:test'
import type { VideoRequest } from '../../contract/task.ts'
import { outlookOf } from './outlook.ts'

const model = 'vidmodel-1-0-pro'
const text = { type: 'text', text: 'a boat' }
const image = { type: 'image_url', image_url: { url: 'https://m.example/a.png' } }
const unsaid = { prompt: '', seconds: 5, resolution: '720p', media: [] } as const

const native = (body: object): VideoRequest => ({
  ...unsaid,
  native: { body: { content: [text], ...body } },
})
const says = (command: string) => ({ content: [{ type: 'text', text: `a boat ${command}` }] })
const tokensOf = (body: object) => outlookOf(native(body), model).bound.tokens

/** Of a 1.0 model: 1920 x 1088, 5 and 12 seconds; and the largest shape for 12. */
const usual = 246_840
const long = 589_560
const max = 589_560

describe('what is held for', () => {
  test.each([
    ['nothing said', {}, usual],
    ['fields', { resolution: '1080p', ratio: '16:9', duration: 5 }, usual],
    ['frames alone', { ratio: '9:16', frames: 145 }, 295_800],
    ['commands', says('--rs 720p --rt 16:9 --dur 10'), 206_778],
    ['commands for little', says('--rs 480p --rt 16:9 --dur 2'), 19_845],
    ['a long command', says('--resolution 1080p --ratio 9:16 --frames 145'), 295_800],
    ['the dearer of two commands', says('--rs 480p --dur 2 --rt 16:9 --rs 1080p --dur 12'), long],
    [
      'blanks of any kind',
      { ...says('--rs\t1080p --dur\n12'), resolution: '480p', duration: 2 },
      max,
    ],
    ['more text than is read', says(`--rs 480p --dur 2 ${'on and on '.repeat(7_000)}`), max],
    ['millions of commands', says('--rs 480p --dur 2 '.repeat(1_000_000)), max],
    ['a spelling of other upstreams', says('--dur=2 --rs=480p --rt=16:9'), usual],
    ['values that cannot be read', says('--rs 8k --dur 99 --frames 7'), max],
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
    ['a length beyond the model', { duration: 99, ratio: '16:9' }, long],
    ['frames beyond the model', { frames: 9_999, ratio: '16:9' }, long],
    ['a length that is none', { duration: 0, ratio: '16:9' }, long],
    ['a resolution that is not known', { resolution: '4k', duration: 2, ratio: '16:9' }, 99_960],
    ['a shape told in two ways', { ...says('--rt 1:1'), ratio: '16:9' }, usual],
    ['a shape that follows a picture', { content: [text, image], resolution: '720p' }, 113_740],
    ['a faster rate', { framespersecond: 48, duration: 5, ratio: '16:9' }, 491_640],
    ['a slower rate', { framespersecond: 12, duration: 5, ratio: '16:9' }, usual],
    ['a rate that cannot be read', { ...says('--fps x'), duration: 2, ratio: '16:9' }, usual],
    ['a draft', { content: [{ type: 'draft_task', draft_task: { id: 'x' } }], duration: 2 }, max],
  ])('%s', (_, body, tokens) => {
    expect(tokensOf(body)).toBe(tokens)
  })

  test('a length the model chooses is the longest', () => {
    const request = native({ duration: -1, ratio: '16:9' })
    const { bound, expected } = outlookOf(request, 'vidmodel-1-5-pro')
    expect(bound.tokens).toBe(Math.round((1280 * 720 * 289) / 1024))
    expect(expected).toEqual({ seconds: 12, resolution: '720p', ratio: '16:9' })
  })

  test('more commands than are read may mean anything', () => {
    expect(tokensOf(says('--dur 5 --rs 480p '.repeat(200)))).toBeLessThan(usual)
    expect(tokensOf(says('--dur 5 --rs 480p '.repeat(300)))).toBe(max)
  })

  test('texts of any item count, and addresses do not', () => {
    const item = { type: 'other', note: ['x --dur 12 --rs 1080p --rt 16:9'] }
    const fields = { resolution: '480p', duration: 2, ratio: '16:9' }
    expect(tokensOf({ ...fields, content: [text, item] })).toBe(long)
    const url = 'https://m.example/a--dur'
    const far = { type: 'image_url', image_url: { url } }
    expect(tokensOf({ ...fields, content: [text, far] })).toBe(19_845)
  })

  test('a prompt in plain words is read by the upstream all the same', () => {
    const plain: VideoRequest = { ...unsaid, prompt: 'a boat --rs 1080p --dur 12', seconds: 2 }
    expect(outlookOf(plain, model).bound).toMatchObject({ resolution: '1080p', seconds: 12 })
    const quiet: VideoRequest = { ...unsaid, prompt: 'a boat', seconds: 2, ratio: '16:9' }
    expect(outlookOf(quiet, model).bound).toMatchObject({ tokens: 42_042, seconds: 2 })
  })
})

test('what the model can make bounds what is believed, unless more was asked for', () => {
  const boundOf = (body: object) => outlookOf(native(body), model).bound
  expect(boundOf({ duration: 2 })).toMatchObject({ maxSeconds: 2, maxTokens: max })
  expect(boundOf({ duration: 24 }).maxSeconds).toBe(24)
  expect(boundOf({ duration: 24 }).maxTokens).toBeGreaterThan(2 * max - 10_000)
  expect(boundOf({ resolution: '4k' }).maxTokens).toBe(Math.round((3840 * 2160 * 289) / 1024))
  expect(boundOf({ duration: 1e9 }).maxSeconds).toBeLessThan(601)
})

test('what is probably made follows the fields, then the commands', () => {
  const expected = (body: object) => outlookOf(native(body), model).expected
  expect(expected({ frames: 57 })).toEqual({ seconds: 2.375, resolution: '1080p', ratio: '16:9' })
  expect(expected({ ...says('--rs 480p --dur 7'), duration: 3 })).toEqual({
    seconds: 3,
    resolution: '480p',
    ratio: '16:9',
  })
})
