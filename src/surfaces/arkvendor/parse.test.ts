import { describe, expect, test } from 'bun:test'
import { Refusal } from '../../contract/errors.ts'
import { draftsIn, parseNative, withDrafts } from './parse.ts'

const text = { type: 'text', text: 'a boat' }
const image = { type: 'image_url', image_url: { url: 'https://m.example/a.png' } }

const inputOf = (more: object = {}) => ({ model: 'vidmodel-1-0-pro', content: [text], ...more })

async function read(more: object = {}) {
  const call = await parseNative(inputOf(more))
  if (call instanceof Refusal) throw new Error(call.message)
  return call.request
}

async function refused(more: object): Promise<[string, string | undefined]> {
  const call = await parseNative(inputOf(more))
  if (!(call instanceof Refusal)) return ['taken', undefined]
  return [call.code, call.extras.param]
}

describe('the body that goes up', () => {
  const bodyOf = async (more: object) => (await read(more)).native?.body

  test('is the caller’s but for the model and its own address', async () => {
    const more = { watermark: true, seed: 7, callback_url: 'https://me.example/', tools: [] }
    expect(await bodyOf(more)).toEqual({ content: [text], watermark: true, seed: 7, tools: [] })
  })

  test('has base64 without line ends however long it is, and leaves alone what is none', async () => {
    const urlOf = async (url: string) => {
      const given = { type: 'image_url', image_url: { url } }
      return ((await bodyOf({ content: [text, given] }))?.['content'] as (typeof given)[])?.[1]
        ?.image_url.url
    }
    const plain = Buffer.alloc(300_000, 'picture').toString('base64')
    const broken = plain.replaceAll(/(.{76})/g, '$1\r\n')
    expect(await urlOf(` data:image/png;base64,${broken}`)).toBe(`data:image/png;base64,${plain}`)
    const odd = `data:image/png;base64,${broken}!`
    expect(await urlOf(odd)).toBe(odd)
  })

  test('has base64 without blanks and line ends', async () => {
    const url = 'data:image/png;base64,iVBO\r\nRw0K Ggo=\n'
    const given = { type: 'image_url', image_url: { url }, role: 'first_frame' }
    expect((await bodyOf({ content: [text, given] }))?.['content']).toEqual([
      text,
      { ...given, image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
    ])
  })

  test('calls the ratio by its own name, and the caller’s ratio goes first', async () => {
    expect(await bodyOf({ aspect_ratio: '9:16' })).toEqual({ content: [text], ratio: '9:16' })
    expect(await bodyOf({ aspect_ratio: '9:16', ratio: '1:1' })).toMatchObject({ ratio: '1:1' })
  })

  test('has no duration beside frames, and nothing that is null', async () => {
    expect(await bodyOf({ frames: 145, duration: 5 })).toEqual({ content: [text], frames: 145 })
    const nulls = { frames: null, duration: 5, seed: null }
    expect(await bodyOf(nulls)).toEqual({ content: [text], duration: 5 })
  })
})

test('the seed is kept where every interface looks for it', async () => {
  expect((await read({ seed: 4_294_967_295 })).seed).toBe(4_294_967_295)
  expect(await read()).not.toHaveProperty('seed')
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
  [{ resolution: 720 }, 'invalid_resolution', 'resolution'],
  [{ ratio: 1 }, 'invalid_request', 'ratio'],
  [{ aspect_ratio: {} }, 'invalid_request', 'aspect_ratio'],
  [{ duration: '5' }, 'invalid_duration', 'duration'],
  [{ frames: '29' }, 'invalid_duration', 'frames'],
  [{ seed: '4' }, 'invalid_seed', 'seed'],
  [{ content: [{ type: 'draft_task' }] }, 'invalid_request', 'content'],
  [{ content: [{ type: 'draft_task', draft_task: 'cgt-1' }] }, 'invalid_request', 'content'],
  [{ draft_task: { id: 'cgt-1' } }, 'invalid_request', 'draft_task'],
  [
    { content: [text, { type: 'image_url', image_url: { url: 'asset://a-1' } }] },
    'file_not_found',
    'image_url',
  ],
])('%j is refused: %s', async (more, code, param) => {
  expect(await refused(more)).toEqual([code, param])
})

test('drafts are named by their upstream ids, and by nothing else', async () => {
  const draft = { type: 'draft_task', draft_task: { id: 'video_1', x: 2 } }
  const request = await read({ content: [text, draft] })
  expect(draftsIn(request)).toEqual(['video_1'])
  expect(withDrafts(request, new Map([['video_1', 'cgt-1']])).native?.body['content']).toEqual([
    text,
    { type: 'draft_task', draft_task: { id: 'cgt-1' } },
  ])
})

test('what only the upstream can judge is left to it', async () => {
  const draft = [{ type: 'draft_task', draft_task: { id: 'cgt-1' } }]
  for (const more of [
    { model: 'vidmodel-1-0-lite-i2v' },
    { content: draft },
    { content: [text, { type: 'video_url', video_url: { url: 'x' } }] },
    { ratio: '2:1', frames: 30, seed: -1, service_tier: 'flex' },
    { resolution: '1080P', duration: 0, seed: 1.5 },
    { resolution: '4k', duration: 99, seed: -2 },
    { frames: 9_999, seed: 4_294_967_296 },
  ]) {
    expect(await refused(more)).toEqual(['taken', undefined])
  }
})
