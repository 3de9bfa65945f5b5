// Creating a video, from the caller's fields to what an upstream is sent, and cancelling it again.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { form, json, newVideoApp, type VideoApp } from './test-app.ts'

interface Sent {
  model: string
  input: { prompt?: string; media?: { type: string; url: string }[] }
  parameters: Record<string, unknown>
}

let app: VideoApp
let sent: Sent[] = []
let upstreamTasks = 0

/** Takes every create, and cancels whatever it is asked to. */
async function answerUpstream(request: Request): Promise<Response> {
  if (request.url.endsWith('/cancel')) return Response.json({ request_id: 'r-2' })
  sent.push((await request.json()) as Sent)
  upstreamTasks++
  const output = { task_status: 'PENDING', task_id: `up-${upstreamTasks}` }
  return Response.json({ output, request_id: 'r-1' })
}

beforeAll(async () => {
  app = await newVideoApp(answerUpstream)
})
beforeEach(() => {
  sent = []
})
afterAll(() => app.close())

test('a prompt in JSON becomes a task that can be looked at', async () => {
  const fields = {
    model: 'vfb-1.1-t2v',
    prompt: 'a boat',
    seconds: '8',
    seed: 42,
    size: '720x1280',
  }
  const { status, headers, body } = await app.askJson('POST', '', json(fields))
  expect([status, body.error ?? null]).toEqual([200, null])
  expect(body).toMatchObject({
    video_id: body['id'],
    status: 'queued',
    seconds: '8',
    resolution: '720p',
    size: '720x1280',
    request_id: headers.get('x-gateway-request-id'),
  })
  expect(body['id']).toMatch(/^video_[0-9a-f]{32}$/)
  expect([headers.get('retry-after'), headers.get('openai-poll-after-ms')]).toEqual(['2', '2000'])
  expect(sent).toHaveLength(1)
  expect(sent[0]).toMatchObject({ input: { prompt: 'a boat' }, parameters: { seed: 42 } })
  const seen = await app.askJson('GET', `/${body['id']}`)
  expect([seen.status, seen.body['id']]).toEqual([200, body['id']])
})

test('a form says the same as JSON, digits being numbers', async () => {
  const fields = { model: 'vfa-2.7-r2v', prompt: 'a boat', seconds: 4, seed: 7 }
  const image = 'https://pictures.example/a.png'
  const clips = ['https://videos.example/a.mp4', 'https://videos.example/b.mp4']
  await app.ask(
    'POST',
    '',
    json({ ...fields, input_reference: { image_url: image }, references: { video: clips } }),
  )
  const answer = await app.askJson(
    'POST',
    '',
    form([
      ...Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]),
      ['input_reference[image_url]', image],
      ...clips.map((clip): [string, string] => ['references[video][]', clip]),
    ]),
  )
  expect([answer.status, answer.body['seconds']]).toEqual([200, '4'])
  expect(sent).toHaveLength(2)
  expect(sent[1]!).toEqual(sent[0]!)
  expect(JSON.stringify(sent[0])).toContain(clips[1]!)
})

test('a file of a form goes on as a data URI', async () => {
  const file = new File([new Uint8Array([1, 2, 3])], 'a.png', { type: 'image/png' })
  const { status } = await app.askJson(
    'POST',
    '',
    form([
      ['model', 'vfb-1.1-i2v'],
      ['input_reference', file],
    ]),
  )
  expect(status).toBe(200)
  expect(JSON.stringify(sent)).toContain('data:image/png;base64,AQID')
})

test.each<[RequestInit, number, string]>([
  [json({ model: 'vfb-1.1-t2v', prompt: 'x', seconds: 2 }), 400, 'invalid_duration'],
  [json({ model: 'vfb-1.1-t2v', prompt: 'x', seed: '42' }), 400, 'invalid_seed'],
  [json({ model: 'vfb-1.1-t2v', prompt: 'x', resolution: '1080P' }), 400, 'invalid_resolution'],
  [json({ model: 'no-such', prompt: 'x' }), 404, 'model_not_found'],
  [json({ model: 'vfb-1.1-t2v-720p', prompt: 'x' }), 404, 'model_not_found'],
  [form([['prompt', 'x']]), 400, 'invalid_request'],
  [form([['prompt', 'x'.repeat(100_001)]]), 413, 'request_too_large'],
  [{ body: '{', headers: { 'content-type': 'application/json' } }, 400, 'invalid_json'],
  [{ body: 'a=b', headers: { 'content-type': 'text/plain' } }, 415, 'unsupported_media_type'],
])('what is wrong is refused and sent nowhere (case %#)', async (init, status, code) => {
  const answer = await app.askJson('POST', '', init)
  expect([answer.status, answer.body.error?.code]).toEqual([status, code])
  expect(sent).toEqual([])
})

test('DELETE of one that waits cancels it and leaves it in sight', async () => {
  const { body } = await app.askJson('POST', '', json({ model: 'vfa-2.7-t2v', prompt: 'a boat' }))
  const cancelled = await app.askJson('DELETE', `/${body['id']}`)
  expect([cancelled.status, cancelled.body['status']]).toEqual([200, 'cancelled'])
  expect(cancelled.headers.get('retry-after')).toBeNull()
  expect((await app.askJson('GET', `/${body['id']}`)).body['status']).toBe('cancelled')
  const again = await app.askJson('DELETE', `/${body['id']}`)
  expect(again.body).toEqual({ id: body['id'], object: 'video.deleted', deleted: true })
})
