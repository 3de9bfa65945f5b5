// Which downloads count as an image, and that one failure does not affect the others.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { ImageTask } from '../../../contract/task.ts'
import { aTask } from '../../../store/tasks/test-tasks.ts'
import { newTestEngine, type TestEngine } from '../../test-engine.ts'
import { fetchImages } from './fetch-images.ts'

const png = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1')
const jpeg = Buffer.from('\xff\xd8\xff\xe0rest', 'latin1')
const webp = Buffer.from('RIFF\x01\x02\x03\x04WEBPrest', 'latin1')
const gif = Buffer.from('GIF89a rest')
const maxBytes = 32 * 1024 * 1024
const sized = (bytes: number) => Buffer.concat([png, Buffer.alloc(bytes - png.length)])

const answers: Record<string, () => Response> = {
  '/a.png': () => new Response(png, { headers: { 'content-type': 'text/html' } }),
  '/a.jpg': () => new Response(jpeg),
  '/a.webp': () => new Response(webp),
  '/a.gif': () => new Response(gif),
  '/page': () => new Response('<html>', { headers: { 'content-type': 'image/png' } }),
  '/gone': () => new Response('no', { status: 404 }),
  '/away': () => new Response(null, { status: 302, headers: { location: 'http://10.0.0.1/' } }),
  '/largest': () => new Response(sized(maxBytes)),
  '/larger': () => new Response(sized(maxBytes + 1)),
}
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request) => answers[new URL(request.url).pathname]!(),
})

let test_: TestEngine
beforeAll(async () => {
  test_ = await newTestEngine('sqlite')
})
afterAll(async () => {
  server.stop(true)
  await test_.close()
})

const task: ImageTask = {
  ...aTask(),
  kind: 'image',
  interface: 'images',
  protocol: 'images',
  request: { prompt: 'a cat', count: 1, media: [], isEdit: false },
}
const at = (path: string) => `http://127.0.0.1:${server.port}${path}`
const fetchAs = async (egressAllow: string[], urls: string[]) => {
  const media = urls.map((url) => ({ kind: 'image' as const, url }))
  const all = await fetchImages({ ...test_.engine, egressAllow }, task, media)
  return all.map((base64) => base64 && Buffer.from(base64, 'base64'))
}
const fetchAll = (...urls: string[]) => fetchAs(['127.0.0.1/32'], urls)
const inline = (bytes: Buffer, type = 'image/png') =>
  `data:${type};base64,${bytes.toString('base64')}`

test('pictures come in the order they were asked for, whatever is said of their type', async () => {
  const urls = ['/a.png', '/a.jpg', '/a.webp', '/a.gif'].map(at)
  expect(await fetchAll(...urls, inline(png))).toEqual([png, jpeg, webp, gif, png])
})

test.each(['/page', '/gone', '/away', '/larger'])(
  '%s cannot be had, and the others can',
  async (path) => {
    expect(await fetchAll(at('/a.png'), at(path), at('/a.gif'))).toEqual([png, undefined, gif])
  },
)

test('the largest that is taken is taken', async () => {
  const [max] = await fetchAll(at('/largest'))
  expect(max?.length).toBe(maxBytes)
})

test('together they may not be larger than an answer can hold', async () => {
  const five = await fetchAll(...Array(5).fill(at('/largest')))
  expect(five.filter((each) => each === undefined).length).toBeGreaterThan(0)
})

test.each([
  ['no picture', inline(Buffer.from('<html>'))],
  ['no base64', 'data:image/png;base64,?'],
  ['cut off', 'data:image/png;base64,…'],
  ['of no encoding', 'data:image/png,iVBORw0KGgo'],
  ['without anything', 'data:'],
])('data that is %s is no picture', async (_, url) => {
  expect(await fetchAll(url)).toEqual([undefined])
})

test('an address inside this network is not asked', async () => {
  expect(await fetchAs([], [at('/a.png')])).toEqual([undefined])
})
