import { afterAll, expect, test } from 'bun:test'
import { fetchMedia } from './fetch-media.ts'

const png = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1')
const jpeg = Buffer.from('\xff\xd8\xff\xe0rest', 'latin1')
const webp = Buffer.from('RIFF\x01\x02\x03\x04WEBPrest', 'latin1')

const answers: Record<string, () => Response> = {
  '/a.png': () => new Response(png, { headers: { 'content-type': 'text/html' } }),
  '/a.jpg': () => new Response(jpeg),
  '/a.webp': () => new Response(webp),
  '/a.gif': () => new Response('GIF89a', { headers: { 'content-type': 'image/gif; x=y' } }),
  '/page': () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
  '/gone': () => new Response('no', { status: 404 }),
  '/away': () => new Response(null, { status: 302, headers: { location: 'http://10.0.0.1/' } }),
  '/large': () => new Response(Buffer.alloc(21 * 1024 * 1024)),
}
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request) => answers[new URL(request.url).pathname]!(),
})
afterAll(() => server.stop(true))

const at = (path: string, egressAllow = ['127.0.0.1/32']) =>
  fetchMedia({ egressAllow }, `http://127.0.0.1:${server.port}${path}`)

test.each([
  ['/a.png', 'image/png', png],
  ['/a.jpg', 'image/jpeg', jpeg],
  ['/a.webp', 'image/webp', webp],
  ['/a.gif', 'image/gif', Buffer.from('GIF89a')],
])('%s is a picture of type %s', async (path, mimeType, bytes) => {
  const fetched = await at(path)
  if ('problem' in fetched) throw new Error(fetched.problem)
  expect(fetched.mimeType).toBe(mimeType)
  expect(Buffer.from(fetched.bytes)).toEqual(bytes)
})

test.each([
  ['/page', 'not a picture'],
  ['/gone', 'answered with 404'],
  ['/away', 'may not be asked'],
  ['/large', 'too large'],
])('%s is a problem: %s', async (path, why) => {
  expect(await at(path)).toEqual({ problem: expect.stringContaining(why) })
})

test('an address of this machine is not asked unless the operator allows it', async () => {
  expect(await at('/a.png', [])).toEqual({
    problem:
      'the address may not be asked: it is not public, and GATEWAY_EGRESS_ALLOW does not name it',
  })
})
