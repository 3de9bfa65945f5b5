// Videos with the `ai` SDK. Of the providers in this repository one makes videos: that of
// long-running operations. It starts with a key of its own, asks by the operation's name and fetches
// the file by an address into which it writes the token.
import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  APICallError,
  experimental_generateVideo as generateVideo,
  experimental_getVideoStatus as getVideoStatus,
  experimental_startVideo as startVideo,
} from 'ai'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { accountOf, until } from '../support/read.ts'
import { readTasks } from '../support/task-books.ts'
import { picture, thrownBy } from './stage.ts'

const model = 'vendorg-video-1'
const brokeToken = 'sk-broke-0123456789abcdefghijklmnop'
const config = `
accounts: [{ name: acme, balance: "100.00" }, { name: empty, balance: "0.00" }]
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: empty, name: broke, token: ${brokeToken} }
`
const poll = { intervalMs: 50, timeoutMs: 20_000 }

let gateway: TestGateway
// It writes down what a model cannot do, each time it is asked to.
const warn = spyOn(console, 'warn').mockImplementation(() => {})
beforeAll(async () => {
  gateway = await startGateway({ config, env: { GATEWAY_SANDBOX_TASK_SECONDS: '0.2' } })
})
afterAll(async () => {
  warn.mockRestore()
  expect(await gateway.stop()).toBe(0)
})

interface Sent {
  path: string
  headers: Headers
}

/** A model of the provider, and what it sends. */
function filming(name = model, apiKey = apiToken) {
  const sent: Sent[] = []
  const provider = createGoogle({
    apiKey,
    baseURL: `${gateway.url}/vendorg/v1beta`,
    fetch: Object.assign(
      (input: Parameters<typeof fetch>[0], init?: RequestInit) => {
        const headers = new Headers(init?.headers as Record<string, string>)
        sent.push({ path: new URL(String(input)).pathname, headers })
        return fetch(input, init)
      },
      { preconnect: fetch.preconnect },
    ),
  })
  return { video: provider.video(name), sent }
}

/** Its own refuses addresses of this machine, whatever their names. */
async function download({ url }: { url: URL }) {
  const answer = await fetch(url)
  expect(answer.status).toBe(200)
  const mediaType = answer.headers.get('content-type') ?? undefined
  return { data: await answer.bytes(), mediaType }
}

const ftyp = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(4, 8)).toString()

describe('a video', () => {
  test('is asked for, waited for and downloaded in one call, and paid for once', async () => {
    const before = await accountOf(gateway)
    const { video: film, sent } = filming()
    const { video, videos, responses } = await generateVideo({
      model: film,
      prompt: 'a fox in the snow',
      aspectRatio: '9:16',
      resolution: '1280x720',
      duration: 4,
      poll,
      download,
    })
    expect([videos.length, video.mediaType, ftyp(video.uint8Array)]).toEqual([
      1,
      'video/mp4',
      'ftyp',
    ])
    expect(responses[0]?.headers?.['x-gateway-request-id']).toMatch(/^req_/)
    const [create, ...polls] = sent
    expect(create?.path).toBe(`/vendorg/v1beta/models/${model}:predictLongRunning`)
    expect(create?.headers.get('idempotency-key')).toStartWith('aisdk_vid_')
    expect(polls.every(({ path }) => path.startsWith('/vendorg/v1beta/operations/'))).toBe(true)
    const [task] = await readTasks(gateway)
    expect(task).toMatchObject({
      state: 'succeeded',
      charge: '4.00',
      request: { prompt: 'a fox in the snow', seconds: 4, resolution: '720p', ratio: '9:16' },
    })
    const after = await accountOf(gateway)
    expect(Number(before.balance) - Number(after.balance)).toBeCloseTo(4)
    expect(after.held).toBe('0.00')
  })

  test('can be started and looked at later, and begins and ends with a picture', async () => {
    const { video: film } = filming()
    const image = Buffer.from(picture, 'base64')
    const { operation } = await startVideo({
      model: film,
      prompt: 'a fox',
      frameImages: [
        { image, frameType: 'first_frame' },
        { image, frameType: 'last_frame' },
      ],
    })
    const done = await until('the end of the video', async () => {
      const status = await getVideoStatus(film, { operation })
      return status.status === 'pending' ? undefined : status
    })
    if (done.status !== 'completed') throw new Error(JSON.stringify(done))
    const [first] = done.videos
    if (first?.type !== 'url') throw new Error('there is no address')
    expect(new URL(first.url).origin).toBe(gateway.url)
    expect(ftyp(await (await fetch(first.url)).bytes())).toBe('ftyp')
    const [task] = await readTasks(gateway)
    expect(task?.request).toMatchObject({ prompt: 'a fox', images: 2 })
  })

  test('that is started twice by one key is made once', async () => {
    const { video: film } = filming()
    const tasks = (await readTasks(gateway)).length
    const input = {
      model: film,
      prompt: 'a fox, once',
      headers: { 'idempotency-key': 'one-and-the-same' },
    }
    const [first, second] = [await startVideo(input), await startVideo(input)]
    expect(second.operation).toEqual(first.operation)
    expect((await readTasks(gateway)).length).toBe(tasks + 1)
  })

  test('that is held back is an error with its reason', async () => {
    const { video: film } = filming()
    const error = await thrownBy(() =>
      generateVideo({ model: film, prompt: '[[sim:fail=content_policy]]', poll, maxRetries: 0 }),
    )
    expect(String(error)).toContain('usage guidelines')
    const [task] = await readTasks(gateway)
    expect([task?.state, task?.charge]).toEqual(['failed', '0.00'])
  })
})

describe('an error', () => {
  test.each([
    ['an unknown model', 'nobody', apiToken, {}, 404],
    ['too long a video', model, apiToken, { duration: 60 }, 400],
    ['two videos at once', model, apiToken, { n: 2 }, 400],
    ['a wrong token', model, 'sk-nobody-0123456789abcdefghijklmno', {}, 401],
    ['an account without money', model, brokeToken, {}, 402],
  ] as const)('for %s is one of its own kind', async (_name, name, token, more, status) => {
    const { video: film, sent } = filming(name, token)
    const error = await thrownBy(() =>
      generateVideo({ model: film, prompt: 'a fox', poll, maxRetries: 2, ...more }),
    )
    expect(APICallError.isInstance(error)).toBe(true)
    const { statusCode, message, isRetryable } = error as APICallError
    expect([statusCode, isRetryable]).toEqual([status, false])
    expect(message).toMatch(/\(req_[0-9a-f]{32}\)$/)
    expect(sent).toHaveLength(1)
  })
})

test('the other providers of this repository have no videos to ask for', () => {
  const others = [
    createOpenAI({ apiKey: apiToken }),
    createOpenAICompatible({ name: 'gateway', baseURL: `${gateway.url}/v1` }),
  ]
  for (const provider of others) expect('videoModel' in provider).toBe(false)
})
