// What a message meets on its way, proven on the far side: a listener that counts who came.
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { createServer, type Socket } from 'node:net'
import { guardedPost, type PostOptions } from './guarded-post.ts'

type Reply = (socket: Socket) => void
const answer =
  (line: string, more = ''): Reply =>
  (socket) =>
    socket.end(`HTTP/1.1 ${line}\r\n${more}Content-Length: 2\r\n\r\nok`)

let arrived: string[] = []
let reply: Reply = answer('200 OK')
const server = createServer((socket) => {
  let text = ''
  arrived.push('')
  socket.on('error', () => {})
  socket.on('data', (bytes) => {
    text += bytes
    arrived[arrived.length - 1] = text
    if (text.includes('\r\n\r\n') && text.endsWith('}')) reply(socket)
  })
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as { port: number }

beforeEach(() => {
  arrived = []
  reply = answer('200 OK')
})
afterAll(() => {
  server.close()
})

const loopback = { allow: ['127.0.0.0/8'], httpsOnly: true }
const post = (url: string, more: Partial<PostOptions> = {}) =>
  guardedPost(url, {
    rules: loopback,
    headers: { 'content-type': 'application/json', 'webhook-id': 'msg_1' },
    body: '{"a":"ä✓"}',
    timeoutMs: 5_000,
    ...more,
  })
const here = `http://127.0.0.1:${port}/hook?a=b`

test('a message arrives whole, with its headers and its true length', async () => {
  expect(await post(here)).toEqual({ status: 200 })
  const [head = '', body] = (arrived[0] ?? '').split('\r\n\r\n')
  expect(body).toBe('{"a":"ä✓"}')
  expect(head.split('\r\n')).toEqual([
    'POST /hook?a=b HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'content-type: application/json',
    'webhook-id: msg_1',
    'accept: */*',
    'connection: close',
    'Content-Length: 13',
  ])
})

test('a redirect is an answer like any other, and is not followed', async () => {
  reply = answer('307 Temporary Redirect', `Location: ${here}\r\n`)
  expect(await post(here)).toEqual({ status: 307 })
  expect(arrived).toHaveLength(1)
})

test('the status counts, whatever becomes of the body', async () => {
  reply = (socket) => {
    socket.write('HTTP/1.1 204 No Content\r\n\r\n')
    socket.resetAndDestroy()
  }
  expect(await post(here)).toEqual({ status: 204 })
  reply = (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n${'x'.repeat(200_000)}`)
  }
  expect(await post(here)).toEqual({ status: 200 })
  reply = (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx')
  expect(await post(here, { timeoutMs: 100 })).toEqual({ status: 200 })
})

test.each<[string, Reply]>([
  ['the connection broke off before an answer came', (socket) => socket.resetAndDestroy()],
  ['no answer came in time', () => {}],
  ['the answer is not HTTP', (socket) => socket.end('220 mail.example ESMTP ready\r\n\r\n')],
])('without an answer the problem says: %s', async (problem, how) => {
  reply = how
  expect(await post(here, { timeoutMs: 200 })).toEqual({ problem })
  expect(arrived).toHaveLength(1)
})

test('a message can be called off', async () => {
  reply = () => stop.abort()
  const stop = new AbortController()
  expect(await post(here, { signal: stop.signal })).toEqual({ problem: 'it was stopped' })
  expect(await post(here, { signal: stop.signal })).toEqual({ problem: 'it was stopped' })
  expect(arrived).toHaveLength(1)
})

test('nobody is connected to whom the rules do not allow', async () => {
  const none = { allow: [], httpsOnly: true }
  const private_ =
    'the address may not be asked: it is not public, and GATEWAY_EGRESS_ALLOW does not name it'
  const refused: [string, string][] = [
    [here, private_],
    [`https://127.1:${port}/`, private_],
    ['http://169.254.169.254/latest', private_],
    ['https://[::ffff:10.0.0.1]/', private_],
    ['http://93.184.216.34/', 'the address is not https'],
    [
      'https://93.184.216.34:8443/',
      'the port may not be asked: only 80 and 443, unless GATEWAY_EGRESS_ALLOW names the address',
    ],
    ['https://u:p@93.184.216.34/', 'the address holds credentials'],
    ['ftp://93.184.216.34/', 'the address is neither https nor http'],
  ]
  for (const [url, problem] of refused) {
    expect([url, await post(url, { rules: none })]).toEqual([url, { problem }])
  }
  const named = { rules: none, lookup: async () => ['93.184.216.34', '127.0.0.1'] }
  expect(await post('https://two.example/', named)).toEqual({
    problem:
      'the name of the host cannot be resolved, or the address may not be asked: it is not public, and GATEWAY_EGRESS_ALLOW does not name it',
  })
  expect(arrived).toHaveLength(0)
})

test('another address of the same name is tried only where no connection was made', async () => {
  const both = { lookup: async () => ['127.0.0.2', '127.0.0.1'] }
  expect(await post(`http://two.example:${port}/`, both)).toEqual({ status: 200 })
  expect(arrived).toHaveLength(1)
  reply = (socket) => socket.resetAndDestroy()
  const same = { lookup: async () => ['127.0.0.1', '127.0.0.1'] }
  expect(await post(`http://two.example:${port}/`, same)).toMatchObject({
    problem: 'the connection broke off before an answer came',
  })
  expect(arrived).toHaveLength(2)
})
