// Bodies made to be much work: each is answered with its own refusal, and the gateway goes on answering
// others. How long nobody else is served is measured by the bench (`--only stall`).
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { adminToken, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { rowOf } from '../support/read.ts'

const rich = 'sk-rich-0123456789abcdefghijklmnop'
const poor = 'sk-poor-0123456789abcdefghijklmnop'
const slow = 'sk-slow-0123456789abcdefghijklmnop'
const config = JSON.stringify({
  accounts: [
    { name: 'rich', balance: '1000.00' },
    { name: 'poor', balance: '0.00' },
  ],
  tokens: [
    { account: 'rich', name: 'rich', token: rich },
    { account: 'poor', name: 'poor', token: poor },
    { account: 'rich', name: 'slow', token: slow, limits: { rpm: 1 } },
  ],
})

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({ config, dataDir: tempDir() })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

const mebibyte = 1024 * 1024
const filled = (piece: string, bytes: number) => piece.repeat(Math.floor(bytes / piece.length))
const numbered = (bytes: number, piece: (index: number) => string): string => {
  const pieces: string[] = []
  for (let size = 0, i = 0; size < bytes; i++)
    size += pieces.push(piece(i)) && pieces[i]!.length + 1
  return pieces.join(',')
}

const send = async (path: string, body: string, token = rich, type = 'application/json') => {
  const answer = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': type },
    body,
  })
  const { error } = (await answer.json()) as { error?: { code: string; request_id: string } }
  return { status: answer.status, code: error?.code, requestId: error?.request_id ?? '' }
}

const chat = '/v1/chat/completions'
const hello = '"model":"txta-plus","max_tokens":5,"messages":[{"role":"user","content":"hello"}]'
const bytes = 8 * mebibyte

const shapes: [name: string, body: () => string][] = [
  ['empty objects', () => `{${hello},"x":[${filled('{},', bytes)}0]}`],
  ['empty lists', () => `{${hello},"x":[${filled('[],', bytes)}0]}`],
  ['"prototype" and objects', () => `{${hello},"x":["prototype",${filled('{},', bytes)}0]}`],
  ['tools', () => `{${hello},"tools":[${filled('{},', bytes)}{}]}`],
  ['many keys', () => `{${hello},${numbered(bytes, (i) => `"k${i}":1`)}}`],
  ['objects of new keys', () => `{${hello},"x":[${numbered(bytes, (i) => `{"k${i}":1}`)}]}`],
  ['new words', () => `{${hello},"x":[${numbered(bytes, (i) => `"s${i}"`)}]}`],
  ['numbers', () => `{${hello},"x":[${filled('1,', bytes)}0]}`],
  ['one number', () => `{${hello},"x":${filled('1', 2 * bytes)}}`],
  ['white space', () => `{${hello},"x":${filled(' ', 2 * bytes)}1}`],
  ['escaped quotes', () => `{${hello},"x":"${filled('\\"', bytes)}"}`],
  ['backslashes', () => `{${hello},"x":"${filled('\\\\', bytes)}"}`],
]

describe('a body of many', () => {
  test.each(shapes)('%s is refused, and others are answered meanwhile', async (_, body) => {
    const sent = send(chat, body())
    let isDone = false
    const refused = sent.finally(() => {
      isDone = true
    })
    let answered = 0
    while (!isDone) {
      expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
      answered++
    }
    expect(answered).toBeGreaterThan(0)
    expect(await refused).toMatchObject({ status: 413, code: 'request_too_large' })
  })

  test('levels is refused as too deep', async () => {
    const body = `{${hello},"x":${filled('[', bytes)}}`
    expect(await send(chat, body)).toMatchObject({ status: 400, code: 'invalid_json' })
  })

  test('parts of a form is refused', async () => {
    const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
    const type = 'multipart/form-data; boundary=b'
    const sent = await send('/v1/videos', `${filled(part, bytes)}--b--\r\n`, rich, type)
    expect(sent).toMatchObject({ status: 400, code: 'invalid_request' })
  })
})

describe('what people send is taken, such as', () => {
  const picture = filled('iVBORw0K', 7 * mebibyte)
  const code = 'if (a === "b") {\n\treturn c + "\\"d\\""\n}\n'.repeat(20_000)
  const schema = {
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [
        `field_${i}`,
        { type: 'string', description: 'What this field is for, in a sentence.', enum: ['a', 'b'] },
      ]),
    ),
  }
  const messages = (count: number) =>
    Array.from({ length: count }, (_, i) => ({
      role: i % 2 === 0 ? 'user' : 'assistant',
      content: [{ type: 'text', text: `turn ${i} of a long conversation` }],
    }))
  const bodies: [string, () => object][] = [
    [
      'four pictures of 7 MB',
      () => ({
        messages: [
          {
            role: 'user',
            content: Array.from({ length: 4 }, () => ({
              type: 'image_url',
              image_url: { url: `data:image/png;base64,${picture}` },
            })),
          },
        ],
      }),
    ],
    ['a long text of code', () => ({ messages: [{ role: 'user', content: code }] })],
    ['10,000 messages', () => ({ messages: messages(10_000) })],
    [
      '200 tools with large schemas',
      () => ({
        messages: messages(1),
        tools: Array.from({ length: 200 }, (_, i) => ({
          type: 'function',
          function: { name: `f${i}`, parameters: schema },
        })),
      }),
    ],
  ]
  test.each(bodies)('%s', async (_, body) => {
    const text = JSON.stringify({ model: 'txta-vl-plus', max_tokens: 5, ...body() })
    const sent = await send(chat, text)
    // Whether the model takes that much is another question; reading it was none.
    expect(['request_too_large', 'invalid_json']).not.toContain(sent.code!)
  })

  test('300,000 tokens as numbers', async () => {
    const input = Array.from({ length: 300_000 }, (_, i) => i % 100_000)
    const sent = await send('/v1/embeddings', JSON.stringify({ model: 'txta-embed', input }))
    expect(['request_too_large', 'invalid_json']).not.toContain(sent.code!)
  })
})

/** Sends a head and, after it, nothing of the body that it promises; gives what comes back. */
function promise(path: string, length: number, headers: Record<string, string>): Promise<string> {
  const { port } = new URL(gateway.url)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1')
    let got = ''
    socket.on('data', (data) => {
      got += data
      if (!got.includes('\r\n\r\n')) return
      socket.destroy()
      resolve(got)
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(got))
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${lines.join('')}content-length: ${length}\r\n\r\n`,
    )
  })
}

const paths = [
  chat,
  '/v1/responses',
  '/v1/messages',
  '/v1/messages/count_tokens',
  '/v1/embeddings',
  '/vendorg/v1beta/models/txta-plus:generateContent',
  '/vendorg/v1beta/models/txta-plus:streamGenerateContent',
  '/vendorg/v1beta/models/txta-plus:countTokens',
  '/vendorg/v1beta/models/txta-embed:batchEmbedContents',
  '/v1/images/generations',
  '/v1/images/edits',
  '/v1/videos',
  '/arkvendor/api/v3/contents/generations/tasks',
  '/vendorg/v1beta/models/vendorg-video-1:predictLongRunning',
  '/imgvendor/v1/images/generations',
]

describe('before a byte of the body has come', () => {
  test.each(paths)('an empty balance is 402 at %s, with a row in the log', async (path) => {
    const answer = await promise(path, 32 * mebibyte, { authorization: `Bearer ${poor}` })
    expect(answer).toStartWith('HTTP/1.1 402')
    const id = /x-gateway-request-id: (\S+)/i.exec(answer)![1]!
    const row = await rowOf(gateway, id)
    expect([row.status, row.error_code]).toEqual([402, 'insufficient_quota'])
  })

  test('a token over its rate is 429', async () => {
    const first = await send(chat, `{${hello}}`, slow)
    expect(first.status).toBe(200)
    for (const path of [chat, '/v1/videos', '/imgvendor/v1/images/generations']) {
      const answer = await promise(path, 32 * mebibyte, { authorization: `Bearer ${slow}` })
      expect(answer).toStartWith('HTTP/1.1 429')
      expect(answer).toMatch(/\r\nretry-after: \d+\r\n/i)
    }
  })

  test('a token that is none is 401', async () => {
    const answer = await promise(chat, 32 * mebibyte, { authorization: 'Bearer sk-nobody' })
    expect(answer).toStartWith('HTTP/1.1 401')
  })
})

describe('the admin API', () => {
  const admin = { authorization: `Bearer ${adminToken}` }

  test.each(['/admin/v1/session', '/admin/v1/setup'])(
    'reads 4 KB of strangers and no more, at %s',
    async (path) => {
      expect(await promise(path, 4_097, {})).toStartWith('HTTP/1.1 413')
      const body = `{"name":"x","password":"y","prototype":1,"a":[${filled('{},', 3_000)}0]}`
      const answer = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      expect([400, 401, 403, 404, 409]).toContain(answer.status)
      const endless = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(1_024).fill(0x20)),
      })
      const chunked = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: endless,
      })
      expect(chunked.status).toBe(413)
    },
  )

  test('reads 1 MB of people, and 4 MB of an import', async () => {
    expect(await promise('/admin/v1/accounts', mebibyte + 1, admin)).toStartWith('HTTP/1.1 413')
    const large = 4 * mebibyte + 1
    expect(await promise('/admin/v1/channels/import', large, admin)).toStartWith('HTTP/1.1 413')
    expect(await promise('/admin/v1/prices/import', large, admin)).toStartWith('HTTP/1.1 413')
  })
})

test('what is refused for its shape is in the log', async () => {
  const { requestId } = await send(chat, `{${hello},"x":[${filled('{},', bytes)}0]}`)
  const row = await rowOf(gateway, requestId)
  expect([row.status, row.error_code]).toEqual([413, 'request_too_large'])
})
