import { describe, expect, test } from 'bun:test'
import type { InputMedia, VideoRequest } from '../../contract/task.ts'
import { inputFor, outlookOf, parametersFor, takesVideo } from './build-request.ts'

/** `i1 v2`: an image, then a video. */
const mediaOf = (items: string): InputMedia[] =>
  items
    .split(' ')
    .filter((item) => item !== '')
    .map((item) => ({ kind: item.startsWith('i') ? 'image' : 'video', url: urlOf(item) }))

const urlOf = (item: string) => `https://m.example/${item}${item.startsWith('i') ? '.png' : '.mp4'}`

/** `first_frame=i1` is a medium, `img_url:i1` a field of its own. */
function shown(model: string, items: string): string {
  const input = inputFor(model, { prompt: '', media: mediaOf(items) })
  if ('problem' in input) return 'refused'
  const name = (url: string) => /(\w+)\.\w+$/.exec(url)?.[1]
  const field = input.img_url === undefined ? [] : [`img_url:${name(input.img_url)}`]
  return [...field, ...(input.media ?? []).map(({ type, url }) => `${type}=${name(url)}`)].join(' ')
}

describe('media are handed over as the model wants them', () => {
  test.each([
    ['vfa-2.7-t2v', '', ''],
    ['vfa-2.7-t2v', 'i1', 'refused'],
    ['vfa-2.7-t2v', 'v1', 'refused'],
    ['vfa-2.7-i2v', 'i1', 'first_frame=i1'],
    ['vfa-2.7-i2v', 'i1 i2', 'first_frame=i1 last_frame=i2'],
    ['vfa-2.7-i2v', 'v1', 'first_clip=v1'],
    ['vfa-2.7-i2v', 'v1 i2', 'first_clip=v1 last_frame=i2'],
    ['vfa-2.7-i2v', 'i1 v2', 'refused'],
    ['vfa-2.7-i2v', 'v1 v2', 'refused'],
    ['vfa-2.7-i2v', 'i1 i2 i3', 'first_frame=i1 last_frame=i2 last_frame=i3'],
    ['vfa-2.7-r2v', 'v1', 'reference_video=v1'],
    ['vfa-2.7-r2v', 'v1 v2 i3', 'reference_video=v1 reference_video=v2 reference_image=i3'],
    ['vfa-2.7-r2v', 'i1 v2', 'reference_image=i1 reference_video=v2'],
    ['vfa-2.7-videoedit', 'v1', 'video=v1'],
    ['vfa-2.7-videoedit', 'v1 i2 i3', 'video=v1 reference_image=i2 reference_image=i3'],
    ['vfa-2.7-videoedit', 'i1 v2', 'reference_image=i1 video=v2'],
    ['vfa-2.7-videoedit', 'v1 v2', 'refused'],
    ['vfb-1.1-t2v', '', ''],
    ['vfb-1.1-t2v', 'i1', 'refused'],
    ['vfb-1.1-i2v', 'i1', 'first_frame=i1'],
    ['vfb-1.1-i2v', 'i1 i2', 'refused'],
    ['vfb-1.1-i2v', 'v1', 'refused'],
    ['vfb-1.1-r2v', 'i1 i2 i3', 'reference_image=i1 reference_image=i2 reference_image=i3'],
    ['vfb-1.1-r2v', 'i1 v2', 'refused'],
    ['vfb-1.0-i2v', 'i1', 'img_url:i1'],
    ['vfb-1.0-i2v', 'i1 i2', 'refused'],
    ['vfb-1.0-i2v', 'v1', 'refused'],
    ['vfb-1.0-r2v', 'i1', 'reference_image=i1'],
    ['vfb-1.0-r2v', 'v1', 'refused'],
    ['vfb-1.0-video-edit', 'i1', 'img_url:i1'],
    ['vfb-1.0-video-edit', 'v1', 'reference_video=v1'],
    ['vfb-1.0-video-edit', 'i1 v2', 'img_url:i1 reference_video=v2'],
    ['vfb-1.0-video-edit', 'i1 i2', 'refused'],
  ])('%s given [%s]: %s', (model, items, expected) => {
    expect(shown(model, items)).toBe(expected)
  })

  test.each([
    ['vfa-2.7-i2v-2026-04-25', 'v1 i2', 'first_clip=v1 last_frame=i2'],
    ['vfa-2.7-t2v-2026-04-25', 'i1', 'refused'],
    ['vfb-1.0-i2v-2026-01-31', 'i1', 'img_url:i1'],
  ])('the dated %s counts as the undated one', (model, items, expected) => {
    expect(shown(model, items)).toBe(expected)
  })

  test.each([
    ['vfa-9.9-i2v', 'i1 i2', 'first_frame=i1 last_frame=i2'],
    ['vfb-9.9-r2v', 'i1', 'reference_image=i1'],
    ['vfb-9.9-video-edit', 'v1 i2', 'video=v1 reference_image=i2'],
    ['vfa-9.9', 'i1', 'refused'],
    ['constructor', '', ''],
  ])('%s, which the table does not know, goes by its ending', (model, items, expected) => {
    expect(shown(model, items)).toBe(expected)
  })

  test('what cannot be taken is named by its place', () => {
    const input = inputFor('vfa-2.7-i2v', { prompt: 'p', media: mediaOf('i1 v2') })
    expect(input).toEqual({
      problem: 'vfa-2.7-i2v has no use for item 2 of its input, of kind video',
    })
  })

  test('data URIs go as they are, and a prompt only when there is one', () => {
    const url = 'data:image/png;base64,AAAA'
    const media: InputMedia[] = [{ kind: 'image', url }]
    expect(inputFor('vfb-1.0-i2v', { prompt: 'p', media })).toEqual({ prompt: 'p', img_url: url })
    expect(inputFor('vfb-1.1-t2v', { prompt: '', media: [] })).toEqual({})
  })

  test.each([
    ['vfa-2.7-t2v', false],
    ['vfa-2.7-i2v', true],
    ['vfa-2.7-r2v', true],
    ['vfa-2.7-videoedit', true],
    ['vfb-1.1-i2v', false],
    ['vfb-1.1-r2v', false],
    ['vfb-1.0-video-edit', true],
  ])('%s takes videos: %p', (model, expected) => {
    expect(takesVideo(model)).toBe(expected)
  })
})

describe('parameters', () => {
  const input = { seconds: 6, resolution: '720p', ratio: '9:16', seed: 0 } as const
  const all = { resolution: '720P', duration: 6, ratio: '9:16', seed: 0, watermark: false }
  const { ratio: _ratio, ...noRatio } = all
  const { duration: _duration, ...noRatioOrDuration } = noRatio

  test.each([
    ['vfa-2.7-t2v', all],
    ['vfa-2.7-i2v', noRatio],
    ['vfa-2.7-r2v', all],
    ['vfa-2.7-videoedit', all],
    ['vfb-1.1-t2v', all],
    ['vfb-1.1-i2v', noRatio],
    ['vfb-1.1-r2v', all],
    ['vfb-1.0-i2v', noRatio],
    ['vfb-1.0-r2v', all],
    ['vfb-1.0-video-edit', noRatioOrDuration],
  ])('of %s', (model, expected) => {
    expect(parametersFor(model, input)).toEqual(expected as ReturnType<typeof parametersFor>)
  })

  test('what was not asked for is not sent', () => {
    const min: Omit<VideoRequest, 'prompt' | 'media'> = { seconds: 5, resolution: '1080p' }
    const expected = { resolution: '1080P', duration: 5, watermark: false } as const
    expect(parametersFor('vfa-2.7-t2v', min)).toEqual(expected)
  })

  test.each([
    [2, 2],
    [10, 10],
    [11, undefined],
    [15, undefined],
  ])('an edit asked for in %p seconds is cut to %p', (seconds, expected) => {
    expect(parametersFor('vfa-2.7-videoedit', { ...input, seconds }).duration).toBe(expected)
    expect(parametersFor('vfa-2.7-t2v', { ...input, seconds }).duration).toBe(seconds)
  })
})

test.each([
  ['vfa-2.7-t2v', {}, 5, 5],
  ['vfa-2.7-videoedit', {}, 5, 5],
  ['vfa-2.7-videoedit', { followsSource: true }, 15, 15],
  ['vfa-2.7-videoedit', { seconds: 12 }, 15, 15],
  ['vfb-1.0-video-edit', { seconds: 3 }, 15, 15],
] as const)('%s with %j can come to %p seconds', (model, more, seconds, maxSeconds) => {
  const request: VideoRequest = {
    ...{ prompt: 'x', seconds: 5, resolution: '720p', media: [] },
    ...more,
  }
  expect(outlookOf(request, model).bound).toMatchObject({ seconds, maxSeconds, resolution: '720p' })
})

test('an edit that follows its source is sent no length', () => {
  const input = { seconds: 5, resolution: '720p', followsSource: true } as const
  expect(parametersFor('vfa-2.7-videoedit', input)).not.toHaveProperty('duration')
})

test('what the video should not show goes to the family that has a word for it', () => {
  const input = { prompt: 'a fox', negativePrompt: 'rain', media: [] }
  expect(inputFor('vfa-2.7-t2v', input)).toEqual({ prompt: 'a fox', negative_prompt: 'rain' })
  expect(inputFor('vfb-1.1-t2v', input)).toEqual({ prompt: 'a fox' })
})
