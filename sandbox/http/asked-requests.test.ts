import { afterAll, expect, test } from 'bun:test'
import { startSandbox } from '../server.ts'
import { chatOf, post, postTo } from '../testing.ts'
import { AskedRequests } from './asked-requests.ts'

const key = 'upk-asked-0123456789'
const sandbox = startSandbox({ key })
afterAll(() => sandbox.stop())

const request = (url = 'http://up.example/v1/responses') =>
  new Request(url, { method: 'POST', headers: { 'x-session': 'a' } })

test('a text request is kept as it was received, without its credentials', async () => {
  const body = '{ "model" : "txta-plus",\n "messages": [{"role":"user","content":"h\\u00e9"}] }'
  const headers = { authorization: `Bearer ${key}`, cookie: `session=${key}`, 'x-session': 's-1' }
  expect((await post(sandbox, body, { headers })).status).toBe(200)
  const [asked] = sandbox.asked()
  expect(asked).toMatchObject({
    number: 1,
    protocol: 'chat',
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { 'x-session': 's-1' },
    body,
  })
  expect(JSON.stringify(asked)).not.toContain(key)
})

test('a key in the query is left out, the rest of the query is kept', async () => {
  const path = `/v1beta/models/txta-plus:streamGenerateContent?key=${key}&alt=sse`
  await postTo(sandbox.url + path, { contents: [] }, { headers: { 'x-goog-api-key': key } })
  const asked = sandbox.asked().at(-1)!
  expect(asked.path).toBe('/v1beta/models/txta-plus:streamGenerateContent?alt=sse')
  expect(JSON.stringify(asked)).not.toContain(key)
})

test('refused requests are kept too, other protocols and polls are not', async () => {
  const before = sandbox.asked().length
  await post(sandbox, chatOf('x'), { headers: { authorization: 'Bearer wrong' } })
  await postTo(`${sandbox.url}/v1/images/generations`, { model: 'imga-plus', prompt: 'x' })
  await fetch(`${sandbox.url}/nothing`)
  expect(sandbox.asked().length).toBe(before + 1)
})

test('they are read over HTTP with the key only, from a number on', async () => {
  const url = `${sandbox.url}/_sandbox/requests`
  const read = (query: string, token = key) =>
    fetch(url + query, { headers: { authorization: `Bearer ${token}` } })
  const all = sandbox.asked()
  expect(await (await read('')).json()).toEqual({ requests: all })
  expect(await (await read('?since=1')).json()).toEqual({ requests: all.slice(1) })
  expect([(await fetch(url)).status, (await read('', 'wrong')).status]).toEqual([401, 401])
  expect((await fetch(url, { method: 'DELETE' })).status).toBe(405)
})

test('a reader can have a token of its own', async () => {
  const own = startSandbox({ key, readerToken: 'reader-0123456789' })
  const status = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    return (await fetch(`${own.url}/_sandbox/requests`, { headers })).status
  }
  expect([await status(key), await status('reader-0123456789')]).toEqual([401, 200])
  await own.stop()
})

test('the oldest are forgotten beyond a count and beyond a size', () => {
  const many = new AskedRequests()
  for (let i = 0; i < 250; i++) many.keep(`sbx-${i}`, 'responses', request(), new Uint8Array(1))
  expect(many.read().map(({ number }) => number)).toEqual(
    Array.from({ length: 200 }, (_, i) => 51 + i),
  )
  const large = new AskedRequests()
  for (let i = 0; i < 5; i++) large.keep('sbx', 'chat', request(), new Uint8Array(5_000_000))
  expect(large.read().map(({ number }) => number)).toEqual([3, 4, 5])
  large.keep('sbx', 'chat', request(), new Uint8Array(20_000_000))
  expect(large.read().at(-1)).toMatchObject({ number: 6, body: null })
})
