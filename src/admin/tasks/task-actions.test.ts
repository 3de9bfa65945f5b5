// What an administrator may do about a task besides looking and cancelling: see a picture it was made
// from, and nothing but pictures; have it made again, unless that cannot be the same.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { InputMedia } from '../../contract/task.ts'
import { refresh } from '../../engine/catalog/refresh.ts'
import { newTestEngine, type TestEngine } from '../../engine/test-engine.ts'
import { newRequestContext } from '../../http/request-context.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { insertTask } from '../../store/tasks/tasks.ts'
import { aTask } from '../../store/tasks/test-tasks.ts'
import type { AdminApp } from '../route.ts'
import { admin } from '../test-admin.ts'

const limits = { bodyBytes: 100_000, bodyMs: 5_000, jsonDepth: 20, listPage: 500 }
const connection = { ip: () => '127.0.0.1', keepOpen: () => {} }
const png = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1')
const pages: Record<string, () => Response> = {
  '/a.png': () => new Response(png, { headers: { 'content-type': 'text/html' } }),
  '/page': () => new Response('<script>1</script>', { headers: { 'content-type': 'image/png' } }),
  '/a.svg': () => new Response('<svg/>', { headers: { 'content-type': 'image/svg+xml' } }),
  '/gone': () => new Response('no', { status: 404 }),
}
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request) => pages[new URL(request.url).pathname]!(),
})

let it: TestEngine
let app: AdminApp
let guarded: AdminApp
let tokenId: string
let accountId: string

beforeAll(async () => {
  it = await newTestEngine('sqlite')
  const isAdmin = () => true
  guarded = admin({ engine: it.engine, limits, isAdmin })
  Object.assign(it.engine, { egressAllow: [] })
  app = admin({ engine: { ...it.engine, egressAllow: ['127.0.0.1/32'] }, limits, isAdmin })
  await refresh(it.engine)
  await ask('POST', '/accounts', { name: 'acme', balance: '10.00' })
  accountId = (await findAccount(it.engine.store.read, 'acme'))!.id
  const made = await ask('POST', '/tokens', { account: 'acme', name: 'ci' })
  tokenId = ((await made.json()) as { id: string }).id
  await refresh(it.engine)
})
afterAll(async () => {
  server.stop(true)
  await it.close()
})

function ask(method: string, path: string, body?: object, through = guarded) {
  const headers = { authorization: 'Bearer boss', 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const request = new Request(`http://localhost${path}`, { method, headers, ...sent })
  return through.fetch(request, { context: newRequestContext(request, connection) })
}

const add = async (media: InputMedia[], more: Parameters<typeof aTask>[0] = {}) => {
  const request = { ...aTask().request, media }
  const task = aTask({ accountId, tokenId, ...more, request })
  await it.engine.store.tx((tx) => insertTask(tx, task))
  return task.id
}
const at = (path: string): InputMedia => ({
  kind: 'image',
  url: `http://127.0.0.1:${server.port}${path}`,
})

test('a picture comes as what it is, whatever is said of it', async () => {
  const id = await add([at('/gone'), at('/a.png')])
  const answer = await app.fetch(...asked(`/tasks/${id}/input?part=1`))
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(png)
})

function asked(path: string) {
  const request = new Request(`http://localhost${path}`, {
    headers: { authorization: 'Bearer boss' },
  })
  return [request, { context: newRequestContext(request, connection) }] as const
}

test.each(['/page', '/a.svg', '/gone'])('%s is no picture and is not shown', async (path) => {
  const id = await add([at(path)])
  const answer = await app.fetch(...asked(`/tasks/${id}/input`))
  expect(answer.status).toBe(404)
  expect(await answer.text()).not.toContain('<')
})

test('what is no picture by address, or not there, is not found', async () => {
  const id = await add([
    { kind: 'image', url: 'data:image/png;base64,…' },
    { kind: 'video', url: at('/a.png').url },
  ])
  for (const part of ['0', '1', '2', '-1', 'x', '__proto__']) {
    expect([part, (await ask('GET', `/tasks/${id}/input?part=${part}`)).status]).toEqual([
      part,
      404,
    ])
  }
  expect((await ask('GET', '/tasks/video_none/input')).status).toBe(404)
})

test('an address inside this network is not asked', async () => {
  const id = await add([at('/a.png')])
  expect((await ask('GET', `/tasks/${id}/input`)).status).toBe(404)
})

test('what could not be the same is not made again', async () => {
  const inline = await add([{ kind: 'image', url: 'data:image/png;base64,…' }])
  const images = await add([], { interface: 'images', protocol: 'images' })
  const orphan = await add([], { tokenId: 'tok_gone' })
  for (const [id, why] of [
    [inline, 'bytes'],
    [images, 'by a call'],
    [orphan, 'token'],
  ] as const) {
    const answer = await ask('POST', `/tasks/${id}/rerun`)
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(why)])
  }
  expect((await ask('POST', '/tasks/video_none/rerun')).status).toBe(404)
})
