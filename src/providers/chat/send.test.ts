// One chat call against a scripted upstream, over real HTTP.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { type AddressInfo, createServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { TextReply, Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import { createHttpClient } from '../../lib/http/client.ts'
import { sendText } from '../text/send.ts'
import { chatStyle } from './index.ts'

const http = createHttpClient()

interface Seen {
  path: string
  headers: Headers
  body: string
}

let respond: () => Response = () => new Response()
const seen: Seen[] = []
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const body = await request.text()
    seen.push({ path: new URL(request.url).pathname, headers: request.headers, body })
    return respond()
  },
})
const strangers: string[] = []
const elsewhere = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    strangers.push(request.headers.get('authorization') ?? 'no key')
    return Response.json(completion)
  },
})
afterAll(() => Promise.all([server.stop(true), elsewhere.stop(true)]))
beforeEach(() => {
  seen.length = 0
  strangers.length = 0
})

const completion = {
  id: 'chatcmpl-1',
  model: 'up-model',
  choices: [{ index: 0, message: { content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 7 },
}

function ask(
  options: { stream?: boolean; stop?: Cancellation; port?: number | undefined } = {},
): Promise<TextReply> {
  const { stream = false, stop = new Cancellation(), port = server.port } = options
  const fields = { model: 'own', messages: [], stream }
  const call: TextCall = {
    interface: 'chat',
    model: 'own',
    stream,
    wantsUsage: false,
    body: JSON.stringify(fields),
    fields,
    inputTokens: 1,
    inputBound: { maxTextTokens: 1, images: 0, isOpen: false, inputs: 1 },
    choices: 1,
  }
  const upstream: Upstream = {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    key: 'k-secret',
    model: 'up-model',
    timeouts: { connectMs: 1_000, firstByteMs: 1, idleMs: 1, totalMs: 1 },
    messages: { headers: 'both', auth: 'both' },
    http,
    progress: { touch() {} },
  }
  return sendText(chatStyle, call, upstream, stop)
}

const failureOf = async (asked: Promise<TextReply>) => {
  const reply = await asked
  return reply.kind === 'failed' ? reply.error : reply.kind
}

describe('a good answer', () => {
  test('comes back under the caller’s name, with usage and the upstream’s id', async () => {
    respond = () => Response.json(completion, { headers: { 'x-request-id': 'up_1' } })
    const reply = await ask()
    expect(reply).toMatchObject({ kind: 'json', upstreamRequestId: 'up_1' })
    if (reply.kind !== 'json') return
    expect(JSON.parse(reply.body as string)).toEqual({ ...completion, model: 'own' })
    expect(reply.reported.usage).toMatchObject({ inputTokens: 5, outputTokens: 7 })
    expect(reply.countOutputTokens()).toBe(2)
  })

  test('was asked for at the right place, with the channel’s key and nobody else’s words', async () => {
    respond = () => Response.json(completion)
    await ask()
    const { path, headers, body } = seen[0]!
    expect(path).toBe('/v1/chat/completions')
    expect(headers.get('authorization')).toBe('Bearer k-secret')
    expect(headers.get('accept-encoding')).toBe('identity')
    expect(JSON.parse(body)).toEqual({ model: 'up-model', messages: [], stream: false })
  })

  test('without usage can be counted, reasoning and tools included', async () => {
    const message = { content: null, reasoning_content: 'x'.repeat(8), tool_calls: [{ id: 'a' }] }
    respond = () => Response.json({ choices: [{ message }, { message: { content: '你好' } }, 5] })
    const reply = await ask()
    expect(reply).toMatchObject({ kind: 'json', reported: { usage: undefined } })
    if (reply.kind === 'json') expect(reply.countOutputTokens()).toBe(7)
  })

  test('as a stream has a reader and a watcher that knows both names', async () => {
    const events = `data: ${JSON.stringify({ model: 'up-model', choices: [] })}\n\ndata: [DONE]\n\n`
    respond = () =>
      new Response(events, {
        headers: { 'content-type': 'text/event-stream', 'request-id': 'up_2' },
      })
    const reply = await ask({ stream: true })
    expect(reply).toMatchObject({ kind: 'stream', upstreamRequestId: 'up_2' })
    if (reply.kind !== 'stream') return
    const bytes = await reply.answer.read()
    const passed = reply.watcher.take(bytes!)
    expect(Buffer.from(passed!).toString()).toContain('"model":"own"')
    expect(reply.watcher.outcome).toBe('finished')
  })
})

describe('a bad answer is a failure:', () => {
  const html = { headers: { 'content-type': 'text/html' } }
  test.each<[string, () => Response, string]>([
    [
      'an error',
      () => Response.json({ error: { message: 'x' } }, { status: 500 }),
      'upstream_error',
    ],
    ['a page', () => new Response('<html></html>', html), 'upstream_invalid_response'],
    ['nothing', () => new Response(''), 'upstream_invalid_response'],
    ['a list', () => Response.json([]), 'upstream_invalid_response'],
    ['half of a JSON', () => new Response('{"choices":['), 'upstream_invalid_response'],
    [
      'an error with status 200',
      () => Response.json({ error: { message: 'x' } }),
      'upstream_error',
    ],
    ['no choices', () => Response.json({ id: 'x' }), 'upstream_invalid_response'],
    ['no content', () => new Response(null, { status: 204 }), 'upstream_error'],
  ])('%s', async (_, answer, code) => {
    respond = answer
    expect(await failureOf(ask())).toMatchObject({ code })
  })

  test('a web page where a stream was asked for', async () => {
    const headers = { 'x-request-id': 'up_1', 'content-type': 'text/html' }
    respond = () => new Response('<html>', { headers })
    expect(await failureOf(ask({ stream: true }))).toMatchObject({
      code: 'upstream_invalid_response',
      upstreamRequestId: 'up_1',
    })
  })

  test('a redirect, which is not followed and gets no key', async () => {
    const location = `http://127.0.0.1:${elsewhere.port}/`
    respond = () => new Response(null, { status: 307, headers: { location } })
    expect(await failureOf(ask())).toMatchObject({ code: 'upstream_error', httpStatus: 307 })
    expect(strangers).toEqual([])
  })

  test('a body that breaks off', async () => {
    const cut = createServer((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"choices":')
        setTimeout(() => socket.destroy(), 5)
      })
    })
    await new Promise<void>((resolve) => cut.listen(0, '127.0.0.1', resolve))
    const { port } = cut.address() as AddressInfo
    expect(await failureOf(ask({ port }))).toMatchObject({ code: 'upstream_error' })
    cut.close()
  })

  test('an error text that inflates beyond its limit, which is not read', async () => {
    const packed = gzipSync(JSON.stringify({ error: { message: 'x'.repeat(1 << 20) } }))
    respond = () => new Response(packed, { status: 500, headers: { 'content-encoding': 'gzip' } })
    expect(await failureOf(ask())).toMatchObject({
      code: 'upstream_error',
      message: 'the upstream answered with status 500',
    })
  })

  test('nobody there', async () => {
    const gone = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    await gone.stop(true)
    const failure = await failureOf(ask({ port: gone.port }))
    expect(failure).toMatchObject({ code: 'upstream_unreachable' })
    expect(failure).toHaveProperty('cause')
  })

  test('an abort, before the answer and in the middle of it', async () => {
    const stopped = new Cancellation()
    stopped.cancel()
    expect(await failureOf(ask({ stop: stopped }))).toMatchObject({
      code: 'upstream_unreachable',
    })
    const stop = new Cancellation()
    respond = () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            controller.enqueue(Buffer.from('{"choices":'))
            stop.cancel()
            return new Promise(() => {})
          },
        }),
      )
    expect(await failureOf(ask({ stop }))).toMatchObject({
      code: expect.stringMatching(/^upstream_/),
    })
  })
})
