import { afterAll, expect, test } from 'bun:test'
import { startSandbox } from '../server.ts'
import { mediaAddress } from './media-address.ts'
import { makeVideo } from './video.ts'

let now = 1_800_000_000_000
const sandbox = startSandbox({ key: 'sk-needed-0123456789', now: () => now })
afterAll(() => sandbox.stop())

const video = { width: 1280, height: 720, seconds: 2, seed: '0123456789abcdef' }
const address = mediaAddress(sandbox.url, video, 1_800_000_060)
const bytes = makeVideo(video)
const size = bytes.length

const get = (headers: Record<string, string> = {}, method = 'GET') =>
  fetch(address, { method, headers })

const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer())

test('a video is there without a key, whole, with its length, type and tag', async () => {
  const response = await get()
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('video/mp4')
  expect(response.headers.get('content-length')).toBe(String(size))
  expect(response.headers.get('accept-ranges')).toBe('bytes')
  expect(response.headers.get('etag')).toMatch(/^"[0-9a-f]+"$/)
  expect(await bytesOf(response)).toEqual(bytes)
})

test('HEAD gives the headers of GET and nothing else', async () => {
  const response = await get({}, 'HEAD')
  expect(response.status).toBe(200)
  expect(response.headers.get('content-length')).toBe(String(size))
  expect(response.headers.get('content-type')).toBe('video/mp4')
  expect(response.headers.get('etag')).toBe((await get()).headers.get('etag'))
  expect((await bytesOf(response)).length).toBe(0)
})

test('a part is given as asked for', async () => {
  const cases: [range: string, start: number, end: number][] = [
    ['bytes=0-99', 0, 100],
    ['bytes=100-', 100, size],
    ['bytes=-50', size - 50, size],
    ['bytes=0-999999999', 0, size],
    [`bytes=${size - 1}-`, size - 1, size],
    ['bytes=-999999999', 0, size],
  ]
  for (const [range, start, end] of cases) {
    const response = await get({ range })
    expect(response.status).toBe(206)
    expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/${size}`)
    expect(response.headers.get('content-length')).toBe(String(end - start))
    expect(await bytesOf(response)).toEqual(bytes.slice(start, end))
  }
})

test('a part beyond the end is refused, and what is not understood means the whole', async () => {
  for (const range of [`bytes=${size}-`, 'bytes=-0']) {
    const response = await get({ range })
    expect(response.status).toBe(416)
    expect(response.headers.get('content-range')).toBe(`bytes */${size}`)
  }
  for (const range of ['bytes=5-2', 'bytes=0-1,5-6', 'lines=1-2', 'bytes=-']) {
    expect((await get({ range })).status).toBe(200)
  }
})

test('the tag saves a second download, and a part of another video is never given', async () => {
  const etag = (await get()).headers.get('etag') ?? ''
  expect((await get({ 'if-none-match': etag })).status).toBe(304)
  expect((await get({ range: 'bytes=0-9', 'if-range': etag })).status).toBe(206)
  expect((await get({ range: 'bytes=0-9', 'if-range': '"other"' })).status).toBe(200)
})

test('a wrong signature, an unknown name and another method are refused', async () => {
  expect((await fetch(address.replace('Expires=18', 'Expires=19'))).status).toBe(403)
  expect((await fetch(address.split('?')[0]!)).status).toBe(403)
  expect((await fetch(address.replace('1280x720', '1281x720'))).status).toBe(404)
  expect((await fetch(address.replace('-2s', '-99s'))).status).toBe(404)
  expect((await fetch(`${sandbox.url}/media/none.mp4`)).status).toBe(404)
  expect((await get({}, 'DELETE')).status).toBe(405)
})

test('an address works until it expires', async () => {
  now = 1_800_000_059_999
  expect((await get()).status).toBe(200)
  now = 1_800_000_060_000
  const late = await get()
  expect(late.status).toBe(403)
  expect(await late.text()).toContain('<Code>AccessDenied</Code>')
})
