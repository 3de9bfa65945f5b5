// Speech, transcriptions and translations over real HTTP, with the sandbox and with upstreams that say what they are
// told to: formats, streams, what is charged, and what is refused.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { soundOf } from '../../sandbox/audio/encode.ts'
import { audioSeconds } from '../../src/lib/audio/measure.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { accountOf, chargeOf, dataLines, errorOf, requestIdOf, rowOf } from '../support/read.ts'
import {
  asEvents,
  type Captured,
  jsonReply,
  startUpstream,
  streamReply,
} from '../support/upstream.ts'

const wav = (seconds: number) => soundOf('wav', seconds).bytes
const done = (usage?: object) =>
  JSON.stringify({ type: 'transcript.text.done', text: 'Hello.', ...(usage && { usage }) })
const delta = JSON.stringify({ type: 'transcript.text.delta', delta: 'Hello.' })
const tokens = { type: 'tokens', input_tokens: 100, output_tokens: 10, total_tokens: 110 }

/** By the first part of the path: what the upstream answers. */
const replies: Record<string, (call: Captured) => Response> = {
  usage: () => jsonReply({ text: 'Hello.', usage: { type: 'duration', seconds: 9 } }),
  duration: () => jsonReply({ text: 'Hello.', duration: 8.470000267028809 }),
  number: () => jsonReply({ text: 'Hello.', duration: '12.5', usage: { total_cost: 5 } }),
  silent: () => jsonReply({ text: 'Hello.' }),
  plain: () => new Response('Hello.\n', { headers: { 'content-type': 'text/plain' } }),
  html: () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
  absurd: () => jsonReply({ text: 'Hello.', usage: { type: 'duration', seconds: 1e9 } }),
  tokens: () => jsonReply({ text: 'Hello.', usage: tokens }),
  events: () =>
    streamReply([asEvents([delta]), asEvents([done({ type: 'duration', seconds: 3 })])]),
  cut: () => streamReply([asEvents([delta])]),
  broken: () => jsonReply({ error: { message: 'bad upk-0123456789 key' } }, { status: 401 }),
}
const upstream = startUpstream((call) => {
  const [, name = '', , what] = call.path.split('/')
  if (what === 'speech') return speak(call)
  return replies[name]?.(call) ?? new Response('?', { status: 404 })
})

function speak({ path, body }: Captured): Response {
  if (path.startsWith('/json')) return jsonReply({ id: 'x' })
  if (path.startsWith('/empty'))
    return new Response('', { headers: { 'content-type': 'audio/wav' } })
  const { stream_format } = JSON.parse(body) as { stream_format?: string }
  if (stream_format === 'sse') {
    const events = [
      { type: 'speech.audio.delta', audio: 'AAAA' },
      { type: 'speech.audio.done', usage: { input_tokens: 7, output_tokens: 50 } },
    ]
    return streamReply([asEvents(events.map((event) => JSON.stringify(event)))])
  }
  const parts = [Buffer.from('RIFF one '), Buffer.from('two')]
  return streamReply(parts, { headers: { 'content-type': 'audio/wav' } })
}

const hearing = Object.keys(replies)
const speaking = ['file', 'empty', 'json', 'tokens']
const modelsOf = (names: readonly string[], kind: string, use: string) =>
  names.map((name) => ({ name: `${kind}-${name}`, kind, interfaces: [use] }))

describe.each([...storeKinds])('sound on %s', (engine) => {
  let place: Place
  let gateway: TestGateway
  beforeAll(async () => {
    place = await newPlace(engine)
    const { dataDir, databaseUrl } = place.options
    const config = {
      accounts: [
        { name: 'acme', balance: '100.00' },
        { name: 'poor', balance: '0.01' },
      ],
      tokens: [
        { account: 'acme', name: 'test', token: apiToken },
        { account: 'poor', name: 'poor', token: `${apiToken}-poor` },
      ],
      models: [
        ...modelsOf(hearing, 'transcription', 'transcriptions'),
        ...modelsOf(speaking, 'speech', 'speech'),
      ],
      prices: [
        ...hearing.map((name) => ({
          model: `transcription-${name}`,
          ...(name === 'tokens'
            ? { unit: 'token', per_million: { input: '1', output: '10', input_audio: '5' } }
            : { unit: 'audio_second', per_minute: '0.006' }),
        })),
        ...speaking.map((name) => ({
          model: `speech-${name}`,
          ...(name === 'tokens'
            ? { unit: 'token', per_million: { input: '1', output: '10', output_audio: '20' } }
            : { unit: 'character', per_million: '15' }),
        })),
      ],
      channels: [...new Set([...hearing, ...speaking])].map((name) => ({
        name,
        keys: ['upk-0123456789'],
        protocols: {
          ...(hearing.includes(name) && { transcriptions: `${upstream.url}/${name}` }),
          ...(speaking.includes(name) && { speech: `${upstream.url}/${name}` }),
        },
        models: {
          ...(hearing.includes(name) && { [`transcription-${name}`]: 'secret-upstream' }),
          ...(speaking.includes(name) && { [`speech-${name}`]: 'secret-upstream' }),
        },
      })),
    }
    gateway = await startGateway({
      config: JSON.stringify(config),
      ...(databaseUrl === undefined && { dataDir }),
      env: {
        GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        GATEWAY_SANDBOX: 'on',
        ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
      },
    })
  })
  afterAll(async () => {
    expect(await gateway.stop()).toBe(0)
    await place.remove()
  })

  const say = (fields: object, token = apiToken) =>
    gateway.post(
      '/v1/audio/speech',
      { voice: 'alloy', input: 'Hello.', ...fields },
      {
        authorization: `Bearer ${token}`,
      },
    )

  type Field = readonly [name: string, value: string | Blob]
  function hear(
    model: string,
    more: readonly Field[] = [],
    {
      file = wav(2) as Uint8Array<ArrayBuffer> | null,
      path = 'transcriptions',
      token = apiToken,
      name = 'a.wav',
    } = {},
  ): Promise<Response> {
    const form = new FormData()
    if (file !== null) form.append('file', new Blob([file], { type: 'audio/wav' }), name)
    if (model !== '') form.append('model', model)
    for (const [key, value] of more) form.append(key, value)
    const headers = { authorization: `Bearer ${token}` }
    return fetch(`${gateway.url}/v1/audio/${path}`, { method: 'POST', headers, body: form })
  }

  describe('speech', () => {
    test.each(['mp3', 'wav', 'opus', 'aac', 'flac'])('comes as %s', async (response_format) => {
      const answer = await say({ model: 'ttsa-plus', response_format })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toMatch(/^audio\//)
      expect(audioSeconds(await answer.bytes())!).toBeGreaterThan(0.1)
    })

    test('characters are code points, and all books say so', async () => {
      const answer = await say({ model: 'speech-file', input: 'aé𝒳😀e\u0301' })
      expect(answer.headers.get('content-type')).toBe('audio/wav')
      expect(await answer.text()).toBe('RIFF one two')
      const id = requestIdOf(answer)
      const entry = (await chargeOf(gateway, id))!
      expect([entry.amount, entry.unit, entry.quantity]).toEqual(['-0.00009', 'character', 6])
      const { body } = await gateway.admin('GET', `/explain/${id}`)
      expect(body.steps[0]).toContain('6 characters x 15.00 per million = 0.00009')
      expect(JSON.parse(upstream.calls.at(-1)!.body)).toMatchObject({ model: 'secret-upstream' })
    })

    test('events end with the one that says so', async () => {
      const answer = await say({ model: 'ttsa-plus', stream_format: 'sse', response_format: 'pcm' })
      expect(answer.headers.get('content-type')).toContain('text/event-stream')
      const events = dataLines(await answer.text()).map((data) => JSON.parse(data))
      expect(events.at(-1)).toMatchObject({
        type: 'speech.audio.done',
        usage: { total_tokens: expect.any(Number) },
      })
      expect(events[0].type).toBe('speech.audio.delta')
      expect((await chargeOf(gateway, requestIdOf(answer)))?.quantity).toBe(6)
    })

    test('a price by tokens takes the rate of sound', async () => {
      const answer = await say({ model: 'speech-tokens', stream_format: 'sse' })
      await answer.text()
      expect((await chargeOf(gateway, requestIdOf(answer)))?.amount).toBe('-0.001007')
      const spoken = async (fields: object) => {
        const file = await say({ model: 'speech-tokens', ...fields })
        await file.text()
        const charge = await chargeOf(gateway, requestIdOf(file))
        expect(charge?.estimated).toBe(true)
        return -Number(charge?.amount)
      }
      const input = 'Hello to you. '.repeat(10)
      const usual = await spoken({ input })
      expect(await spoken({ input, speed: 0.25 })).toBeGreaterThan(3.5 * usual)
      expect(await spoken({ input, speed: 4 })).toBe(usual)
      expect(await spoken({ input: '你好世界。'.repeat(28) })).toBeGreaterThan(2 * usual)
    })

    test('a file that breaks off is cut off, and costs nothing', async () => {
      const input = `${'Hello. '.repeat(50)}[[sim:cut=1]]`
      const answer = await say({ model: 'ttsa-plus', input, response_format: 'wav' })
      expect(answer.status).toBe(200)
      await expect(answer.bytes()).rejects.toThrow()
      const row = await rowOf(gateway, requestIdOf(answer))
      expect([row.ending, row.charge]).toEqual(['failed', '0.00'])
      for (const model of ['speech-empty', 'speech-json']) {
        const refused = await say({ model })
        expect(refused.status).toBe(502)
        expect((await errorOf(refused)).code).toMatch(/^upstream_/)
      }
    })

    test.each([
      ['input', { input: '' }],
      ['input', { input: 5 }],
      ['input', { input: 'x'.repeat(4_097) }],
      ['input', { input: '😀'.repeat(4_097) }],
      ['voice', { voice: null }],
      ['voice', { voice: '' }],
      ['voice', { voice: { name: 'x' } }],
      ['response_format', { response_format: 'midi' }],
      ['response_format', { response_format: 'MP3' }],
      ['speed', { speed: 0.1 }],
      ['speed', { speed: '1' }],
      ['stream_format', { stream_format: 'SSE' }],
      ['instructions', { instructions: {} }],
      ['model', { model: '' }],
    ])('%s is checked (case %#)', async (param, fields) => {
      const before = upstream.calls.length
      const answer = await say({ model: 'speech-file', ...fields })
      expect([answer.status, (await errorOf(answer)).param]).toEqual([400, param])
      expect(upstream.calls.length).toBe(before)
    })

    test('the longest text of characters outside the basic plane is taken', async () => {
      const answer = await say({ model: 'speech-file', input: '😀'.repeat(4_096) })
      expect(answer.status).toBe(200)
      await answer.bytes()
      expect((await chargeOf(gateway, requestIdOf(answer)))?.quantity).toBe(4_096)
    })
  })

  describe('transcriptions', () => {
    test.each([
      ['transcription-usage', '-0.0009', 9],
      ['transcription-duration', '-0.000847', 8.470000267028809],
      ['transcription-number', '-0.00125', 12.5],
      ['transcription-silent', '-0.0002', 2],
    ])('%s is charged %s', async (model, amount, quantity) => {
      const answer = await hear(model)
      expect(answer.status).toBe(200)
      const body = (await answer.json()) as Record<string, unknown>
      expect(body['text']).toBe('Hello.')
      expect(JSON.stringify(body)).not.toContain('cost')
      expect(`-${answer.headers.get('x-gateway-charge')}`).toBe(amount)
      const entry = (await chargeOf(gateway, requestIdOf(answer)))!
      expect([entry.amount, entry.unit, entry.quantity, entry.estimated]).toEqual([
        amount,
        'audio_second',
        quantity,
        false,
      ])
    })

    test('the form goes upstream with the file, and with the name of the model there', async () => {
      await hear('transcription-silent', [
        ['language', 'de'],
        ['timestamp_granularities[]', 'word'],
        ['timestamp_granularities[]', 'segment'],
        ['chunking_strategy[type]', 'server_vad'],
        ['prompt', 'Ünïcode "quoted"\r\nline'],
      ])
      const { body, headers } = upstream.calls.at(-1)!
      const type = headers.get('content-type')!
      expect(type).toContain('multipart/form-data')
      const form = await new Response(body, { headers: { 'content-type': type } }).formData()
      expect(form.get('model')).toBe('secret-upstream')
      expect(form.get('language')).toBe('de')
      expect(form.getAll('timestamp_granularities[]')).toEqual(['word', 'segment'])
      expect(form.get('chunking_strategy[type]')).toBe('server_vad')
      expect(form.get('prompt')).toBe('Ünïcode "quoted"\r\nline')
      expect((form.get('file') as File).name).toBe('a.wav')
    })

    test('texts and subtitles pass, with the seconds of the file', async () => {
      const plain = await hear('transcription-plain', [['response_format', 'text']])
      expect(await plain.text()).toBe('Hello.\n')
      expect(plain.headers.get('content-type')).toContain('text/plain')
      expect(plain.headers.get('x-gateway-charge')).toBe('0.0002')
      const wrapped = await hear('transcription-usage', [['response_format', 'text']])
      expect(await wrapped.text()).toBe('Hello.')
      expect(wrapped.headers.get('x-gateway-charge')).toBe('0.0009')
      const html = await hear('transcription-html', [['response_format', 'srt']])
      expect(html.status).toBe(502)
    })

    test.each([
      ['json', /^\{"text":/],
      ['verbose_json', /"duration":2,/],
      ['diarized_json', /^\{"text":/],
      ['text', /^The sandbox/],
      ['srt', /^1\n00:00:00,000 --> 00:00:02,000\n/],
      ['vtt', /^WEBVTT\n/],
    ])('the sandbox answers in %s', async (format, shape) => {
      const answer = await hear('asra-plus', [['response_format', format]])
      expect(await answer.text()).toMatch(shape)
      expect(answer.headers.get('x-gateway-charge')).toBe('0.0014')
    })

    test('events, from an upstream that streams and from one that does not', async () => {
      for (const [model, seconds] of [
        ['transcription-events', 3],
        ['transcription-usage', 9],
        ['transcription-duration', 8.470000267028809],
        ['asra-plus', 2],
      ] as const) {
        const answer = await hear(model, [['stream', 'true']])
        expect(answer.headers.get('content-type')).toContain('text/event-stream')
        const events = dataLines(await answer.text()).map((data) => JSON.parse(data))
        expect(events[0].type).toBe('transcript.text.delta')
        expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', usage: { seconds } })
        expect((await chargeOf(gateway, requestIdOf(answer)))?.quantity).toBe(seconds)
      }
      const cut = await hear('transcription-cut', [['stream', 'true']])
      expect(await cut.text()).toContain('"error"')
      expect((await rowOf(gateway, requestIdOf(cut))).charge).toBe('0.00')
    })

    test('a price by tokens counts tokens', async () => {
      const answer = await hear('transcription-tokens')
      expect(answer.headers.get('x-gateway-charge')).toBe('0.0002')
    })

    test('no more than twice the length and a minute is believed, and the rest is a loss', async () => {
      const answer = await hear('transcription-absurd')
      expect(answer.headers.get('x-gateway-charge')).toBe('0.0064')
      const row = await rowOf(gateway, requestIdOf(answer))
      expect(row.loss).toBe('99999.9936')
    })

    test('errors are cleaned', async () => {
      const answer = await hear('transcription-broken')
      expect(answer.status).toBe(502)
      expect(await answer.text()).not.toContain('upk-0123456789')
    })

    test('translations have their own path and formats', async () => {
      const answer = await hear('transcription-silent', [], { path: 'translations' })
      expect(answer.status).toBe(200)
      expect(upstream.calls.at(-1)!.path).toBe('/silent/audio/translations')
      const verbose = await hear('asra-plus', [['response_format', 'verbose_json']], {
        path: 'translations',
      })
      expect(await verbose.json()).toMatchObject({ task: 'translate' })
      const refused = await hear('asra-plus', [['response_format', 'diarized_json']], {
        path: 'translations',
      })
      expect([refused.status, (await errorOf(refused)).param]).toEqual([400, 'response_format'])
    })

    test.each<[string, readonly Field[]]>([
      ['response_format', [['response_format', 'xml']]],
      ['stream', [['stream', 'yes']]],
      ['temperature', [['temperature', '2']]],
      ['temperature', [['temperature', 'NaN']]],
      ['prompt', [['prompt[]', 'x']]],
      ['language', [['language[x]', 'x']]],
      ['prompt', [['prompt', new Blob(['x'])]]],
      ['more', [['more[a]', new Blob(['x'])]]],
      ['model', [['model', 'transcription-silent']]],
      ['file', [['file', new Blob(['x'])]]],
    ])('%s is checked (case %#)', async (param, more) => {
      const before = upstream.calls.length
      const answer = await hear('transcription-silent', more)
      expect([answer.status, (await errorOf(answer)).param]).toEqual([400, param])
      expect(upstream.calls.length).toBe(before)
    })

    test('files that are missing, empty, too large or of no known kind are refused', async () => {
      const small = Buffer.from('ten bytes.')
      const known = await hear('transcription-silent', [], { file: small })
      expect(known.status).toBe(200)
      expect((await chargeOf(gateway, requestIdOf(known)))?.estimated).toBe(true)
      const cases = [
        [400, null],
        [400, new Uint8Array(0)],
        [400, new Uint8Array(100_000)],
        [413, new Uint8Array(26 * 1024 * 1024)],
      ] as const
      for (const [status, file] of cases) {
        const answer = await hear('transcription-silent', [], {
          file: file as Uint8Array<ArrayBuffer> | null,
        })
        expect([answer.status, (await errorOf(answer)).param]).toEqual([status, 'file'])
      }
      const json = await gateway.post('/v1/audio/transcriptions', { model: 'asra-plus' })
      expect(json.status).toBe(415)
    })

    test('a file that claims to be short is held and charged for its whole length', async () => {
      const file = Buffer.from(wav(60))
      file.writeUInt32LE(4, 40)
      const answer = await hear('transcription-silent', [], { file })
      expect(answer.headers.get('x-gateway-charge')).toBe('0.006')
      const poor = `${apiToken}-poor`
      const long = await hear('transcription-silent', [], { file: wav(120), token: poor })
      expect([long.status, (await errorOf(long)).code]).toEqual([402, 'insufficient_quota'])
      expect((await hear('transcription-silent', [], { token: poor })).status).toBe(200)
      expect((await accountOf(gateway, 'poor')).held).toBe('0.00')
    })
  })

  test('the list of models tells what each of them makes', async () => {
    const answer = await fetch(`${gateway.url}/v1/models`, {
      headers: { authorization: `Bearer ${apiToken}` },
    })
    const { data } = (await answer.json()) as { data: { id: string; modality: string }[] }
    const kinds = Object.fromEntries(data.map(({ id, modality }) => [id, modality]))
    expect(kinds).toMatchObject({
      'rnka-plus': 'rerank',
      'mdra-plus': 'moderation',
      'ttsa-plus': 'speech',
      'asra-plus': 'transcription',
    })
  })

  test('the ledger is proven', async () => {
    const { body } = await gateway.admin('POST', '/audit')
    expect(body).toMatchObject({ ok: true })
  })
})

afterAll(() => upstream.stop())
