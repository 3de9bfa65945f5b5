// Chat through the whole gateway: what reaches the upstream, what comes back, and what the caller
// sees and pays when the upstream misbehaves.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import {
  accountOf,
  chargeOf,
  chunksIn,
  contentOf,
  dataLines,
  errorIn,
  errorOf,
  nanos,
  requestIdOf,
  rowOf,
} from '../support/read.ts'
import {
  asEvents,
  completion,
  finishChunk,
  jsonReply,
  type ScriptedUpstream,
  startScripted,
  startUpstream,
  streamReply,
  textChunk,
  usageChunk,
} from '../support/upstream.ts'

const sandboxKey = 'upk-canary-4f8d1c77a0b93e52'
const ownKey = 'upk-second-91b2c3d4e5f60718'
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

let sandbox: Sandbox
let own: ScriptedUpstream
let gateway: TestGateway

const configFor = (sandboxUrl: string, ownUrl: string) => `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - name: simulated
    keys: [${sandboxKey}]
    protocols: { chat: "${sandboxUrl}" }
    models: { txta-plus: upstream-name, txta-turbo: "*" }
    timeouts: { first_byte: 1s, idle: 2s }
  - name: own
    keys: [${ownKey}]
    protocols: { chat: "${ownUrl}" }
    models: { mapped: upstream-name, plain: "*", dear: "*" }
    timeouts: { first_byte: 1s, idle: 2500ms, total: 10s }
  - name: nobody
    keys: [${ownKey}]
    protocols: { chat: "http://127.0.0.1:1/v1" }
    models: { nowhere: "*" }
models:
  - { name: mapped, kind: text, interfaces: [chat] }
  - { name: plain, kind: text, interfaces: [chat] }
  - { name: dear, kind: text, interfaces: [chat] }
  - { name: nowhere, kind: text, interfaces: [chat] }
  - { name: unserved, kind: text, interfaces: [chat] }
  - { name: elsewhere, kind: text, interfaces: [responses] }
prices:
  - { model: mapped, unit: token, per_million: { input: "1.00", output: "2.00" } }
  - { model: plain, unit: token, per_million: { input: "1.00", output: "2.00" } }
  - { model: dear, unit: token, per_million: { input: "1.00", output: "10000.00" } }
  - { model: nowhere, unit: token, per_million: { input: "1.00", output: "2.00" } }
`

beforeAll(async () => {
  sandbox = startSandbox({ key: sandboxKey })
  own = startScripted()
  gateway = await startGateway({
    config: configFor(sandbox.protocols.chat!, own.chat),
    env: { GATEWAY_LOG: 'debug' },
  })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await sandbox.stop()
  await own.stop()
})

const ownCall = (user: string, extra: Record<string, unknown> = {}) =>
  gateway.chat('hello', { model: 'plain', user, ...extra })

const sandboxCalls = async () =>
  ((await (await fetch(`${sandbox.url}/_sandbox/calls`)).json()) as { calls: { model: string }[] })
    .calls

/** Nothing was charged for this request and its hold is gone. */
async function unpaid(requestId: string, ending: string): Promise<void> {
  const row = await rowOf(gateway, requestId)
  expect([row.charge, row.ending]).toEqual(['0.00', ending])
  expect(await chargeOf(gateway, requestId)).toBeUndefined()
  expect((await accountOf(gateway)).held).toBe('0.00')
}

describe('a model name mapped by its channel', () => {
  test('goes upstream mapped and comes back as the caller knows it, in JSON', async () => {
    const answer = await gateway.chat('hello [[sim:tokens=4]]')
    const body = (await answer.json()) as { model: string; usage: { completion_tokens: number } }
    expect([body.model, body.usage.completion_tokens]).toEqual(['txta-plus', 4])
    expect((await sandboxCalls()).at(-1)?.model).toBe('upstream-name')
    const row = await rowOf(gateway, requestIdOf(answer))
    expect([row.model, row.upstream_model]).toEqual(['txta-plus', 'upstream-name'])
  })

  test('comes back as the caller knows it in every chunk of a stream', async () => {
    const answer = await gateway.chat('hello [[sim:tokens=9]]', {
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks = chunksIn(await answer.text())
    expect(chunks.length).toBe(12)
    expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set(['txta-plus']))
    expect((await sandboxCalls()).at(-1)?.model).toBe('upstream-name')
  })

  test('is restored even where the answer says the word itself', async () => {
    const words = ['model', '"model":"x"', 'a "model" b', '\\"model\\":\\"y\\"']
    own.on('words', () =>
      streamReply([
        asEvents([...words.map((w) => textChunk(w)), finishChunk(), usageChunk(usage), '[DONE]']),
      ]),
    )
    const chunks = chunksIn(
      await (await ownCall('words', { model: 'mapped', stream: true })).text(),
    )
    expect(contentOf(chunks)).toBe(words.join(''))
    expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set(['mapped']))
    own.on('words', () => {
      const whole = completion(usage)
      whole.choices[0]!.message.content = words.join('')
      return jsonReply(whole)
    })
    const body = (await (await ownCall('words', { model: 'mapped' })).json()) as ReturnType<
      typeof completion
    >
    expect([body.model, body.choices[0]?.message.content]).toEqual(['mapped', words.join('')])
  })
})

describe('what reaches the upstream', () => {
  const odd =
    '"seed":12345678901234567890,"z":1.0,"a":1e2,"exact":0.1000000000000000055,' +
    '"unknown":{"b":[1,{"ü":"\\u00fc 你好 \\ud83d\\ude00"}],"a":null},"empty":{}'
  const bodyFor = (user: string, model: string, more = '') =>
    `{"model":"${model}","messages":[{"role":"user","content":"grüß 你 😀 \\n"}],${odd},"user":"${user}"${more}}`

  test('is the very text that was sent', async () => {
    own.on('exact', () => jsonReply(completion(usage, 'plain')))
    const sent = bodyFor('exact', 'plain')
    const answer = await gateway.post('/v1/chat/completions', sent)
    expect(answer.status).toBe(200)
    expect(own.seen('exact').body).toBe(sent)
    expect(own.seen('exact').path).toBe('/v1/chat/completions')
  })

  test('differs in the model name only when that is mapped', async () => {
    own.on('exact-mapped', () => jsonReply(completion(usage)))
    const sent = bodyFor('exact-mapped', 'mapped')
    expect((await gateway.post('/v1/chat/completions', sent)).status).toBe(200)
    expect(own.seen('exact-mapped').body).toBe(bodyFor('exact-mapped', 'upstream-name'))
  })

  test('asks for usage on streams, and is the same text otherwise', async () => {
    own.on('exact-stream', () =>
      streamReply([asEvents([textChunk('x'), finishChunk(), usageChunk(usage), '[DONE]'])]),
    )
    const sent = bodyFor('exact-stream', 'mapped', ',"stream":true')
    await (await gateway.post('/v1/chat/completions', sent)).text()
    const seen = own.seen('exact-stream').body
    expect(JSON.parse(seen).stream_options).toEqual({ include_usage: true })
    expect(seen.replace('"stream_options":{"include_usage":true},', '')).toBe(
      bodyFor('exact-stream', 'upstream-name', ',"stream":true'),
    )
  })

  const elsewhere: [string, string][] = [
    ['a tool has a parameter named model', ',"tools":[{"p":{"model":{"type":"string"}}}]'],
    ['a message is the word model', ',"stop":["model"]'],
    ['usage was declined', ',"stream":true,"stream_options":{"include_usage":false}'],
  ]
  test.each(elsewhere)('keeps big numbers also when %s', async (name, more) => {
    const user = `big ${name}`
    own.on(user, ({ body }) =>
      body.includes('"stream":true')
        ? streamReply([asEvents([textChunk('x'), finishChunk(), usageChunk(usage), '[DONE]'])])
        : jsonReply(completion(usage)),
    )
    await (await gateway.post('/v1/chat/completions', bodyFor(user, 'mapped', more))).text()
    const seen = own.seen(user).body
    expect(JSON.parse(seen).model).toBe('upstream-name')
    expect(seen).toContain('"seed":12345678901234567890')
  })

  test('is nothing when the caller names two models', async () => {
    const sent = bodyFor('twice', 'nowhere').replace('"z"', '"model":"mapped","z"')
    const answer = await gateway.post('/v1/chat/completions', sent)
    const { error } = (await answer.json()) as { error: { param: string } }
    expect([answer.status, error.param]).toEqual([400, 'model'])
    expect(() => own.seen('twice')).toThrow()
  })

  test("carries the channel's key and nothing of the caller's credentials", async () => {
    own.on('headers', () => jsonReply(completion(usage, 'plain')))
    const body = { model: 'plain', user: 'headers', messages: [{ role: 'user', content: 'x' }] }
    const headers = { cookie: 'session=abc', 'x-forwarded-for': '1.2.3.4', 'x-api-key': apiToken }
    await (await gateway.post('/v1/chat/completions', body, headers)).text()
    const seen = own.seen('headers').headers
    expect(seen.get('authorization')).toBe(`Bearer ${ownKey}`)
    expect(JSON.stringify([...seen])).not.toContain(apiToken)
    for (const name of ['cookie', 'x-forwarded-for', 'x-api-key']) expect(seen.get(name)).toBeNull()
  })
})

describe('a stream', () => {
  const direct = (content: string) =>
    fetch(`${sandbox.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sandboxKey}` },
      body: JSON.stringify({
        model: 'txta-turbo',
        messages: [{ role: 'user', content }],
        stream: true,
        stream_options: { include_usage: true },
      }),
    })

  test('is the bytes of the upstream, less the usage nobody asked for', async () => {
    const content = 'hello [[sim:tokens=20]]'
    const upstream = await (await direct(content)).text()
    const withUsage = await gateway.chat(content, {
      model: 'txta-turbo',
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(await withUsage.text()).toBe(upstream)
    const without = await gateway.chat(content, { model: 'txta-turbo', stream: true })
    const events = upstream.split(/(?<=\n\n)/).filter((event) => !event.includes('"choices":[]'))
    expect(await without.text()).toBe(events.join(''))
  })

  test('has usage only if asked for, and then just before the end', async () => {
    for (const options of [undefined, null, {}, { include_usage: false }]) {
      const answer = await gateway.chat('[[sim:tokens=3]]', {
        stream: true,
        stream_options: options,
      })
      const text = await answer.text()
      const chunks = chunksIn(text)
      expect(chunks.filter(({ choices }) => choices?.length === 0)).toEqual([])
      expect(chunks.filter((each) => each.usage != null)).toEqual([])
      expect(dataLines(text).at(-1)).toBe('[DONE]')
      expect((await chargeOf(gateway, requestIdOf(answer)))?.estimated).toBe(false)
    }
    const asked = await gateway.chat('[[sim:tokens=3]]', {
      stream: true,
      stream_options: { include_usage: true },
    })
    const last = chunksIn(await asked.text()).at(-1)
    expect(last?.choices).toEqual([])
    expect(last?.usage?.completion_tokens).toBe(3)
  })

  test('hides usage however the upstream sends it, and charges by it', async () => {
    const inFinish = finishChunk('plain').replace(/}$/, `,"usage":${JSON.stringify(usage)}}`)
    for (const [name, data] of [
      ['own-chunk', [textChunk('x', 'plain'), finishChunk('plain'), usageChunk(usage, 'plain')]],
      ['in-finish', [textChunk('x', 'plain'), inFinish]],
      [
        'every-chunk',
        [textChunk('x', 'plain').replace(/}$/, `,"usage":${JSON.stringify(usage)}}`), inFinish],
      ],
    ] as const) {
      own.on(name, () => streamReply([asEvents([...data, '[DONE]'])]))
      const answer = await ownCall(name, { stream: true })
      const text = await answer.text()
      expect(text).not.toContain('prompt_tokens')
      expect([name, contentOf(chunksIn(text)), dataLines(text).at(-1)]).toEqual([
        name,
        'x',
        '[DONE]',
      ])
      expect((await chargeOf(gateway, requestIdOf(answer)))?.quantity).toBe(15)
    }
  })

  test('hides usage that makes no sense too', async () => {
    for (const strange of [{}, { total_tokens: 5 }, { input_tokens: 3, output_tokens: 4 }]) {
      own.on('strange', () =>
        streamReply([
          asEvents([
            textChunk('x', 'plain'),
            finishChunk('plain'),
            usageChunk(strange, 'plain'),
            '[DONE]',
          ]),
        ]),
      )
      const text = await (await ownCall('strange', { stream: true })).text()
      expect(chunksIn(text).filter(({ choices }) => choices?.length === 0)).toEqual([])
    }
  })

  const data = (model: string) => [
    textChunk('Grüße ', model),
    textChunk('你好 😀', model),
    textChunk('data: [DONE]\n\nx', model),
    finishChunk(model),
    usageChunk(usage, model),
    '[DONE]',
  ]
  const pieces = (model: string, newline: string) => {
    const comment = `: keep-alive${newline}${newline}`
    return new TextEncoder().encode(comment + asEvents(data(model), newline))
  }
  const kinds: [string, string, string][] = [
    ['LF, name kept', 'plain', '\n'],
    ['CRLF, name kept', 'plain', '\r\n'],
    ['CRLF, name restored', 'mapped', '\r\n'],
  ]
  test.each(kinds)('cut into packets at any byte is the same stream (%s)', async (_, model, nl) => {
    const wire = pieces(model === 'mapped' ? 'upstream-name' : model, nl)
    const user = `cut-${model}-${nl.length}`
    own.on(user, ({ body }) => {
      const { seed } = JSON.parse(body) as { seed: number }
      return streamReply([wire.slice(0, seed), wire.slice(seed)], { pauseMs: 3 })
    })
    const shown = data(model).filter((each) => !each.includes('"choices":[]'))
    const expected = new TextDecoder().decode(wire).split(/(?<=\r?\n\r?\n)/)
    const bytes = expected.filter((event) => !event.includes('"choices":[]')).join('')
    const at = Array.from({ length: wire.length - 1 }, (_, i) => i + 1)
    const one = async (): Promise<void> => {
      for (let seed = at.pop(); seed !== undefined; seed = at.pop()) {
        const text = await (await ownCall(user, { model, stream: true, seed })).text()
        expect([seed, dataLines(text)]).toEqual([seed, shown])
        if (model === 'plain') expect([seed, text]).toEqual([seed, bytes])
      }
    }
    await Promise.all(Array.from({ length: 16 }, one))
  })

  test('that comes byte by byte is the same stream', async () => {
    for (const [model, newline] of [
      ['plain', '\n'],
      ['mapped', '\r\n'],
    ] as const) {
      const wire = pieces(model === 'mapped' ? 'upstream-name' : model, newline)
      own.on('bytes', () =>
        streamReply(
          [...wire].map((byte) => Uint8Array.of(byte)),
          { pauseMs: 0 },
        ),
      )
      const text = await (await ownCall('bytes', { model, stream: true })).text()
      expect(dataLines(text)).toEqual(data(model).filter((each) => !each.includes('"choices":[]')))
    }
  })

  const endings: [string, string][] = [
    ['no blank line after its end marker', `${asEvents([finishChunk('plain')])}data: [DONE]`],
    ['one line end after its end marker', `${asEvents([finishChunk('plain')])}data: [DONE]\n`],
    ['no end marker but a finish reason', asEvents([finishChunk('plain')])],
    ['no space after the colon', `data:${finishChunk('plain')}\n\ndata:[DONE]\n\n`],
  ]
  test.each(endings)('with %s is complete and charged', async (name, end) => {
    const user = `ending ${name}`
    own.on(user, () => streamReply([asEvents([textChunk('Hello', 'plain')]), end]))
    const answer = await ownCall(user, { stream: true })
    const text = await answer.text()
    expect(dataLines(text).at(-1)).toBe('[DONE]')
    expect(text).not.toContain('"error"')
    expect(await chargeOf(gateway, requestIdOf(answer))).toBeDefined()
  })
})

describe('a tool call', () => {
  test('passes through both ways', async () => {
    const tools = [{ type: 'function', function: { name: 'weather', parameters: {} } }]
    const answer = await gateway.chat('weather?', { tools, tool_choice: 'required' })
    const body = (await answer.json()) as {
      choices: { message: { tool_calls: { function: { name: string } }[] } }[]
    }
    expect(body.choices[0]?.message.tool_calls[0]?.function.name).toBe('weather')
  })
})

describe('a failing upstream', () => {
  const cases: [directive: string, status: number, type: string, code: string][] = [
    ['status=400', 400, 'invalid_request_error', 'upstream_invalid_request'],
    ['status=422', 400, 'invalid_request_error', 'upstream_invalid_request'],
    ['status=401', 502, 'upstream_error', 'upstream_permission_denied'],
    ['status=402', 502, 'upstream_error', 'upstream_permission_denied'],
    ['status=403', 502, 'upstream_error', 'upstream_permission_denied'],
    ['status=404', 502, 'upstream_error', 'upstream_permission_denied'],
    ['status=429', 429, 'rate_limit_error', 'upstream_rate_limited'],
    ['status=302', 502, 'upstream_error', 'upstream_error'],
    ['status=500', 502, 'upstream_error', 'upstream_error'],
    ['status=503', 503, 'server_error', 'overloaded'],
    ['fail', 502, 'upstream_error', 'upstream_error'],
    ['fail=content_policy', 400, 'invalid_request_error', 'content_policy_violation'],
    ['hang', 504, 'upstream_error', 'upstream_timeout'],
    ['leak', 502, 'upstream_error', 'upstream_error'],
  ]
  const both = cases.flatMap((row) => [[...row, false] as const, [...row, true] as const])
  test.each(both)('told %s gives %d %s %s and costs nothing (stream: %p)', async (...row) => {
    const [directive, status, type, code, stream] = row
    const before = await accountOf(gateway)
    const answer = await gateway.chat(`x [[sim:${directive}]]`, { stream })
    const error = await errorOf(answer)
    expect([answer.status, error.type, error.code]).toEqual([status, type, code])
    if (directive !== 'hang') expect(error.upstream_request_id).toStartWith('sbx-')
    if (status === 429) expect(answer.headers.get('retry-after')).toBe('1')
    const final = [
      'upstream_permission_denied',
      'upstream_invalid_request',
      'content_policy_violation',
    ]
    expect(answer.headers.get('x-should-retry')).toBe(final.includes(code) ? 'false' : null)
    const id = requestIdOf(answer)
    await unpaid(id, 'failed')
    const logged = await rowOf(gateway, id)
    expect([logged.status, logged.error_code, logged.stream]).toEqual([status, code, stream])
    expect(logged.upstream_request_id).toBe(error.upstream_request_id)
    expect((await accountOf(gateway)).balance).toBe(before.balance)
  })

  test.each([false, true])(
    'that resets before its answer begins is 502 (stream: %p)',
    async (stream) => {
      const answer = await gateway.chat('x [[sim:cut=0]]', { stream })
      expect(answer.status).toBe(502)
      // A reset before the first byte looks like an upstream that is not there.
      expect(['upstream_error', 'upstream_unreachable']).toContain((await errorOf(answer)).code)
      await unpaid(requestIdOf(answer), 'failed')
    },
  )

  test('has its readable meaning kept', async () => {
    const told = await errorOf(await gateway.chat('[[sim:status=429]]'))
    expect(told.message).toContain('told to answer 429')
    const policy = await errorOf(await gateway.chat('[[sim:fail=content_policy]]'))
    expect(policy.message).toContain('inappropriate content')
  })

  test('leaks no key, no address and no stack, neither to the caller nor to the log', async () => {
    const answer = await gateway.chat('x [[sim:leak]]')
    const text = await answer.text()
    const row = JSON.stringify(await rowOf(gateway, requestIdOf(answer)))
    expect(errorIn(text).message).toContain('Inference failed')
    for (const [where, said] of Object.entries({ text, row, log: gateway.output() })) {
      for (const secret of [
        sandboxKey,
        sandboxKey.slice(-8),
        '10.12.0.7',
        'itk-5f3a',
        '/srv/inference',
        'InferenceWorker',
        'worker.js',
      ]) {
        expect([where, secret, said.includes(secret)]).toEqual([where, secret, false])
      }
    }
    expect(gateway.output()).toContain('upstream failed')
  })

  test('leaks nothing in an error inside a stream either', async () => {
    const message = `boom ${ownKey} at http://10.1.2.3:99/x\n    at run (/srv/a/b.js:1:2)`
    own.on('leak-event', () =>
      streamReply([asEvents([textChunk('a', 'plain'), JSON.stringify({ error: { message } })])]),
    )
    const answer = await ownCall('leak-event', { stream: true })
    const text = await answer.text()
    expect(chunksIn(text).at(-1)?.error?.message).toStartWith('boom [secret] at')
    for (const secret of [ownKey, '10.1.2.3', '/srv/a']) expect(text).not.toContain(secret)
    expect(text).not.toContain('[DONE]')
    await unpaid(requestIdOf(answer), 'failed')
  })

  test('that cuts a stream ends it with an error event, no end marker and no charge', async () => {
    for (const model of ['txta-plus', 'txta-turbo']) {
      const answer = await gateway.chat('hello [[sim:tokens=20]] [[sim:cut=5]]', {
        model,
        stream: true,
      })
      expect(answer.status).toBe(200)
      const text = await answer.text()
      const chunks = chunksIn(text)
      expect(chunks).toHaveLength(6)
      const error = chunks.at(-1)?.error
      const id = requestIdOf(answer)
      expect([error?.type, error?.code, error?.request_id]).toEqual([
        'upstream_error',
        'upstream_error',
        id,
      ])
      expect(error?.message).toEndWith(`(${id})`)
      expect(text).not.toContain('[DONE]')
      await unpaid(id, 'failed')
    }
  })

  test('that closes a stream properly but too early is the same', async () => {
    own.on('early', () =>
      streamReply([asEvents([textChunk('a', 'plain'), textChunk('b', 'plain')])]),
    )
    const answer = await ownCall('early', { stream: true })
    const text = await answer.text()
    expect(contentOf(chunksIn(text))).toBe('ab')
    expect(chunksIn(text).at(-1)?.error?.code).toBe('upstream_error')
    expect(text).not.toContain('[DONE]')
    await unpaid(requestIdOf(answer), 'failed')
  })

  test('that stalls inside a stream is given up by the idle limit', async () => {
    own.on('stall', () =>
      streamReply([asEvents([textChunk('a', 'plain')])], { atEnd: () => new Promise(() => {}) }),
    )
    const answer = await ownCall('stall', { stream: true })
    const text = await answer.text()
    expect(chunksIn(text).at(-1)?.error?.code).toBe('upstream_timeout')
    expect(text).not.toContain('[DONE]')
    await unpaid(requestIdOf(answer), 'failed')
  })

  test('that has begun its answer has the idle limit, not that of the first byte', async () => {
    const text = JSON.stringify(completion(usage, 'plain'))
    own.on('slow-body', () => {
      const slow = streamReply([text.slice(0, 30), text.slice(30)], { pauseMs: 1_700 })
      return new Response(slow.body, { headers: { 'content-type': 'application/json' } })
    })
    const answer = await ownCall('slow-body')
    expect(await answer.json()).toMatchObject({ model: 'plain' })
  })

  test('that is well is paid for by a caller that stops reading', async () => {
    // Many bytes, but little text: more than a model can make would be ended by the gateway.
    const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x' } }], pad: 'x'.repeat(60_000) })}\n\n`
    const end = `data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`
    own.on('much', () => streamReply([...Array(300).fill(event), end]))
    const body = JSON.stringify({
      model: 'plain',
      user: 'much',
      stream: true,
      messages: [{ role: 'user', content: 'hello' }],
    })
    const head =
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${apiToken}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
    const { hostname, port } = new URL(gateway.url)
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(head + body))
    const first = await new Promise<Buffer>((resolve) => socket.once('data', resolve))
    socket.pause()
    const requestId = /x-gateway-request-id: (\S+)/i.exec(first.toString('latin1'))![1]!
    for (;;) {
      const { status, body } = await gateway.admin('GET', `/requests/${requestId}`)
      if (status === 200) {
        expect([body.ending, body.estimated]).toEqual(['caller_left', false])
        expect(Number(body.charge)).toBeGreaterThan(0)
        break
      }
      await Bun.sleep(100)
    }
    socket.destroy()
  })

  test('that goes on after its own error is not listened to any more', async () => {
    const left = Promise.withResolvers<void>()
    own.on('error-and-on', () => {
      const encode = (text: string) => new TextEncoder().encode(text)
      let events = 0
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          await Bun.sleep(5)
          const text = ++events === 1 ? '{"error":{"message":"enough"}}' : '{"choices":[]}'
          controller.enqueue(encode(`data: ${text}\n\n`))
        },
        cancel: () => left.resolve(),
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    })
    const answer = await ownCall('error-and-on', { stream: true })
    expect((await errorOf(answer)).code).toBe('upstream_error')
    await left.promise
  })

  test('that is late but in time is waited for', async () => {
    const answer = await gateway.chat('[[sim:delay=500ms]] [[sim:tokens=2]]')
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ usage: { completion_tokens: 2 } })
  })

  test('that cannot be reached is 502 and not named', async () => {
    const answer = await gateway.chat('x', { model: 'nowhere' })
    const error = await errorOf(answer)
    expect([answer.status, error.code]).toEqual([502, 'upstream_unreachable'])
    expect(error.message).not.toContain('127.0.0.1')
    await unpaid(requestIdOf(answer), 'failed')
  })

  test('that redirects is not followed', async () => {
    const trap = startUpstream(() => jsonReply(completion(usage)))
    try {
      for (const status of [301, 302, 307, 308]) {
        const headers = { location: `${trap.chat}/chat/completions` }
        own.on('redirect', () => new Response(null, { status, headers }))
        const answer = await ownCall('redirect')
        expect(answer.status).toBe(502)
        expect(await answer.text()).not.toContain(trap.url)
      }
      expect(trap.calls).toEqual([])
    } finally {
      await trap.stop()
    }
  })

  const html = () =>
    new Response('<html>please log in</html>', { headers: { 'content-type': 'text/html' } })
  const halfEvents = () => streamReply([asEvents([textChunk('x'), '[DONE]'])])
  const nonsense: [name: string, stream: boolean, code: string, reply: () => Response][] = [
    ['a page', false, 'upstream_invalid_response', html],
    ['a page for a stream', true, 'upstream_invalid_response', html],
    ['half a JSON', false, 'upstream_invalid_response', () => jsonReply('{"choices":[')],
    ['an empty body', false, 'upstream_invalid_response', () => jsonReply('')],
    ['null', false, 'upstream_invalid_response', () => jsonReply('null')],
    [
      'an object that is no completion',
      false,
      'upstream_invalid_response',
      () => jsonReply({ a: 1 }),
    ],
    ['half a stream for JSON', false, 'upstream_invalid_response', halfEvents],
    [
      'an error with status 200',
      false,
      'upstream_error',
      () => jsonReply({ error: { message: 'no' } }),
    ],
    ['an empty stream', true, 'upstream_error', () => streamReply([])],
    [
      'a stream that begins with an error',
      true,
      'upstream_error',
      () => streamReply([asEvents(['{"error":{"message":"no"}}'])]),
    ],
  ]
  test.each(nonsense)('that answers with %s is 502 and free', async (name, stream, code, reply) => {
    own.on(name, reply)
    const answer = await ownCall(name, { stream })
    const error = await errorOf(answer)
    expect([answer.status, error.code]).toEqual([502, code])
    expect(error.message).not.toContain('<html>')
    await unpaid(requestIdOf(answer), 'failed')
  })

  test('that sends an event that is not JSON behind the first is paid for the others', async () => {
    own.on('bad-event', () =>
      streamReply([
        asEvents([
          textChunk('a', 'plain'),
          '{"choices":[{"delta":{"con',
          finishChunk('plain'),
          '[DONE]',
        ]),
      ]),
    )
    const answer = await ownCall('bad-event', { stream: true })
    const text = await answer.text()
    expect(text).not.toContain('"con\n')
    expect(text).toEndWith('data: [DONE]\n\n')
    const { ending, charge } = await rowOf(gateway, requestIdOf(answer))
    expect(ending).toBe('complete')
    expect(Number(charge)).toBeGreaterThan(0)
  })

  test('that sends a bomb costs neither money nor memory', async () => {
    const bomb = Bun.gzipSync(Buffer.alloc(400 * 1024 * 1024, 0x20))
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    own.on('bomb', () => new Response(bomb, { headers }))
    const peakBytes = () => {
      const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8')
      return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024
    }
    const before = peakBytes()
    const answer = await ownCall('bomb')
    expect(answer.status).toBe(502)
    expect(peakBytes() - before).toBeLessThan(256 * 1024 * 1024)
    await unpaid(requestIdOf(answer), 'failed')
  })

  const waits: [string, string][] = [
    ['7', '7'],
    ['0', '1'],
    ['-5', '1'],
    ['1000000000', '600'],
    ['soon', '1'],
    ['Thu, 01 Jan 1970 00:00:00 GMT', '1'],
    ['Fri, 01 Jan 2100 00:00:00 GMT', '600'],
  ]
  test.each(waits)('that says Retry-After: %s is passed on as %s', async (said, shown) => {
    own.on('wait', () =>
      jsonReply({ error: {} }, { status: 429, headers: { 'retry-after': said } }),
    )
    const answer = await ownCall('wait')
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, shown])
  })

  test("may name the caller's own address, but no other", async () => {
    const mine = 'https://cdn.example/pics/cat.png?size=2'
    const message = `could not load ${mine} via http://proxy.internal:8080/fetch`
    own.on('url', () => jsonReply({ error: { message } }, { status: 400 }))
    const parts = [{ type: 'image_url', image_url: { url: mine } }]
    const fields = { model: 'plain', user: 'url', messages: [{ role: 'user', content: parts }] }
    for (const body of [JSON.stringify(fields), JSON.stringify(fields).replaceAll('/', '\\/')]) {
      const error = await errorOf(await gateway.post('/v1/chat/completions', body))
      expect(error.message).toContain(mine)
      expect(error.message).not.toContain('proxy.internal')
    }
  })
})

describe('a call the gateway refuses itself', () => {
  const cases: [string, Record<string, unknown>, number, string, string | null][] = [
    ['an unknown model', { model: 'nope' }, 404, 'model_not_found', 'model'],
    ['a model without a price or channel', { model: 'unserved' }, 404, 'model_not_found', 'model'],
    ['a model no channel serves', { model: 'txta-vl-plus' }, 404, 'model_not_found', 'model'],
    ['a name with an internal suffix', { model: 'plain-720p' }, 404, 'model_not_found', 'model'],
    ['more than the account has', { model: 'dear' }, 402, 'insufficient_quota', null],
  ]
  test.each(cases)(
    'for %s has the ruled error and a log row',
    async (_, extra, status, code, param) => {
      const answer = await gateway.chat('x', extra)
      const error = await errorOf(answer)
      expect([answer.status, error.code, error.param]).toEqual([status, code, param])
      await unpaid(requestIdOf(answer), 'refused')
      expect((await rowOf(gateway, requestIdOf(answer))).error_code).toBe(code)
    },
  )

  test('for a model of another interface says which ones serve it', async () => {
    await gateway.admin('POST', '/prices', {
      model: 'elsewhere',
      unit: 'token',
      per_million: { input: '1', output: '1' },
    })
    const channel = {
      name: 'third',
      keys: [ownKey],
      protocols: { responses: own.chat },
      models: { elsewhere: '*' },
      translation: 'off',
    }
    expect((await gateway.admin('POST', '/channels', channel)).status).toBe(201)
    const answer = await gateway.chat('x', { model: 'elsewhere' })
    const error = await errorOf(answer)
    expect([answer.status, error.code, error.param]).toEqual([400, 'model_not_supported', 'model'])
    expect(error.message).toContain('responses')
  })
})

test('after all of this the books are right and nothing is held', async () => {
  expect((await gateway.admin('POST', '/audit')).body).toMatchObject({ ok: true, problems: [] })
  const account = await accountOf(gateway)
  expect(account.held).toBe('0.00')
  expect(nanos(account.balance)).toBeGreaterThan(nanos('99'))
})
