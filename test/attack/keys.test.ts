// Keys that an upstream could read otherwise than the gateway: given twice, in another case, or in
// letters that fold into those of a field. None of them may reach an upstream, on any interface.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({ env: { GATEWAY_SANDBOX_TASK_SECONDS: '0' } })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

const post = async (path: string, body: string | FormData) => {
  const json = typeof body === 'string' && { 'content-type': 'application/json' }
  const answer = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiToken}`, ...json },
    body,
  })
  const { error } = (await answer.json()) as { error?: { code: string; param: string } }
  return { status: answer.status, code: error?.code, param: error?.param }
}

const refused = (param: string) => ({ status: 400, code: 'invalid_request', param })

const hello = '"messages":[{"role":"user","content":"hello"}]'
const chat = '/v1/chat/completions'
const native = '/arkvendor/api/v3/contents/generations/tasks'
const operation = '/vendorg/v1beta/models/vendorg-video-1:predictLongRunning'
const images = '/imgvendor/v1/images/generations'
const generate = '/vendorg/v1beta/models/txta-plus:generateContent'
const embed = '/vendorg/v1beta/models/txta-embed:embedContent'
const ping = '"contents":[{"role":"user","parts":[{"text":"hello"}]}]'

const cases: [path: string, body: string, param: string][] = [
  [chat, `{"model":"txta-turbo","Model":"txta-plus",${hello}}`, 'model'],
  [chat, `{"model":"txta-turbo","MODEL":"txta-plus",${hello}}`, 'model'],
  [chat, `{"model":"txta-turbo","model":"txta-plus",${hello}}`, 'model'],
  [chat, `{"model":"txta-turbo","mod\\u0065l":"txta-plus",${hello}}`, 'model'],
  [chat, `{"mod\\u0065l":"txta-turbo","\\u006dodel":"txta-plus",${hello}}`, 'model'],
  [chat, `{"model":"txta-turbo","M\\u004fDEL":"txta-plus",${hello}}`, 'model'],
  [chat, `{"model":"txta-plus","ſtream":true,${hello}}`, 'stream'],
  [chat, `{"model":"txta-plus","\\u017ftream":true,${hello}}`, 'stream'],
  [chat, `{"model":"txta-plus","max_to\u212aens":9,"max_tokens":1,${hello}}`, 'max_tokens'],
  [chat, `{"model":"txta-plus","ｎ":9,${hello}}`, 'n'],
  [chat, `{"model":"txta-plus","MAX_TOKENS":9,"max_tokens":1,${hello}}`, 'max_tokens'],
  [chat, `{"model":"txta-plus","n":128,"n":1,${hello}}`, 'n'],
  [chat, `{"model":"txta-plus",${hello},${hello}}`, 'messages'],
  [chat, `{"model":"txta-plus","N":9,${hello}}`, 'n'],
  [chat, `{"model":"txta-plus","Service_Tier":"priority",${hello}}`, 'service_tier'],
  [
    chat,
    `{"model":"txta-plus","stream_options":{"include_usage":true,"Include_Usage":false},${hello}}`,
    'stream_options.include_usage',
  ],
  [
    chat,
    `{"model":"txta-plus","stream_options":{"include_usage":true,"include_usage":false},${hello}}`,
    'stream_options.include_usage',
  ],
  [
    chat,
    '{"model":"txta-plus","messages":[{"role":"user","content":"a","Content":"b"}]}',
    'messages[0].content',
  ],
  [
    chat,
    '{"model":"txta-plus","messages":[{"role":"user","content":"a"},{"role":"user","role":"tool"}]}',
    'messages[1].role',
  ],
  [
    chat,
    '{"model":"txta-vl-plus","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a.invalid/1","URL":"https://a.invalid/2"}}]}]}',
    'messages[0].content[0].image_url.url',
  ],
  [
    chat,
    `{"model":"txta-plus",${hello},"tools":[{"type":"function","function":{"name":"f","name":"g"}}]}`,
    'tools[0].function.name',
  ],
  [chat, `{"model":"txta-plus",${hello},"metadata":{"a":{"b":1,"b":2}}}`, 'metadata.a.b'],
  ['/v1/responses', '{"model":"txta-plus","input":"a","Background":true}', 'background'],
  [generate, `{"model":"models/txta-turbo",${ping}}`, 'model'],
  [generate, `{"Model":"models/txta-plus",${ping}}`, 'model'],
  [generate, `{${ping},${ping}}`, 'contents'],
  [generate, `{"generationConfig":{},"generation_config":{},${ping}}`, 'generationConfig'],
  [generate, `{"GenerationConfig":{},${ping}}`, 'generationConfig'],
  [
    generate,
    `{"generationConfig":{"maxOutputTokens":1,"max_output_tokens":9},${ping}}`,
    'generationConfig.maxOutputTokens',
  ],
  [
    generate,
    `{"generationConfig":{"maxOutputTokens":1,"maxOutputTokens":9},${ping}}`,
    'generationConfig.maxOutputTokens',
  ],
  [
    generate,
    `{"generationConfig":{"maxOutputTokens":1,"maxOutputTo\u212aens":9},${ping}}`,
    'generationConfig.maxOutputTokens',
  ],
  [
    generate,
    `{"generation_config":{"Candidate_Count":9},${ping}}`,
    'generation_config.candidate_count',
  ],
  [generate, `{"tools":[{"Google_Search":{}}],${ping}}`, 'tools[0].google_search'],
  [generate, `{"CachedContent":"cachedContents/a",${ping}}`, 'cachedContent'],
  [
    generate,
    '{"contents":[{"parts":[{"text":"a","FileData":{"fileUri":"files/a"}}]}]}',
    'contents[0].parts[0].fileData',
  ],
  [embed, '{"content":{"parts":[{"text":"a"}]},"Model":"models/txta-plus"}', 'model'],
  [
    '/vendorg/v1/models/txta-embed:batchEmbedContents',
    '{"requests":[{"content":{"parts":[{"text":"a"}]},"model":"models/txta-plus"}]}',
    'requests[0].model',
  ],
  [
    '/v1/responses',
    '{"model":"txta-plus","input":"a","Previous_Response_Id":"resp_1"}',
    'previous_response_id',
  ],
  [
    '/v1/responses',
    '{"model":"txta-plus","input":[{"role":"user","content":"a","Type":"item_reference"}]}',
    'input[0].type',
  ],
  [
    '/v1/responses',
    '{"model":"txta-plus","input":"a","reasoning":{"Effort":"high"}}',
    'reasoning.effort',
  ],
  ['/v1/messages', `{"model":"txta-plus","max_tokens":5,"Max_Tokens":5000,${hello}}`, 'max_tokens'],
  ['/v1/messages/count_tokens', `{"model":"txta-plus","Model":"txta-turbo",${hello}}`, 'model'],
  [
    '/v1/messages',
    '{"model":"txta-plus","max_tokens":5,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"a","Text":"b"}]}]}]}',
    'messages[0].content[0].content[0].text',
  ],
  ['/v1/embeddings', '{"model":"txta-embed","input":"a","Input":"b"}', 'input'],
  ['/v1/embeddings', '{"model":"txta-embed","input":"a","input":"b"}', 'input'],
  ['/v1/images/generations', '{"model":"imga-plus","prompt":"a","n":1,"N":4}', 'n'],
  ['/v1/images/edits', '{"model":"imga-edit","prompt":"a","Images":[]}', 'images'],
  ['/v1/videos', '{"model":"vfb-1.1-t2v","prompt":"a","Seconds":15}', 'seconds'],
  ['/v1/videos', '{"model":"vfb-1.1-t2v","prompt":"a","seconds":3,"seconds":15}', 'seconds'],
  [
    '/v1/videos',
    '{"model":"vfb-1.1-i2v","prompt":"a","input_reference":{"Image_URL":"https://a.invalid/1.png"}}',
    'input_reference.image_url',
  ],
  [
    '/v1/videos',
    '{"model":"vfa-2.7-r2v","prompt":"a","references":{"video":[],"Video":[]}}',
    'references.video',
  ],
  [
    native,
    '{"model":"vidmodel-1-0-pro","content":[{"type":"text","text":"a"}],"duration":2,"Duration":12}',
    'duration',
  ],
  [
    native,
    '{"model":"vidmodel-1-0-pro","content":[{"type":"text","text":"a"}],"reſolution":"1080p"}',
    'resolution',
  ],
  [
    native,
    '{"model":"vidmodel-1-0-pro","content":[{"type":"text","text":"a","Text":"--rs 1080p"}]}',
    'content[0].text',
  ],
  [operation, '{"instances":[{"prompt":"a","Prompt":"b"}]}', 'instances[0].prompt'],
  [
    operation,
    '{"instances":[{"prompt":"a"}],"parameters":{"durationSeconds":4,"durationseconds":8}}',
    'parameters.durationSeconds',
  ],
  [
    operation,
    '{"instances":[{"prompt":"a"}],"parameters":{"durationSeconds":4},"parameters":{}}',
    'parameters',
  ],
  [images, '{"model_name":"imgvendor-v1","prompt":"a","n":1,"N":9}', 'n'],
  [images, '{"model_name":"imgvendor-v1","Model_Name":"imgvendor-v2","prompt":"a"}', 'model_name'],
  [
    images,
    '{"model_name":"imgvendor-v1","prompt":"a","watermark_info":{"enabled":true,"Enabled":false}}',
    'watermark_info.enabled',
  ],
]

test.each(cases)('POST %s %s is refused with the field’s name', async (path, body, param) => {
  expect(await post(path, body)).toEqual(refused(param))
})

describe('a form', () => {
  const form = (...fields: [string, string][]) => {
    const data = new FormData()
    for (const [name, value] of fields) data.append(name, value)
    return data
  }

  test.each(['model', 'prompt', 'seconds', 'size', 'seed'])(
    'that gives %s twice is refused',
    async (name) => {
      const body = form(['model', 'vfb-1.1-t2v'], ['prompt', 'a'], [name, '3'], [name, '4'])
      expect(await post('/v1/videos', body)).toEqual(refused(name))
    },
  )

  test('that gives a field in another case is refused', async () => {
    const body = form(['model', 'vfb-1.1-t2v'], ['prompt', 'a'], ['Seconds', '15'])
    expect(await post('/v1/videos', body)).toEqual(refused('seconds'))
    const edit = form(['model', 'imga-edit'], ['prompt', 'a'], ['N', '4'])
    expect(await post('/v1/images/edits', edit)).toEqual(refused('n'))
  })
})

describe('keys that are the caller’s own', () => {
  test('may differ in case only: in schemas, arguments and metadata', async () => {
    const properties = { id: { type: 'string' }, ID: { type: 'string' }, Model: { type: 'string' } }
    const body = {
      model: 'txta-plus',
      messages: [
        { role: 'user', content: 'hello' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1,"a":2}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c', content: '{"Model":1,"model":2}' },
      ],
      tools: [
        { type: 'function', function: { name: 'f', parameters: { type: 'object', properties } } },
      ],
      metadata: { key: 'a', Key: 'b', Model: 'c' },
      max_tokens: 5,
    }
    expect((await post(chat, JSON.stringify(body))).status).toBe(200)
    const messages = {
      model: 'txta-plus',
      max_tokens: 5,
      messages: [
        { role: 'user', content: 'hello' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 't', name: 'f', input: { id: 1, ID: 2, Type: 3 } }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'ok' }] },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object', properties } }],
    }
    expect((await post('/v1/messages', JSON.stringify(messages))).status).toBe(200)
  })

  test('may be spelled with escapes, once', async () => {
    const body = `{"mod\\u0065l":"txta-plus","max_t\\u006fkens":5,${hello}}`
    expect((await post(chat, body)).status).toBe(200)
  })

  test('may be many', async () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, i]))
    const body = JSON.stringify({ model: 'txta-plus', max_tokens: 5, metadata: many })
    expect((await post(chat, `${body.slice(0, -1)},${hello}}`)).status).toBe(200)
    const twice = `${body.slice(0, -2)},"k250":1},${hello}}`
    expect(await post(chat, twice)).toEqual(refused('metadata.k250'))
  })
})

test('the admin API takes no key twice', async () => {
  const admin = (body: string) =>
    fetch(`${gateway.url}/admin/v1/accounts`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer admin-token-for-tests-0123456789',
        'content-type': 'application/json',
      },
      body,
    })
  const answer = await admin('{"name":"twice","balance":"0.00","balance":"1000.00"}')
  const { error } = (await answer.json()) as { error: { code: string; param: string } }
  expect([answer.status, error.code, error.param]).toEqual([400, 'invalid_request', 'balance'])
})
