// Finished files on their way to the caller: parts and conditions, where keys go and do not go,
// addresses that stop working, and readers that stop reading.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { mediaAddress } from '../../sandbox/media/media-address.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { rawRequest } from '../support/raw.ts'
import { errorOf } from '../support/read.ts'
import {
  brokenFile,
  type FileUpstream,
  fileTag,
  largeBytes,
  smallFile,
  startFileUpstream,
} from '../support/tasks/file-upstream.ts'

const channelKey = 'upk-files-0123456789abcdef'
const auth = { authorization: `Bearer ${apiToken}` }

const configFor = ({ url }: FileUpstream, more = ''): string => `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - name: files
    keys: [${channelKey}]
    protocols: { vendorg: "${url}" }
    models: { vendorg-video-1: "*" }
${more}
`

let upstream: FileUpstream
let gateway: TestGateway
/** Whoever is a proxy by the environment; nobody may come to it. */
let proxied = 0
const proxy = createServer((socket) => {
  proxied++
  socket.destroy()
})

beforeAll(async () => {
  upstream = await startFileUpstream()
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const at = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`
  gateway = await startGateway({
    config: configFor(upstream),
    env: { GATEWAY_EGRESS_ALLOW: '127.0.0.1/32', HTTP_PROXY: at, HTTPS_PROXY: at, http_proxy: at },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
  proxy.close()
})

/** The id of a finished task whose file is at the first address, then at the next, and so on. */
async function made(addresses: readonly string[], on: TestGateway = gateway): Promise<string> {
  const input = { model: 'vendorg-video-1', prompt: addresses.join(' '), seconds: '4' }
  const created = await on.post('/v1/videos', input)
  const { id } = (await created.json()) as { id: string }
  for (;;) {
    const response = await fetch(`${on.url}/v1/videos/${id}`, { headers: auth })
    const { status } = (await response.json()) as { status: string }
    if (status === 'completed') return id
    expect(['queued', 'in_progress']).toContain(status)
    await Bun.sleep(50)
  }
}

const pathOf = (id: string): string => `/v1/videos/${id}/content`
const download = (id: string, headers: Record<string, string> = {}, on = gateway) =>
  fetch(`${on.url}${pathOf(id)}`, { headers: { ...auth, ...headers }, redirect: 'manual' })
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer())

describe('a file', () => {
  let id: string
  beforeAll(async () => {
    id = await made([`${upstream.files}/small`])
  })

  test('comes whole, with its length and a tag, and nothing else of the upstream', async () => {
    const response = await download(id)
    const { headers } = response
    expect(response.status).toBe(200)
    expect(headers.get('content-length')).toBe(String(smallFile.length))
    expect(headers.get('content-type')).toBe('video/mp4')
    expect(headers.get('accept-ranges')).toBe('bytes')
    expect(headers.get('etag')).toMatch(/^"[0-9a-f]{32}"$/)
    expect(headers.get('etag')).not.toBe(fileTag)
    expect(headers.has('set-cookie')).toBe(false)
    expect((await bytesOf(response)).equals(smallFile)).toBe(true)
  })

  test.each([
    ['bytes=0-9', 0, 10],
    ['bytes=100-', 100, smallFile.length],
    ['bytes=299990-400000', 299_990, smallFile.length],
  ])('comes in the part %p', async (range, from, to) => {
    const response = await download(id, { range })
    expect(response.status).toBe(206)
    const told = `bytes ${from}-${to - 1}/${smallFile.length}`
    expect(response.headers.get('content-range')).toBe(told)
    expect((await bytesOf(response)).equals(smallFile.subarray(from, to))).toBe(true)
  })

  test.each(['bytes=0-1,5-6', 'bytes=9-5', 'lines=1-2', 'nonsense'])(
    'comes whole when %p is asked for',
    async (range) => {
      const response = await download(id, { range })
      expect([response.status, (await bytesOf(response)).length]).toEqual([200, smallFile.length])
    },
  )

  test('has no part behind its end', async () => {
    const response = await download(id, { range: 'bytes=300000-' })
    expect(response.status).toBe(416)
    expect(response.headers.get('content-range')).toBe(`bytes */${smallFile.length}`)
    expect((await errorOf(response)).code).toBe('range_not_satisfiable')
  })

  test('comes in parts only if it is the one the caller means', async () => {
    const tag = (await download(id)).headers.get('etag')!
    const part = await download(id, { range: 'bytes=5-9', 'if-range': tag })
    expect([part.status, (await bytesOf(part)).length]).toEqual([206, 5])
    for (const range of ['bytes=5-9', 'bytes=300000-']) {
      const whole = await download(id, { range, 'if-range': '"another"' })
      expect([whole.status, (await bytesOf(whole)).length]).toEqual([200, smallFile.length])
    }
    const behind = await download(id, { range: 'bytes=300000-', 'if-range': tag })
    expect(behind.status).toBe(416)
  })

  test('is not sent again to a caller that has it', async () => {
    const tag = (await download(id)).headers.get('etag')!
    const again = await download(id, { 'if-none-match': `"x", ${tag}` })
    expect([again.status, (await bytesOf(again)).length]).toEqual([304, 0])
    expect((await download(id, { 'if-none-match': '"x"' })).status).toBe(200)
  })

  test('that its upstream does not part comes whole', async () => {
    const response = await download(await made([`${upstream.files}/whole`]), { range: 'bytes=5-9' })
    expect([response.status, (await bytesOf(response)).length]).toEqual([200, smallFile.length])
  })

  test('tells its length to HEAD, however long it is', async () => {
    const large = await made([`${upstream.files}/large`])
    for (const [task, size] of [
      [id, smallFile.length],
      [large, largeBytes],
    ] as const) {
      const head = `Host: x\r\nAuthorization: Bearer ${apiToken}\r\nRange: bytes=0-1\r\n`
      const text = `HEAD ${pathOf(task)} HTTP/1.1\r\n${head}Connection: close\r\n\r\n`
      const { status, headers, body } = await rawRequest(gateway.url, text)
      expect([status, headers['content-length'], body]).toEqual([200, String(size), ''])
    }
  })
})

describe('on the way to a file', () => {
  test('the key goes to the channel itself and to nobody it leads to', async () => {
    const id = await made([`${upstream.url}/v1beta/files/film:download`])
    upstream.asked.length = 0
    const response = await download(id)
    expect((await bytesOf(response)).equals(smallFile)).toBe(true)
    const [own, other] = upstream.asked
    expect(own!.head).toContain(`x-goog-api-key: ${channelKey}`)
    expect(other!.path).toBe('/small')
    expect(other!.head).not.toContain(channelKey)
  })

  test('a file elsewhere is asked for without any key', async () => {
    const id = await made([`${upstream.files}/small?elsewhere`])
    upstream.asked.length = 0
    await bytesOf(await download(id))
    expect(upstream.asked).toHaveLength(1)
    expect(upstream.asked[0]!.head).not.toMatch(/upk-|api-key|authorization|sk-/)
  })

  test('no proxy of the environment is asked', () => {
    expect(upstream.asked.length).toBeGreaterThan(0)
    expect(proxied).toBe(0)
  })
})

describe('an address that has stopped working', () => {
  const pollsOf = (addresses: readonly string[]) =>
    upstream.polls.get(Buffer.from(addresses.join(' ')).toString('base64url'))

  test('is renewed once, for good, and costs nothing', async () => {
    const addresses = [`${upstream.files}/gone`, `${upstream.files}/small?fresh`]
    const id = await made(addresses)
    const before = await gateway.admin('GET', '/accounts/acme')
    for (let i = 0; i < 3; i++) {
      const response = await download(id)
      expect((await bytesOf(response)).equals(smallFile)).toBe(true)
    }
    expect(pollsOf(addresses)).toBe(2)
    expect((await gateway.admin('GET', '/accounts/acme')).body).toEqual(before.body)
    expect((await gateway.admin('POST', '/audit')).body).toMatchObject({ ok: true })
  })

  test('and cannot be renewed is an expired file, without a question for every caller', async () => {
    const addresses = [`${upstream.files}/gone?1`, `${upstream.files}/gone?2`]
    const id = await made(addresses)
    for (const response of await Promise.all([1, 2, 3, 4].map(() => download(id)))) {
      expect([response.status, (await errorOf(response)).code]).toEqual([410, 'video_expired'])
    }
    expect(pollsOf(addresses)!).toBeLessThanOrEqual(3)
  })
})

/** Everything that comes on a connection of its own, and whether its last chunk was the end. */
function readRaw(id: string): Promise<{ bytes: number; whole: boolean }> {
  const { hostname, port } = new URL(gateway.url)
  return new Promise((resolve) => {
    let bytes = 0
    let tail = ''
    const socket = connect(Number(port), hostname)
    socket.write(
      `GET ${pathOf(id)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiToken}\r\n\r\n`,
    )
    socket.on('data', (piece) => {
      bytes += piece.length
      tail = (tail + piece.toString('latin1', Math.max(0, piece.length - 16))).slice(-16)
      if (tail.endsWith('\r\n0\r\n\r\n')) socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve({ bytes, whole: tail.endsWith('\r\n0\r\n\r\n') }))
  })
}

test('a file that breaks off is seen to, and the rest can be fetched', async () => {
  const id = await made([`${upstream.files}/broken`])
  const { bytes, whole } = await readRaw(id)
  expect(whole).toBe(false)
  expect(bytes).toBeLessThan(brokenFile.length)
  const rest = await download(id, { range: 'bytes=3000000-' })
  expect(rest.status).toBe(206)
  expect((await bytesOf(rest)).equals(brokenFile.subarray(3_000_000))).toBe(true)
})

describe('readers', () => {
  const readers = 10
  const rssBytes = () =>
    Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))![1]) *
    1024

  test('that stop reading hold their upstream back, and lose nothing when they go on', async () => {
    const id = await made([`${upstream.files}/large?stopped`])
    expect(await readRaw(id)).toMatchObject({ whole: true })
    const beforeBytes = process.platform === 'linux' ? rssBytes() : 0
    upstream.sent.length = 0
    const { hostname, port } = new URL(gateway.url)
    const sockets = Array.from({ length: readers }, () => connect(Number(port), hostname))
    for (const socket of sockets) stopAtOnce(socket, pathOf(id))
    const total = () => upstream.sent.reduce((sum, { bytes }) => sum + bytes, 0)
    for (let before = -1; before !== total() || upstream.sent.length < readers; ) {
      before = total()
      await Bun.sleep(500)
    }
    // What is out lies in the buffers of three sockets; here is what the gateway itself holds.
    for (const { bytes } of upstream.sent) expect(bytes).toBeLessThan(largeBytes)
    if (beforeBytes > 0) expect(rssBytes() - beforeBytes).toBeLessThan(readers * 3_000_000)
    const ends = await Promise.all(sockets.map(readOn))
    for (const bytes of ends) expect(bytes).toBeGreaterThan(largeBytes)
    for (const { bytes } of upstream.sent) expect(bytes).toBe(largeBytes)
  })
})

test('a download that runs when the gateway is told to stop is not cut off', async () => {
  const own = await startGateway({
    config: configFor(upstream),
    env: { GATEWAY_EGRESS_ALLOW: '127.0.0.1/32' },
  })
  const id = await made([`${upstream.files}/large?stopping`], own)
  const { hostname, port } = new URL(own.url)
  const socket = connect(Number(port), hostname)
  upstream.sent.length = 0
  stopAtOnce(socket, pathOf(id))
  while (upstream.sent.length === 0) await Bun.sleep(20)
  const stopped = own.stop()
  // Longer than the gateway waits for connections on which nothing runs.
  await Bun.sleep(1_500)
  expect(await readOn(socket)).toBeGreaterThan(largeBytes)
  expect(await stopped).toBe(0)
})

function stopAtOnce(socket: Socket, path: string): void {
  socket.pause()
  socket.on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiToken}\r\n\r\n`)
}

/** How many bytes come until the last chunk. */
function readOn(socket: Socket): Promise<number> {
  return new Promise((resolve) => {
    let bytes = 0
    let tail = ''
    socket.on('data', (piece) => {
      bytes += piece.length
      tail = (tail + piece.toString('latin1', Math.max(0, piece.length - 16))).slice(-16)
      if (tail.endsWith('\r\n0\r\n\r\n')) socket.destroy()
    })
    socket.on('close', () => resolve(tail.endsWith('\r\n0\r\n\r\n') ? bytes : -1))
    socket.resume()
  })
}

describe('with settings for downloads', () => {
  let strict: TestGateway
  beforeAll(async () => {
    strict = await startGateway({
      config: configFor(upstream, 'downloads: { redirect: true, hosts: ["8.8.8.8"] }'),
      env: { GATEWAY_EGRESS_ALLOW: '127.0.0.0/8' },
    })
  })
  afterAll(async () => {
    await strict.stop()
  })

  test('callers are sent to an address that is public and wants no key', async () => {
    const address = 'https://8.8.8.8/film.mp4?Signature=abc'
    const response = await download(await made([address], strict), {}, strict)
    expect([response.status, response.headers.get('location')]).toEqual([302, address])
    expect(response.headers.get('x-gateway-request-id')).toMatch(/^req_/)
  })

  test.each(['small', 'v1beta/files/x'])('and to no other: %s is passed on', async (path) => {
    const base = path === 'small' ? upstream.files : upstream.url
    const response = await download(await made([`${base}/${path}`], strict), {}, strict)
    expect((await bytesOf(response)).equals(smallFile)).toBe(true)
  })

  test('a host that is not named is not asked', async () => {
    const other = upstream.files.replace('127.0.0.1', '127.0.0.2')
    const response = await download(await made([`${other}/small`], strict), {}, strict)
    expect([response.status, (await errorOf(response)).code]).toEqual([502, 'upstream_unreachable'])
  })
})

test('films of the sandbox open under the gateway, and nothing else of it does', async () => {
  const own = await startGateway()
  const sandbox = /Sandbox +on, at (\S+);/.exec(own.output())![1]!
  const film = { seed: '0123456789abcdef', width: 64, height: 64, seconds: 2 }
  const address = mediaAddress(sandbox, film, Math.floor(Date.now() / 1000) + 600)
  const here = address.replace(sandbox, `${own.url}/sandbox`)
  const direct = await bytesOf(await fetch(address))
  const whole = await fetch(here)
  expect([whole.status, whole.headers.get('content-type')]).toEqual([200, 'video/mp4'])
  expect((await bytesOf(whole)).equals(direct)).toBe(true)
  const part = await fetch(here, { headers: { range: 'bytes=10-19' } })
  expect((await bytesOf(part)).equals(direct.subarray(10, 20))).toBe(true)
  const head = await fetch(here, { method: 'HEAD' })
  expect(head.headers.get('content-length')).toBe(String(direct.length))
  expect((await fetch(`${here}x`)).status).toBe(410)
  const aside = await fetch(`${own.url}/sandbox/media/..%2f_sandbox%2fcalls`)
  expect(aside.status).toBe(400)
  for (const path of ['_sandbox', 'a.mp4%3f', 'x/y.mp4', '']) {
    expect((await fetch(`${own.url}/sandbox/media/${path}`)).status).toBe(404)
  }
  expect((await fetch(here, { method: 'POST' })).status).toBe(405)
  await own.stop()
  expect((await fetch(`${gateway.url}/sandbox/media/a.mp4`)).status).toBe(404)
})
