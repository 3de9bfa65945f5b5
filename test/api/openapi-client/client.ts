// A program written against the types that were generated from /openapi.json: it asks every interface.
// Its own tsconfig finds the types; what it does not compile with is not what the document says.

import createClient from 'openapi-fetch'
import type { paths as adminPaths } from '#admin'
import type { paths } from '#data'

/** What came of each call, by name. */
export type Outcomes = Record<string, { status: number; data: unknown }>

interface Place {
  url: string
  token: string
  adminToken: string
}

const pauseMs = 200
const maxPolls = 150

async function until<T>(poll: () => Promise<T>, isOver: (seen: T) => boolean): Promise<T> {
  for (let polls = 0; polls < maxPolls; polls++) {
    const seen = await poll()
    if (isOver(seen)) return seen
    await new Promise((go) => setTimeout(go, pauseMs))
  }
  throw new Error('it does not end')
}

export async function askEverything({ url, token, adminToken }: Place): Promise<Outcomes> {
  const bearer = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } })
  const data = createClient<paths>({ baseUrl: url, ...bearer(token) })
  const outcomes: Outcomes = {}
  const note = <T>(name: string, got: { data?: T; error?: unknown; response: Response }): T => {
    outcomes[name] = { status: got.response.status, data: got.data }
    if (got.data === undefined) throw new Error(`${name}: ${JSON.stringify(got.error)}`)
    return got.data
  }
  const parts = [askTexts, askPictures, askVideos, askOperations]
  await Promise.all(parts.map((ask) => ask(data, note)))
  note('listModels', await data.GET('/v1/models'))
  const model = { params: { path: { id: 'txta-plus' } } }
  const { id }: { id: string } = note('getModel', await data.GET('/v1/models/{id}', model))
  outcomes['id of the model'] = { status: 200, data: id }
  note('getUsage', await data.GET('/gateway/v1/usage', { params: { query: { by: 'model,unit' } } }))
  note('getBills', await data.GET('/gateway/v1/bills'))
  note('listKeys', await data.GET('/gateway/v1/keys'))
  const admin = createClient<adminPaths>({ baseUrl: url, ...bearer(adminToken) })
  const accounts = note('listAccounts', await admin.GET('/admin/v1/accounts'))
  // With `format` it would be a file.
  if (typeof accounts === 'string') throw new Error('a file, although a page was asked for')
  const balance: string | undefined = accounts.items[0]?.balance
  outcomes['balance'] = { status: 200, data: balance }
  return outcomes
}

type Data = ReturnType<typeof createClient<paths>>
type Note = <T>(name: string, got: { data?: T; error?: unknown; response: Response }) => T

async function askTexts(data: Data, note: Note): Promise<void> {
  const messages = [{ role: 'user', content: 'Say hello.' }]
  const model = 'txta-plus'
  const chat = note('chat', await data.POST('/v1/chat/completions', { body: { model, messages } }))
  if (typeof chat === 'string') throw new Error('a stream came')
  const said: string | null | undefined = chat.choices[0]?.message.content
  if (typeof said !== 'string') throw new Error('nothing was said')
  const stream = await data.POST('/v1/chat/completions', {
    body: { model, messages, stream: true },
    parseAs: 'text',
  })
  note('chat stream', stream)
  note('responses', await data.POST('/v1/responses', { body: { model, input: 'Say hello.' } }))
  const asked = { model, messages, max_tokens: 32 }
  const version = { header: { 'msgapi-version': '2023-06-01' } }
  note('messages', await data.POST('/v1/messages', { body: asked, params: version }))
  const counted = note(
    'count',
    await data.POST('/v1/messages/count_tokens', { body: { model, messages } }),
  )
  if (counted.input_tokens < 1) throw new Error('nothing was counted')
  const texts = { model: 'txta-embed', input: ['one', 'two'], dimensions: 4 }
  note('embeddings', await data.POST('/v1/embeddings', { body: texts }))
}

async function askPictures(data: Data, note: Note): Promise<void> {
  const drawn = note(
    'images',
    await data.POST('/v1/images/generations', {
      body: { model: 'imga-plus', prompt: 'a boat', size: '64x64', response_format: 'b64_json' },
      params: { header: { 'Idempotency-Key': 'a-boat' } },
    }),
  )
  if (drawn.data[0]?.b64_json === undefined) throw new Error('no picture came')
  note(
    'image edit',
    await data.POST('/v1/images/edits', {
      body: {
        model: 'imga-edit',
        prompt: 'at night',
        images: [{ image_url: 'https://example.com/a.png' }],
      },
    }),
  )
  const path = '/imgvendor/v1/images/generations'
  const made = note(
    'image task',
    await data.POST(path, { body: { model_name: 'imgvendor-v1', prompt: 'a boat' } }),
  )
  const id = made.data.task_id
  const task = await until(
    async () =>
      note('image task look', await data.GET(`${path}/{id}`, { params: { path: { id } } })),
    ({ data: { task_status } }) => task_status === 'succeed' || task_status === 'failed',
  )
  if (task.data.task_result?.images[0]?.url === undefined) throw new Error('no picture came')
  note('image tasks', await data.GET(path, { params: { query: { pageSize: 5 } } }))
}

async function askVideos(data: Data, note: Note): Promise<void> {
  const made = note(
    'video',
    await data.POST('/v1/videos', {
      body: { model: 'vfb-1.1-t2v', prompt: 'a boat', seconds: 3, resolution: '720p' },
    }),
  )
  const named = { params: { path: { id: made.id } } }
  const seen = await until(
    async () => note('video look', await data.GET('/v1/videos/{id}', named)),
    ({ status }) => status === 'completed' || status === 'failed' || status === 'cancelled',
  )
  if (seen.url === undefined) throw new Error('no video came')
  const file = await data.GET('/v1/videos/{id}/content', { ...named, parseAs: 'arrayBuffer' })
  note('video file', file as unknown as { data: unknown; response: Response })
  note('videos', await data.GET('/v1/videos', { params: { query: { limit: 5, order: 'desc' } } }))
  note('video deleted', await data.DELETE('/v1/videos/{id}', named))
}

async function askOperations(data: Data, note: Note): Promise<void> {
  const path = '/arkvendor/api/v3/contents/generations/tasks'
  const { id } = note(
    'native task',
    await data.POST(path, {
      body: { model: 'vidmodel-1-0-pro', content: [{ type: 'text', text: 'a boat' }], seed: 7 },
    }),
  )
  const named = { params: { path: { id } } }
  await until(
    async () => note('native look', await data.GET(`${path}/{id}`, named)),
    ({ status }) => status !== 'queued' && status !== 'running',
  )
  note('native list', await data.GET(path, { params: { query: { 'filter.status': 'succeeded' } } }))
  const begun = note(
    'operation',
    await data.POST('/vendorg/{version}/models/{model}:predictLongRunning', {
      params: { path: { version: 'v1beta', model: 'vendorg-video-1' } },
      body: { instances: [{ prompt: 'a boat' }], parameters: { durationSeconds: 4 } },
    }),
  )
  const operation = { version: 'v1beta', id: begun.name.replace('operations/', '') }
  const poll = '/vendorg/{version}/operations/{id}'
  const done = await until(
    async () => note('operation look', await data.GET(poll, { params: { path: operation } })),
    (seen) => seen.done,
  )
  const samples = done.response?.generateVideoResponse.generatedSamples ?? []
  if (samples[0]?.video.uri === undefined) throw new Error('no video came')
}
