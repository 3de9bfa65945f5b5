import { describe, expect, test } from 'bun:test'
import type { TaskUpstream } from '../../contract/provider.ts'
import type { ImageRequest } from '../../contract/task.ts'
import { buildBody, pathFor } from './build-request.ts'

const upstream = (plainModel: string, model = plainModel) =>
  ({ model, plainModel, marker: 'image_7' }) as TaskUpstream
const input: ImageRequest = { prompt: 'a fox', count: 2, media: [], isEdit: false }
const own = (model_name: string) => ({ model_name, external_task_id: 'image_7' })
const made = (request: ImageRequest, where: TaskUpstream) => {
  const body = buildBody(request, where)
  return 'words' in body ? (body.words as object) : body
}

test.each([
  ['imgvendor-v1', 'up', 'generations'],
  ['imgvendor-v3', 'up-v3', 'generations'],
  ['imgvendor-v3-omni', 'up', 'omni-image'],
  ['imgvendor-image-o1', 'up', 'omni-image'],
  ['plain', 'up-v3-omni', 'omni-image'],
  ['plain', 'up-image-o1-2026', 'omni-image'],
  ['plain', 'omnibus', 'generations'],
] as const)('%s, known there as %s, lives on %s', (plainModel, model, path) => {
  expect(pathFor(upstream(plainModel, model))).toBe(path)
})

describe('a request in the own words of the upstream', () => {
  const native = (body: object, path: 'generations' | 'omni-image' = 'generations') => ({
    ...input,
    native: { path, body: body as Record<string, unknown> },
  })

  test('goes up as it is, but for what is the gateway’s', () => {
    const body = {
      model_name: 'imgvendor-v2',
      model: 'x',
      prompt: 'a fox',
      n: 3,
      callback_url: 'https://caller.example/',
      external_task_id: 'job-17',
      watermark_info: { enabled: true },
      problem: 'not one of ours',
    }
    expect(made(native(body), upstream('imgvendor-v2', 'up-v2'))).toEqual({
      prompt: 'a fox',
      n: 3,
      watermark_info: { enabled: true },
      problem: 'not one of ours',
      ...own('up-v2'),
    })
  })

  test('holds bytes without a word on what they are', () => {
    const image = 'data:image/png;base64,iVBORw0KGgo='
    expect(made(native({ image }), upstream('imgvendor-v1'))).toMatchObject({
      image: 'iVBORw0KGgo=',
    })
    const image_list = [{ image }, { image: 'https://h/a.png', x: 1 }, 7]
    const omni = native({ image_list }, 'omni-image')
    expect(made(omni, upstream('imgvendor-v3-omni'))).toMatchObject({
      image_list: [{ image: 'iVBORw0KGgo=' }, { image: 'https://h/a.png', x: 1 }, 7],
    })
  })

  test('for a model of the other path is turned into its words', () => {
    const body = {
      prompt: 'p',
      image: 'https://h/a.png',
      image_reference: 'face',
      image_fidelity: 0.2,
      human_fidelity: 0.3,
      negative_prompt: 'rain',
      aspect_ratio: '1:1',
    }
    const where = upstream('imgvendor-image-o1')
    expect(made(native(body), where)).toEqual({
      prompt: 'p',
      aspect_ratio: '1:1',
      image_list: [{ image: 'https://h/a.png' }],
      ...own('imgvendor-image-o1'),
    })
    expect(made(native({ prompt: 'p' }), where)).toEqual({
      prompt: 'p',
      ...own('imgvendor-image-o1'),
    })
  })

  test('on the other path for a model that is not there is refused', () => {
    expect(made(native({ prompt: 'p' }, 'omni-image'), upstream('imgvendor-v2'))).toHaveProperty(
      'problem',
    )
  })
})

describe('a plain request', () => {
  test('is put into words', () => {
    const size = { width: 1024, height: 1024 }
    expect(made({ ...input, size, negativePrompt: 'rain' }, upstream('imgvendor-v2'))).toEqual({
      prompt: 'a fox',
      n: 2,
      aspect_ratio: '1:1',
      negative_prompt: 'rain',
      ...own('imgvendor-v2'),
    })
  })

  test.each([
    [1920, 1080, '16:9', '2k'],
    [1344, 768, '16:9', undefined],
    [768, 1344, '9:16', undefined],
    [1472, 1104, '4:3', undefined],
    [1024, 1536, '2:3', undefined],
    [2048, 2048, '1:1', '2k'],
    [1000, 100, '21:9', undefined],
  ])('for %i by %i pixels asks for the shape %s', (width, height, aspect_ratio, resolution) => {
    const body = made({ ...input, size: { width, height } }, upstream('imgvendor-v2'))
    expect(body).toMatchObject({ aspect_ratio })
    expect((body as { resolution?: string }).resolution).toBe(resolution)
  })

  const image = (url: string) => ({ kind: 'image', url }) as const
  const one = image('data:image/png;base64,iVBORw0KGgo=')

  test('with a picture hands it over as the model wants it', () => {
    const request = { ...input, isEdit: true, media: [one], negativePrompt: 'rain' }
    expect(made(request, upstream('imgvendor-v2'))).toEqual({
      prompt: 'a fox',
      n: 2,
      image: 'iVBORw0KGgo=',
      ...own('imgvendor-v2'),
    })
    expect(made(request, upstream('imgvendor-v1-5'))).toMatchObject({
      image_reference: 'subject',
    })
    const both = { ...request, media: [one, image('https://h/b.png')] }
    expect(made(both, upstream('imgvendor-v3-omni'))).toMatchObject({
      image_list: [{ image: 'iVBORw0KGgo=' }, { image: 'https://h/b.png' }],
    })
    expect(made(both, upstream('imgvendor-v2'))).toHaveProperty('problem')
  })
})
