// Presets against an upstream that speaks as each provider documents it: with a preset and a key, calls
// arrive at the documented path with the documented header. Only the host is another one.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { presets } from '../../src/providers/presets/index.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { errorOf } from '../support/read.ts'
import { type Captured, completion, jsonReply, startUpstream } from '../support/upstream.ts'

/** By preset: the endpoints as the provider's documentation writes them. */
const documented: Readonly<Record<string, readonly string[]>> = {
  openai: [
    'https://api.openai.com/v1/chat/completions',
    'https://api.openai.com/v1/responses',
    'https://api.openai.com/v1/embeddings',
    'https://api.openai.com/v1/images/generations',
    'https://api.openai.com/v1/moderations',
    'https://api.openai.com/v1/audio/speech',
    'https://api.openai.com/v1/audio/transcriptions',
  ],
  anthropic: ['https://api.anthropic.com/v1/messages'],
  google: [
    'https://generativelanguage.googleapis.com/v1beta/models/{model}:generateContent',
    'https://generativelanguage.googleapis.com/v1beta/openai/chat/completions',
    'https://generativelanguage.googleapis.com/v1beta/openai/embeddings',
  ],
  'azure-openai': [
    'https://RESOURCE.openai.azure.com/openai/v1/chat/completions',
    'https://RESOURCE.openai.azure.com/openai/v1/responses',
    'https://RESOURCE.openai.azure.com/openai/v1/embeddings',
    'https://RESOURCE.openai.azure.com/openai/v1/images/generations',
  ],
  mistral: [
    'https://api.mistral.ai/v1/chat/completions',
    'https://api.mistral.ai/v1/embeddings',
    'https://api.mistral.ai/v1/moderations',
    'https://api.mistral.ai/v1/audio/transcriptions',
  ],
  deepseek: [
    'https://api.deepseek.com/chat/completions',
    'https://api.deepseek.com/anthropic/v1/messages',
  ],
  xai: [
    'https://api.x.ai/v1/chat/completions',
    'https://api.x.ai/v1/responses',
    'https://api.x.ai/v1/images/generations',
  ],
  cohere: [
    'https://api.cohere.ai/compatibility/v1/chat/completions',
    'https://api.cohere.ai/compatibility/v1/embeddings',
    'https://api.cohere.ai/v2/rerank',
  ],
  perplexity: ['https://api.perplexity.ai/chat/completions'],
  moonshot: [
    'https://api.moonshot.ai/v1/chat/completions',
    'https://api.moonshot.ai/v1/responses',
    'https://api.moonshot.ai/anthropic/v1/messages',
  ],
  'moonshot-cn': [
    'https://api.moonshot.cn/v1/chat/completions',
    'https://api.moonshot.cn/anthropic/v1/messages',
  ],
  zhipu: [
    'https://open.bigmodel.cn/api/paas/v4/chat/completions',
    'https://open.bigmodel.cn/api/anthropic/v1/messages',
    'https://open.bigmodel.cn/api/paas/v4/embeddings',
    'https://open.bigmodel.cn/api/paas/v4/images/generations',
  ],
  zai: [
    'https://api.z.ai/api/paas/v4/chat/completions',
    'https://api.z.ai/api/anthropic/v1/messages',
  ],
  minimax: [
    'https://api.minimax.io/v1/chat/completions',
    'https://api.minimax.io/v1/responses',
    'https://api.minimax.io/anthropic/v1/messages',
  ],
  'minimax-cn': [
    'https://api.minimaxi.com/v1/chat/completions',
    'https://api.minimaxi.com/v1/responses',
    'https://api.minimaxi.com/anthropic/v1/messages',
  ],
  dashscope: [
    'https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions',
    'https://dashscope.aliyuncs.com/apps/anthropic/v1/messages',
    'https://dashscope.aliyuncs.com/compatible-mode/v1/embeddings',
  ],
  'dashscope-intl': [
    'https://dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions',
    'https://dashscope-intl.aliyuncs.com/apps/anthropic/v1/messages',
    'https://dashscope-intl.aliyuncs.com/compatible-mode/v1/embeddings',
  ],
  volcengine: [
    'https://ark.cn-beijing.volces.com/api/v3/chat/completions',
    'https://ark.cn-beijing.volces.com/api/v3/responses',
    'https://ark.cn-beijing.volces.com/api/v3/embeddings',
    'https://ark.cn-beijing.volces.com/api/v3/images/generations',
  ],
  openrouter: [
    'https://openrouter.ai/api/v1/chat/completions',
    'https://openrouter.ai/api/v1/responses',
    'https://openrouter.ai/api/v1/messages',
    'https://openrouter.ai/api/v1/embeddings',
  ],
  groq: [
    'https://api.groq.com/openai/v1/chat/completions',
    'https://api.groq.com/openai/v1/responses',
    'https://api.groq.com/openai/v1/audio/speech',
    'https://api.groq.com/openai/v1/audio/transcriptions',
  ],
  together: [
    'https://api.together.ai/v1/chat/completions',
    'https://api.together.ai/v1/embeddings',
    'https://api.together.ai/v1/images/generations',
  ],
  fireworks: [
    'https://api.fireworks.ai/inference/v1/chat/completions',
    'https://api.fireworks.ai/inference/v1/responses',
    'https://api.fireworks.ai/inference/v1/messages',
    'https://api.fireworks.ai/inference/v1/embeddings',
  ],
  cerebras: ['https://api.cerebras.ai/v1/chat/completions'],
  nvidia: [
    'https://integrate.api.nvidia.com/v1/chat/completions',
    'https://integrate.api.nvidia.com/v1/embeddings',
  ],
  huggingface: [
    'https://router.huggingface.co/v1/chat/completions',
    'https://router.huggingface.co/v1/responses',
  ],
  deepinfra: [
    'https://api.deepinfra.com/v1/openai/chat/completions',
    'https://api.deepinfra.com/v1/openai/embeddings',
  ],
  novita: [
    'https://api.novita.ai/openai/v1/chat/completions',
    'https://api.novita.ai/anthropic/v1/messages',
    'https://api.novita.ai/openai/v1/embeddings',
  ],
  siliconflow: [
    'https://api.siliconflow.cn/v1/chat/completions',
    'https://api.siliconflow.cn/v1/messages',
    'https://api.siliconflow.cn/v1/embeddings',
    'https://api.siliconflow.cn/v1/rerank',
    'https://api.siliconflow.cn/v1/audio/speech',
    'https://api.siliconflow.cn/v1/audio/transcriptions',
  ],
  bedrock: ['https://bedrock-runtime.REGION.amazonaws.com/model/{model}/converse'],
  vertex: [
    'https://LOCATION-aiplatform.googleapis.com/v1/projects/…/locations/LOCATION/publishers/google/models/{model}:generateContent',
    'https://LOCATION-aiplatform.googleapis.com/v1/projects/…/locations/LOCATION/publishers/anthropic/models/{model}:rawPredict',
  ],
  'azure-entra': [
    'https://RESOURCE.openai.azure.com/openai/v1/chat/completions',
    'https://RESOURCE.openai.azure.com/openai/v1/responses',
    'https://RESOURCE.openai.azure.com/openai/v1/embeddings',
    'https://RESOURCE.openai.azure.com/openai/v1/images/generations',
  ],
  vllm: [
    'http://localhost:8000/v1/chat/completions',
    'http://localhost:8000/v1/responses',
    'http://localhost:8000/v1/messages',
    'http://localhost:8000/v1/embeddings',
    'http://localhost:8000/v1/rerank',
    'http://localhost:8000/v1/audio/transcriptions',
  ],
  ollama: [
    'http://localhost:11434/v1/chat/completions',
    'http://localhost:11434/v1/responses',
    'http://localhost:11434/v1/messages',
    'http://localhost:11434/v1/embeddings',
  ],
  'lm-studio': [
    'http://localhost:1234/v1/chat/completions',
    'http://localhost:1234/v1/responses',
    'http://localhost:1234/v1/messages',
    'http://localhost:1234/v1/embeddings',
  ],
  'llama-cpp': [
    'http://localhost:8080/v1/chat/completions',
    'http://localhost:8080/v1/messages',
    'http://localhost:8080/v1/embeddings',
    'http://localhost:8080/v1/rerank',
  ],
  sglang: [
    'http://localhost:30000/v1/chat/completions',
    'http://localhost:30000/v1/messages',
    'http://localhost:30000/v1/embeddings',
  ],
  kling: ['https://api-beijing.klingai.com/v1/images/generations'],
  'kling-global': ['https://api-singapore.klingai.com/v1/images/generations'],
  seedance: ['https://ark.cn-beijing.volces.com/api/v3/contents/generations/tasks'],
  veo: ['https://generativelanguage.googleapis.com/v1beta/models/{model}:predictLongRunning'],
  wan: ['https://dashscope.aliyuncs.com/api/v1/services/aigc/…'],
}

const usage = { input_tokens: 3, output_tokens: 2 }

/** The smallest answer that the documentation of each endpoint allows. */
function reply({ path, body }: Captured): Response {
  if (path.endsWith('/chat/completions')) {
    return jsonReply(completion({ prompt_tokens: 3, completion_tokens: 2 }))
  }
  if (path.endsWith('/responses')) {
    const output = [{ type: 'message', id: 'msg_1', role: 'assistant', content: [] }]
    return jsonReply({ id: 'resp_1', object: 'response', status: 'completed', output, usage })
  }
  if (path.endsWith('/messages')) {
    const content = [{ type: 'text', text: 'Hello.' }]
    return jsonReply({ id: 'msg_1', type: 'message', role: 'assistant', content, usage })
  }
  if (path.endsWith(':generateContent')) {
    const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2 }
    const content = { role: 'model', parts: [{ text: 'Hello.' }] }
    return jsonReply({ candidates: [{ content, finishReason: 'STOP' }], usageMetadata })
  }
  if (path.endsWith('/embeddings')) {
    const data = [{ object: 'embedding', index: 0, embedding: [0.5] }]
    return jsonReply({ object: 'list', data, usage: { prompt_tokens: 3, total_tokens: 3 } })
  }
  if (path.endsWith('/rerank')) return jsonReply({ results: [{ index: 0, relevance_score: 1 }] })
  if (path.endsWith('/moderations')) return jsonReply({ results: [{ flagged: false }] })
  if (path.endsWith('/transcriptions')) return jsonReply({ text: 'hi' })
  if (path.endsWith('/speech')) {
    return new Response('sound', { headers: { 'content-type': 'audio/mpeg' } })
  }
  if (path.endsWith('/models')) return jsonReply({ data: [{ id: 'Maker/New-Model:1' }] })
  if (path.endsWith('/contents/generations/tasks')) return jsonReply({ id: 'cgt-1' })
  if (path.endsWith(':predictLongRunning')) return jsonReply({ name: 'models/v/operations/o1' })
  if (path.includes('/services/aigc/')) {
    return jsonReply({ request_id: 'r', output: { task_id: 't-1', task_status: 'PENDING' } })
  }
  if (body.includes('kling-')) {
    const data = { task_id: 't-2', task_status: 'submitted', created_at: 1, updated_at: 1 }
    return jsonReply({ code: 0, message: 'SUCCEED', request_id: 'r', data })
  }
  if (path.includes('/images/')) return jsonReply({ created: 1, data: [{ b64_json: png }] })
  return jsonReply({ error: { message: 'no such path' } }, { status: 404 })
}
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

interface Call {
  path: string
  kind: string
  fields: object
}

const said = [{ role: 'user', content: 'hi' }]
const calls: Readonly<Record<string, Call>> = {
  chat: { path: '/v1/chat/completions', kind: 'text', fields: { messages: said } },
  responses: { path: '/v1/responses', kind: 'text', fields: { input: 'hi' } },
  messages: { path: '/v1/messages', kind: 'text', fields: { messages: said, max_tokens: 9 } },
  generate: { path: '', kind: 'text', fields: { contents: [{ parts: [{ text: 'hi' }] }] } },
  embeddings: { path: '/v1/embeddings', kind: 'embedding', fields: { input: 'hi' } },
  images: { path: '/v1/images/generations', kind: 'image', fields: { prompt: 'a fox' } },
  rerank: { path: '/v1/rerank', kind: 'rerank', fields: { query: 'hi', documents: ['hi'] } },
  moderations: { path: '/v1/moderations', kind: 'moderation', fields: { input: 'hi' } },
  speech: { path: '/v1/audio/speech', kind: 'speech', fields: { input: 'hi', voice: 'alloy' } },
  transcriptions: { path: '/v1/audio/transcriptions', kind: 'transcription', fields: {} },
}

const kinds = {
  text: ['chat', 'responses', 'messages', 'generate'],
  embedding: ['embeddings'],
  image: ['images'],
  rerank: ['rerank'],
  moderation: ['moderations'],
  speech: ['speech'],
  transcription: ['transcriptions'],
}
const modelOf = (preset: string, kind: string) => `${kind}-${preset}`
const speaking = [...presets.values()].filter(
  ({ group }) => group !== 'media' && group !== 'clouds',
)
const models = speaking.flatMap(({ name }) =>
  Object.entries(kinds).map(([kind, interfaces]) => ({
    name: modelOf(name, kind),
    kind,
    interfaces,
  })),
)

/** JSON is YAML. */
const config = JSON.stringify({
  region: 'eu',
  accounts: [{ name: 'acme', balance: '100.00' }],
  tokens: [{ account: 'acme', name: 'test', token: apiToken }],
  models,
  prices: models.map(({ name, kind }) =>
    kind === 'image'
      ? { model: name, unit: 'image', per_image: '0.01' }
      : { model: name, unit: 'token', per_million: { input: '1', output: '2' } },
  ),
})

const upstream = startUpstream(reply)
let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({ config, env: { GATEWAY_SANDBOX: 'off' } })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
})

test('every preset has the endpoints that its documentation writes', async () => {
  const { body } = await gateway.admin('GET', '/presets')
  const shown = body.items.map(({ name, endpoints }: { name: string; endpoints: object }) => [
    name,
    Object.values(endpoints),
  ])
  expect(Object.fromEntries(shown)).toEqual(documented)
  expect(presets.size).toBeGreaterThanOrEqual(25)
})

/** The header that carries the key, by protocol. */
function keyIn(protocol: string, name: string, headers: Headers): string | null {
  if (protocol === 'generate') return headers.get('x-goog-api-key')
  const auth = presets.get(name)?.messages?.auth ?? 'x-api-key'
  if (protocol !== 'messages' || auth === 'bearer') return headers.get('authorization')
  return headers.get('x-api-key')
}

function postForm(path: string, model: string): Promise<Response> {
  const body = new FormData()
  body.append('model', model)
  body.append('file', new Blob(['sound']), 'a.wav')
  const headers = { authorization: `Bearer ${apiToken}` }
  return fetch(`${gateway.url}${path}`, { method: 'POST', headers, body })
}

async function call(name: string, protocol: string): Promise<Captured> {
  const { path, kind, fields } = calls[protocol]!
  const model = modelOf(name, kind)
  const to = protocol === 'generate' ? `/vendorg/v1beta/models/${model}:generateContent` : path
  const sent = protocol === 'generate' ? fields : { model, ...fields }
  const before = upstream.calls.length
  const answer =
    protocol === 'transcriptions' ? await postForm(to, model) : await gateway.post(to, sent)
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
  return upstream.calls[before]!
}

describe('a preset and a key', () => {
  test.each(speaking.map((preset) => [preset.name, preset] as const))(
    '%s',
    async (name, preset) => {
      const key = `upk-${name}`
      const mapped = Object.keys(kinds).map((kind) => [modelOf(name, kind), `up/${kind}`])
      const { status, body } = await gateway.admin('POST', '/channels', {
        preset: name,
        base_url: upstream.url,
        ...(preset.keyless !== true && { keys: [key] }),
        models: Object.fromEntries(mapped),
      })
      expect([status, body.name, body.region, body.preset]).toEqual([201, name, 'eu', name])
      for (const [at, protocol] of Object.keys(preset.protocols).entries()) {
        const { path, headers, body: sent } = await call(name, protocol)
        const written = documented[name]![at]!
        const { kind } = calls[protocol]!
        const expected = new URL(written).pathname.replaceAll('%7Bmodel%7D', `up%2F${kind}`)
        expect([protocol, path.replace('{model}', `up%2F${kind}`)]).toEqual([protocol, expected])
        const carried = keyIn(protocol, name, headers)
        expect(carried?.replace('Bearer ', '')).toBe(preset.keyless === true ? 'none' : key)
        if (protocol === 'transcriptions') expect(sent).toContain(`\r\nup/${kind}\r\n`)
        else if (protocol !== 'generate') expect(JSON.parse(sent).model).toBe(`up/${kind}`)
      }
      if (preset.messages?.headers === 'anthropic') {
        const { headers } = await call(name, 'messages')
        expect(headers.get('anthropic-version')).toBe('2023-06-01')
        expect(headers.has('msgapi-version')).toBe(false)
      }
      await gateway.admin('DELETE', `/channels/${name}`)
    },
  )
})

interface MediaCall {
  path: string
  body: object
  at: string
  upstreamModel: string
  key?: string
}

const kling: MediaCall = {
  path: '/imgvendor/v1/images/generations',
  body: { model_name: 'imgvendor-v2', prompt: 'a fox' },
  at: '/v1/images/generations',
  upstreamModel: 'kling-v2',
  key: 'access-1|secret-1',
}
const made: Readonly<Record<string, MediaCall>> = {
  kling,
  'kling-global': kling,
  seedance: {
    path: '/arkvendor/api/v3/contents/generations/tasks',
    body: { model: 'vidmodel-1-0-pro', content: [{ type: 'text', text: 'a fox' }] },
    at: '/api/v3/contents/generations/tasks',
    upstreamModel: 'doubao-seedance-1-0-pro-250528',
  },
  veo: {
    path: '/vendorg/v1beta/models/vendorg-video-1:predictLongRunning',
    body: { instances: [{ prompt: 'a fox' }], parameters: { durationSeconds: 4 } },
    at: '/v1beta/models/veo-3.1-generate-preview:predictLongRunning',
    upstreamModel: 'veo-3.1-generate-preview',
  },
  wan: {
    path: '/v1/videos',
    body: { model: 'vfa-2.7-t2v', prompt: 'a fox' },
    at: '/api/v1/services/aigc/video-generation/video-synthesis',
    upstreamModel: 'wan2.7-t2v',
  },
}

test.each(Object.entries(made))('a preset and a key make media: %s', async (name, call) => {
  const key = call.key ?? `upk-${name}`
  const declared = { preset: name, base_url: upstream.url, keys: [key] }
  expect((await gateway.admin('POST', '/channels', declared)).status).toBe(201)
  const before = upstream.calls.length
  const answer = await gateway.post(call.path, call.body)
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
  const sent = upstream.calls[before]!
  expect(sent.path).toBe(call.at)
  expect(sent.path + sent.body).toContain(call.upstreamModel)
  const carried = sent.headers.get('x-goog-api-key') ?? sent.headers.get('authorization') ?? ''
  if (call.key === undefined) expect(carried.replace('Bearer ', '')).toBe(key)
  // A token that the secret signs.
  else expect(carried).toMatch(/^Bearer [\w-]+\.[\w-]+\.[\w-]+$/)
  await gateway.admin('DELETE', `/channels/${name}`)
})

test('Mistral, which refuses stream_options, gets none', async () => {
  const models = { [modelOf('mistral', 'text')]: 'mistral-large-latest' }
  const declared = { preset: 'mistral', base_url: upstream.url, keys: ['k'], models }
  expect((await gateway.admin('POST', '/channels', declared)).status).toBe(201)
  const model = modelOf('mistral', 'text')
  const before = upstream.calls.length
  const asked = [
    ['/v1/chat/completions', { messages: said }],
    ['/v1/chat/completions', { messages: said, stream_options: { include_usage: true } }],
    ['/v1/responses', { input: 'hi' }],
  ] as const
  for (const [path, fields] of asked) {
    const answer = await gateway.post(path, { model, stream: true, ...fields })
    expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
  }
  const sent = upstream.calls.slice(before).map(({ body }) => JSON.parse(body))
  expect(sent.map(({ stream }) => stream)).toEqual([true, true, true])
  expect(sent.map(({ stream_options = null }) => stream_options)).toEqual([null, null, null])
  await gateway.admin('DELETE', '/channels/mistral')
})

describe('what a person types', () => {
  const tryPreview = (body: object) => gateway.admin('POST', '/channels/preview', body)

  test('a preset alone fills in everything but the key', async () => {
    const { status, body } = await tryPreview({ preset: 'anthropic', keys: ['k'] })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      name: 'anthropic',
      region: 'eu',
      endpoints: { messages: 'https://api.anthropic.com/v1/messages' },
      models: { 'claude-*': '*' },
      training: 'no',
    })
    const { body: after } = await gateway.admin('GET', '/channels/anthropic')
    expect(after.error.code).toBe('not_found')
  })

  test.each([
    [{ preset: 'opanai', keys: ['k'] }, 'did you mean "openai"?'],
    [{ preset: 'openai' }, 'keys is missing'],
    [{ preset: 'azure-openai', keys: ['k'] }, 'in the form https://RESOURCE.openai.azure.com'],
    [
      { preset: 'vllm', base_url: 'http://10.0.0.5:8000/v2/x' },
      'because preset vllm adds the paths: write http://10.0.0.5:8000',
    ],
    [{ name: 'a', base_url: 'http://a.example', keys: ['k'] }, 'protocols is missing'],
  ])('%j is refused with what to write', async (body, says) => {
    const { status, body: answer } = await tryPreview(body)
    expect(status).toBe(400)
    expect(answer.error.message).toContain(says)
  })

  test.each([
    ['chat', '/v1/chat/completions', 'ends in /chat/completions', '/v1'],
    ['responses', '/v1/responses/', 'ends in /responses', '/v1'],
    ['messages', '/v1', 'ends in /v1', ''],
    ['messages', '/x/v1/messages', 'ends in /v1/messages', '/x'],
    ['generate', '/v1beta', 'ends in /v1beta', ''],
    ['generate', '/v1beta/models/m:generateContent', ':generateContent', ''],
    ['generate', '/v1beta/models/m:streamGenerateContent', ':streamGenerateContent', ''],
    ['embeddings', '/v1/embeddings', 'ends in /embeddings', '/v1'],
    ['images', '/v1/images/edits', 'ends in /images/edits', '/v1'],
    ['arkvendor', '/api/v3/contents/generations/tasks', '/contents/generations/tasks', '/api/v3'],
    ['vf', '/api/v1', 'ends in /api/v1', ''],
    ['chat', '/v1/models', 'ends in /models', '/v1'],
  ])(
    'an address of %s that ends in %s is refused with the right one',
    async (protocol, path, says, right) => {
      const { status, body } = await tryPreview({
        name: 'typed',
        keys: ['k'],
        protocols: { [protocol]: `https://up.example${path}` },
        models: { 'txta-plus': '*' },
      })
      expect(status).toBe(400)
      expect(body.error.message).toContain(says)
      expect(body.error.message).toContain(`write https://up.example${right} (`)
    },
  )

  test('an address of another protocol is told apart', async () => {
    const protocols = { chat: 'https://up.example/v1/messages' }
    const declared = { name: 'typed', keys: ['k'], protocols, models: { 'txta-plus': '*' } }
    const { body } = await tryPreview(declared)
    expect(body.error.message).toContain('protocol messages: write messages: https://up.example')
  })
})

test('models that an upstream has become models of the catalog, refused for want of a price', async () => {
  const declared = { preset: 'groq', keys: ['k'], base_url: upstream.url }
  const { body: made } = await gateway.admin('POST', '/channels', declared)
  expect(made.models).toEqual({})
  const { body } = await gateway.admin('POST', '/channels/groq/discover', { add: true })
  expect(body.added).toEqual([
    { name: 'new-model-1', upstream_model: 'Maker/New-Model:1', kind: 'text', priced: false },
  ])
  const { body: after } = await gateway.admin('GET', '/channels/groq')
  expect(after.models).toEqual({ 'new-model-1': 'Maker/New-Model:1' })
  const again = await gateway.admin('POST', '/channels/groq/discover', { add: true })
  expect(again.body.added).toEqual([])
  const refused = await gateway.chat('hi', { model: 'new-model-1' })
  expect(refused.status).toBe(404)
  expect(await errorOf(refused)).toMatchObject({ code: 'model_not_found' })
  const per_million = { input: '1', output: '2' }
  await gateway.admin('POST', '/prices', { model: 'new-model-1', unit: 'token', per_million })
  const served = await gateway.chat('hi', { model: 'new-model-1' })
  expect(served.status).toBe(200)
})
