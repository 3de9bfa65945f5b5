// Requests of the interfaces for ranking, moderation, sound, files, batches and background responses that must not
// be served: nothing goes upstream, nothing is charged, and the answer tells nothing of others or of the operator.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { soundOf } from '../../sandbox/audio/encode.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { accountOf, errorIn } from '../support/read.ts'
import { jsonReply, startUpstream } from '../support/upstream.ts'

const own = 'sk-own-0123456789abcdefghijklmnopqr'
const rival = 'sk-rival-0123456789abcdefghijklmnop'
const upstreamKey = 'upk-0123456789abcdef'
const kinds = { rank: 'rerank', judge: 'moderation', speak: 'speech', hear: 'transcription' }
const protocolOf: Readonly<Record<string, string>> = {
  rank: 'rerank',
  judge: 'moderations',
  speak: 'speech',
  hear: 'transcriptions',
  write: 'responses',
}

const upstream = startUpstream(() =>
  jsonReply({ id: 'resp_upstream', object: 'response', status: 'queued', output: [] }),
)
let gateway: TestGateway
const foreign: Record<string, string> = {}

const fetchAs = (
  token: string,
  method: string,
  path: string,
  body?: string | FormData,
): Promise<Response> =>
  fetch(gateway.url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
  })

const formOf = (fields: readonly (readonly [string, string | Blob])[]): FormData => {
  const form = new FormData()
  for (const [name, value] of fields) form.append(name, value)
  return form
}

const call = {
  custom_id: 'a',
  method: 'POST',
  url: '/v1/responses',
  body: { model: 'write', input: 'x' },
}
const inputFile = new File([`${JSON.stringify(call)}\n`], 'a.jsonl')

beforeAll(async () => {
  const models = Object.keys(protocolOf)
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: [
        { name: 'acme', balance: '1000' },
        { name: 'rival', balance: '1000' },
      ],
      tokens: [
        { account: 'acme', name: 'own', token: own },
        { account: 'rival', name: 'theirs', token: rival },
        { account: 'acme', name: 'narrow', token: `${own}-narrow`, models: ['write'] },
      ],
      models: models.map((name) => ({
        name,
        kind: kinds[name as keyof typeof kinds] ?? 'text',
        interfaces: [protocolOf[name]],
      })),
      prices: [
        ...['rank', 'speak', 'write'].map((model) => ({
          model,
          unit: 'token',
          per_million: { input: '1', output: '2' },
        })),
        { model: 'hear', unit: 'audio_second', per_minute: '1' },
        { model: 'judge', unit: 'free' },
      ],
      channels: models.map((name) => ({
        name: `channel-of-${name}`,
        keys: [upstreamKey],
        protocols: { [protocolOf[name]!]: `${upstream.url}/v1` },
        models: { [name]: 'upstream-name' },
      })),
    }),
    env: { GATEWAY_SANDBOX: 'off' },
  })
  const made = async (name: string, answer: Promise<Response>) => {
    const body = (await (await answer).json()) as { id: string }
    foreign[name] = body.id
  }
  const upload = () =>
    fetchAs(
      rival,
      'POST',
      '/v1/files',
      formOf([
        ['purpose', 'batch'],
        ['file', inputFile],
      ]),
    )
  await made('file', upload())
  const batch = {
    input_file_id: foreign['file'],
    endpoint: '/v1/responses',
    completion_window: '24h',
  }
  await made('batch', fetchAs(rival, 'POST', '/v1/batches', JSON.stringify(batch)))
  const later = { model: 'write', input: 'x', background: true }
  await made('response', fetchAs(rival, 'POST', '/v1/responses', JSON.stringify(later)))
  for (const what of ['file', 'batch', 'response']) expect(foreign[what]).toBeString()
  for (const path of [
    `/v1/batches/${foreign['batch']}/cancel`,
    `/v1/responses/${foreign['response']}/cancel`,
  ]) {
    await fetchAs(rival, 'POST', path)
  }
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
})

/** What was sent in the name of the account that attacks. */
const sentFor = () => upstream.calls.filter(({ body }) => body.includes('attack'))

afterEach(async () => {
  expect(sentFor()).toEqual([])
  expect(await accountOf(gateway)).toMatchObject({ balance: '1000.00', available: '1000.00' })
})

async function expectRefused(answer: Response, status: number, param: string | undefined) {
  const text = await answer.text()
  const error = errorIn(text)
  expect([answer.status, error.param ?? undefined, text]).toEqual([status, param, text])
  for (const secret of [
    upstreamKey,
    upstream.url,
    'channel-of',
    'upstream-name',
    'rival',
    'theirs',
    'resp_upstream',
  ]) {
    expect(text).not.toContain(secret)
  }
}

const rerank = { model: 'rank', query: 'attack', documents: ['a', 'b'] }
const judge = { model: 'judge', input: 'attack' }
const speak = { model: 'speak', input: 'attack', voice: 'a' }
const later = { model: 'write', input: 'attack', background: true }
const megabytes = (count: number) => 'x'.repeat(count * 1024 * 1024)
const plain = {
  '/v1/rerank': rerank,
  '/v1/moderations': judge,
  '/v1/audio/speech': speak,
  '/v1/responses': later,
} as const
const entries = Object.entries(plain) as [keyof typeof plain, Record<string, unknown>][]

describe.each(entries)('%s', (path, body) => {
  const post = (more: string) =>
    fetchAs(own, 'POST', path, `${JSON.stringify(body).slice(0, -1)}${more}}`)

  test.each(Object.keys(body))(
    'takes no field that is given twice or in another case: %s',
    async (name) => {
      await expectRefused(await post(`,"${name}":"write"`), 400, name)
      const cased = name[0]!.toUpperCase() + name.slice(1)
      await expectRefused(await post(`,"${cased}":"write"`), 400, name)
      const escaped = `\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}`
      await expectRefused(await post(`,"${escaped}":"write"`), 400, name)
    },
  )

  test.each(['{"__proto__":{"model":"judge"}}', '{"constructor":{"prototype":{}}}'])(
    'takes no prototype in a field of no style: %s',
    async (value) => expectRefused(await post(`,"x":${value}`), 400, undefined),
  )

  test('names no model that its token may not use, or that does something else', async () => {
    const other = path === '/v1/responses' ? 'rank' : 'write'
    await expectRefused(
      await fetchAs(own, 'POST', path, JSON.stringify({ ...body, model: other })),
      400,
      'model',
    )
    if (path === '/v1/responses') return
    await expectRefused(
      await fetchAs(`${own}-narrow`, 'POST', path, JSON.stringify(body)),
      404,
      'model',
    )
  })

  test('is not larger than a body may be', async () => {
    await expectRefused(await post(`,"user":"${megabytes(32)}"`), 413, undefined)
  })

  test('is no list, text, number or half of an object', async () => {
    for (const odd of ['[]', '"attack"', '1', 'null', '{"model":"rank"', '']) {
      expect((await fetchAs(own, 'POST', path, odd)).status).toBe(400)
    }
  })
})

type Row = [path: string, fields: object, status: number, param: string | undefined]

const kept = 'file-0123456789abcdef'
const rows: Row[] = [
  ['/v1/rerank', { ...rerank, documents: new Array(10_001).fill('a') }, 400, 'documents'],
  ['/v1/rerank', { ...rerank, documents: ['a', { file_id: kept }] }, 400, 'documents'],
  ['/v1/rerank', { ...rerank, top_n: -1 }, 400, 'top_n'],
  ['/v1/rerank', { ...rerank, previous_response_id: 'resp_1' }, 404, 'previous_response_id'],
  ['/v1/moderations', { ...judge, input: new Array(4_097).fill('a') }, 400, 'input'],
  [
    '/v1/moderations',
    { ...judge, input: [{ type: 'text', text: 'a', file_id: kept }] },
    404,
    'file_id',
  ],
  ['/v1/moderations', { ...judge, stream: true, n_predict: { a: 1 } }, 400, 'n_predict'],
  ['/v1/audio/speech', { ...speak, input: 'x'.repeat(1_000_000) }, 400, 'input'],
  ['/v1/audio/speech', { ...speak, input: '😀'.repeat(1_000_000) }, 400, 'input'],
  ['/v1/audio/speech', { ...speak, voice: { id: 'v', file_id: kept } }, 404, 'file_id'],
  ['/v1/audio/speech', { ...speak, speed: 1e9 }, 400, 'speed'],
  ['/v1/audio/speech', { ...speak, response_format: '../x' }, 400, 'response_format'],
  ['/v1/responses', { ...later, store: false }, 400, 'store'],
  [
    '/v1/responses',
    { ...later, previous_response_id: 'resp_upstream' },
    404,
    'previous_response_id',
  ],
  ['/v1/responses', { ...later, conversation: 'conv_1' }, 404, 'conversation'],
  ['/v1/responses', { ...later, prompt: { id: 'pmpt_1' } }, 404, 'prompt.id'],
  [
    '/v1/responses',
    { ...later, input: [{ type: 'item_reference', id: 'msg_1' }] },
    404,
    'item_reference',
  ],
  [
    '/v1/responses',
    { ...later, tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
    404,
    'vector_store_ids',
  ],
  [
    '/v1/responses',
    { ...later, tools: [{ type: 'code_interpreter', container: 'cntr_1' }] },
    404,
    'container',
  ],
  ['/v1/responses', { ...later, service_tier: 'priority' }, 400, 'service_tier'],
  [
    '/v1/batches',
    { input_file_id: kept, endpoint: '/v1/rerank', completion_window: '24h' },
    400,
    'endpoint',
  ],
  [
    '/v1/batches',
    { input_file_id: kept, endpoint: '/v1/responses', completion_window: '1h' },
    400,
    'completion_window',
  ],
  [
    '/v1/batches',
    { input_file_id: kept, endpoint: '/v1/responses', completion_window: '24h', Metadata: {} },
    400,
    'metadata',
  ],
  [
    '/v1/batches',
    { input_file_id: kept, endpoint: '/v1/responses', completion_window: '24h', account: 'rival' },
    400,
    'account',
  ],
]

test.each(rows)(
  '%s refuses what it may not serve (case %#)',
  async (path, fields, status, param) => {
    await expectRefused(await fetchAs(own, 'POST', path, JSON.stringify(fields)), status, param)
  },
)

test('what another account has made is as if it were not there', async () => {
  const { file, batch, response } = foreign
  const create = (id: string) =>
    JSON.stringify({ input_file_id: id, endpoint: '/v1/responses', completion_window: '24h' })
  const asks: [string, string, (id: string) => string, ((id: string) => string)?][] = [
    ['GET', file!, (id) => `/v1/files/${id}`],
    ['GET', file!, (id) => `/v1/files/${id}/content`],
    ['DELETE', file!, (id) => `/v1/files/${id}`],
    ['POST', file!, () => '/v1/batches', create],
    ['GET', batch!, (id) => `/v1/batches/${id}`],
    ['POST', batch!, (id) => `/v1/batches/${id}/cancel`],
    ['GET', response!, (id) => `/v1/responses/${id}`],
    ['POST', response!, (id) => `/v1/responses/${id}/cancel`],
    ['DELETE', response!, (id) => `/v1/responses/${id}`],
    [
      'POST',
      response!,
      () => '/v1/responses',
      (id) => JSON.stringify({ ...later, previous_response_id: id }),
    ],
  ]
  const told = async (
    method: string,
    id: string,
    path: (id: string) => string,
    body?: (id: string) => string,
  ) => {
    const answer = await fetchAs(own, method, path(id), body?.(id))
    const text = (await answer.text()).replaceAll(id, 'ID').replaceAll(/req_\w+/g, 'REQUEST')
    return [answer.status, text]
  }
  for (const [method, id, path, body] of asks) {
    const unknown = id.replace(/.{8}$/, '00000000')
    const answer = await told(method, id, path, body)
    expect(answer[0]).toBe(404)
    expect(answer).toEqual(await told(method, unknown, path, body))
  }
  for (const path of ['/v1/files', '/v1/batches']) {
    const list = (await (await fetchAs(own, 'GET', path)).json()) as { data: unknown[] }
    expect(list.data).toEqual([])
  }
  expect((await fetchAs(rival, 'GET', `/v1/files/${file}`)).status).toBe(200)
  expect((await fetchAs(rival, 'GET', `/v1/responses/${response}`)).status).toBe(200)
})

const wav = new File([new Uint8Array(soundOf('wav', 1).bytes)], 'a.wav')
const text = ['prompt', 'attack'] as const
type Part = readonly [string, string | Blob]
const forms: [string, string, readonly Part[], number, string | undefined][] = [
  ['no file', 'audio/transcriptions', [['model', 'hear'], text], 400, 'file'],
  [
    'two files',
    'audio/transcriptions',
    [['model', 'hear'], text, ['file', wav], ['file', wav]],
    400,
    'file',
  ],
  [
    'two models',
    'audio/transcriptions',
    [['model', 'hear'], ['model', 'hear'], text, ['file', wav]],
    400,
    'model',
  ],
  [
    'another case',
    'audio/transcriptions',
    [['model', 'hear'], ['Model', 'hear'], text, ['file', wav]],
    400,
    'model',
  ],
  [
    'a file as its prompt',
    'audio/transcriptions',
    [
      ['model', 'hear'],
      ['prompt', wav],
      ['file', wav],
    ],
    400,
    'prompt',
  ],
  [
    'no sound',
    'audio/transcriptions',
    [['model', 'hear'], text, ['file', new File([new Uint8Array(200_000)], 'a.wav')]],
    400,
    'file',
  ],
  [
    'too large a file',
    'audio/transcriptions',
    [['model', 'hear'], text, ['file', new File([new Uint8Array(26 * 1024 * 1024)], 'a.wav')]],
    413,
    'file',
  ],
  [
    'too large a body',
    'audio/transcriptions',
    [
      ['model', 'hear'],
      ['prompt', megabytes(33)],
      ['file', wav],
    ],
    413,
    undefined,
  ],
  [
    'a format of no kind',
    'audio/translations',
    [['model', 'hear'], text, ['response_format', 'diarized_json'], ['file', wav]],
    400,
    'response_format',
  ],
  [
    'a model of another kind',
    'audio/translations',
    [['model', 'write'], text, ['file', wav]],
    400,
    'model',
  ],
  [
    'another purpose',
    'files',
    [
      ['purpose', 'assistants'],
      ['file', inputFile],
    ],
    400,
    'purpose',
  ],
  [
    'two files',
    'files',
    [
      ['purpose', 'batch'],
      ['file', inputFile],
      ['file', inputFile],
    ],
    400,
    'file',
  ],
  [
    'another case',
    'files',
    [
      ['Purpose', 'batch'],
      ['file', inputFile],
    ],
    400,
    'Purpose',
  ],
  [
    'an owner',
    'files',
    [
      ['purpose', 'batch'],
      ['account', 'rival-not'],
      ['file', inputFile],
    ],
    400,
    'account',
  ],
  [
    'nothing in it',
    'files',
    [
      ['purpose', 'batch'],
      ['file', new File([], 'a.jsonl')],
    ],
    400,
    'file',
  ],
]

test.each(forms)('a form with %s is refused at /v1/%s', async (_, path, fields, status, param) => {
  await expectRefused(await fetchAs(own, 'POST', `/v1/${path}`, formOf(fields)), status, param)
})
