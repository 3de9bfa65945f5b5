import { describe, expect, test } from 'bun:test'
import type { InputMedia, VideoRequest } from '../../contract/task.ts'
import { buildBody } from './build-request.ts'

const input: VideoRequest = { prompt: 'a fox', seconds: 8, resolution: '720p', media: [] }
const image = (n: number, role?: InputMedia['role']): InputMedia => ({
  kind: 'image',
  url: `https://m.example/${n}.png`,
  ...(role !== undefined && { role }),
})
/** The fetched content is the URL itself, so that it can be told apart. */
const fetchMedia = async (url: string) => ({ bytes: Buffer.from(url), mimeType: 'image/png' })
const uri = (n: number) => ({
  bytesBase64Encoded: Buffer.from(`https://m.example/${n}.png`).toString('base64'),
  mimeType: 'image/png',
})
const asset = (n: number) => ({ image: uri(n), referenceType: 'asset' as const })
const handed = async (...media: InputMedia[]) => {
  const body = await buildBody({ ...input, media }, fetchMedia)
  return 'problem' in body ? body : body.instances[0]
}

test('a prompt alone is a prompt and the parameters', async () => {
  expect(await buildBody(input, fetchMedia)).toEqual({
    instances: [{ prompt: 'a fox' }],
    parameters: { durationSeconds: 8, resolution: '720p', sampleCount: 1 },
  })
})

test('what else was wished goes along when it is given', async () => {
  const inputs = { seed: 0, negativePrompt: 'rain', personGeneration: 'x', enhancePrompt: false }
  const body = await buildBody({ ...input, ratio: '9:16', ...inputs }, fetchMedia)
  expect(body).toMatchObject({ parameters: { aspectRatio: '9:16', ...inputs } })
})

test('bytes go as bytes, with their type', async () => {
  const inline: InputMedia = { kind: 'image', url: 'data:image/webp;base64,aGk=' }
  expect(await handed(inline)).toMatchObject({
    image: { bytesBase64Encoded: 'aGk=', mimeType: 'image/webp' },
  })
})

describe('pictures', () => {
  test('go where their roles say', async () => {
    const media = [image(1, 'first_frame'), image(2, 'last_frame'), image(3, 'reference')]
    expect(await handed(...media)).toEqual({
      prompt: 'a fox',
      image: uri(1),
      lastFrame: uri(2),
      referenceImages: [asset(3)],
    })
  })

  test('without roles go by how many there are', async () => {
    expect(await handed(image(1))).toEqual({ prompt: 'a fox', image: uri(1) })
    expect(await handed(image(1), image(2))).toEqual({
      prompt: 'a fox',
      image: uri(1),
      lastFrame: uri(2),
    })
    expect(await handed(image(1), image(2), image(3))).toEqual({
      prompt: 'a fox',
      referenceImages: [asset(1), asset(2), asset(3)],
    })
  })

  test.each<[string, InputMedia[]]>([
    ['a video', [{ kind: 'video', url: 'https://m.example/a.mp4' }]],
  ])('the model has no use for are a problem: %s', async (_name, media) => {
    expect(await handed(...media)).toEqual({ problem: expect.stringContaining('the model') })
  })
})
