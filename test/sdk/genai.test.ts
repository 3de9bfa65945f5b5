// The gateway through the official `@google/genai` package: a video from the request to the file,
// models, and errors.
import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { join } from 'node:path'
import { ApiError, type GenerateVideosOperation, GoogleGenAI } from '@google/genai'
import { apiToken, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { accountOf, until } from '../support/read.ts'
import { picture, thrownBy } from './stage.ts'

const model = 'vendorg-video-1'
let gateway: TestGateway
// It says on every call which of its own fields it will drop one day.
const warn = spyOn(console, 'warn').mockImplementation(() => {})
beforeAll(async () => {
  gateway = await startGateway({
    env: {
      GATEWAY_SANDBOX_TASK_SECONDS: '0.2',
      // Its download helper knows no other addresses than those of https.
      GATEWAY_PUBLIC_URL: 'https://gateway.example',
    },
  })
})
afterAll(async () => {
  warn.mockRestore()
  expect(await gateway.stop()).toBe(0)
})

const clientWith = (apiKey = apiToken) =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: `${gateway.url}/vendorg` } })

const finished = (ai: GoogleGenAI, first: GenerateVideosOperation) => {
  let operation = first
  return until(`the end of ${first.name}`, async () => {
    operation = await ai.operations.getVideosOperation({ operation })
    return operation.done ? operation : undefined
  })
}

describe('a video', () => {
  test('is asked for, polled and downloaded', async () => {
    const ai = clientWith()
    const before = await accountOf(gateway)
    const operation = await ai.models.generateVideos({
      model,
      source: { prompt: 'a fox in the snow' },
      config: { numberOfVideos: 1, durationSeconds: 4, aspectRatio: '9:16', resolution: '720p' },
    })
    expect(operation.name).toMatch(/^operations\/[0-9a-f]{32}$/)
    expect(operation.done).toBe(false)
    const { response, error } = await finished(ai, operation)
    expect(error).toBeUndefined()
    const video = response?.generatedVideos?.[0]
    const downloadPath = join(tempDir(), 'fox.mp4')
    await ai.files.download({ file: video!, downloadPath })
    const bytes = await until('the whole file', async () => {
      const read = await Bun.file(downloadPath).bytes()
      return read.length > 8 ? read : undefined
    })
    expect(Buffer.from(bytes.subarray(4, 8)).toString()).toBe('ftyp')
    const spent = Number(before.balance) - Number((await accountOf(gateway)).balance)
    expect(spent).toBeCloseTo(4)
  })

  test('can begin and end with a picture, and refer to others', async () => {
    const ai = clientWith()
    const image = { imageBytes: picture, mimeType: 'image/png' }
    const operation = await ai.models.generateVideos({
      model,
      source: { prompt: 'a fox', image },
      config: { lastFrame: image, referenceImages: [{ image }] },
    })
    const { response } = await finished(ai, operation)
    expect(response?.generatedVideos).toHaveLength(1)
    const { body } = await gateway.admin(
      'GET',
      `/tasks/${operation.name!.replace(/.*\//, 'video_')}`,
    )
    expect(body.request).toMatchObject({ prompt: 'a fox', seconds: 8, images: 3 })
  })

  test('that is held back is an operation with an error', async () => {
    const ai = clientWith()
    const operation = await ai.models.generateVideos({
      model,
      source: { prompt: '[[sim:fail=content_policy]]' },
    })
    const { error, response } = await finished(ai, operation)
    expect(response).toBeUndefined()
    expect(error).toMatchObject({ code: 3, status: 'INVALID_ARGUMENT' })
  })
})

describe('an error', () => {
  const problemOf = async (work: () => unknown) => {
    const error = await thrownBy(work)
    expect(error).toBeInstanceOf(ApiError)
    const { status, message } = error as ApiError
    return { status, error: JSON.parse(message).error as Record<string, unknown> }
  }

  test.each([
    ['an unknown model', { model: 'nobody' }, 404, 'NOT_FOUND', 'model_not_found'],
    [
      'too long a video',
      { config: { durationSeconds: 60 } },
      400,
      'INVALID_ARGUMENT',
      'upstream_invalid_request',
    ],
    ['two videos', { config: { numberOfVideos: 2 } }, 400, 'INVALID_ARGUMENT', 'invalid_request'],
  ] as const)('for %s has the number its readers look for', async (_name, more, ...as) => {
    const [code, word, reason] = as
    const source = { prompt: 'a fox' }
    const ask = () => clientWith().models.generateVideos({ model, source, ...more })
    const { status, error } = await problemOf(ask)
    expect(status).toBe(code)
    expect(error).toMatchObject({ code, status: word, reason })
  })

  test('for a wrong token is one of its own kind', async () => {
    const ai = clientWith('sk-nobody-0123456789abcdefghijklmno')
    const { status, error } = await problemOf(() =>
      ai.models.generateVideos({ model, source: { prompt: 'a fox' } }),
    )
    expect([status, error['status']]).toEqual([401, 'UNAUTHENTICATED'])
  })
})

test('models are listed, with what they can do', async () => {
  const found = []
  for await (const each of await clientWith().models.list()) found.push(each)
  expect(found.find(({ name }) => name === `models/${model}`)).toMatchObject({
    supportedActions: ['predictLongRunning'],
  })
})
