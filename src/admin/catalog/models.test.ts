// The catalog asked of the whole admin API: a model that was added can be taken back, unless another name
// needs it.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { refresh } from '../../engine/catalog/refresh.ts'
import { newTestEngine, type TestEngine } from '../../engine/test-engine.ts'
import { newRequestContext } from '../../http/request-context.ts'
import type { AdminApp } from '../route.ts'
import { admin } from '../test-admin.ts'

const limits = { bodyBytes: 100_000, bodyMs: 5_000, jsonDepth: 20, listPage: 500 }

let it: TestEngine
let app: AdminApp
beforeAll(async () => {
  it = await newTestEngine('sqlite')
  app = admin({ engine: it.engine, limits, isAdmin: (secret) => secret === 'boss' })
  await refresh(it.engine)
})
afterAll(() => it.close())

async function ask(method: string, path: string, body?: object) {
  const request = new Request(`http://localhost${path}`, {
    method,
    headers: { authorization: 'Bearer boss', 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const context = newRequestContext(request, { ip: () => '10.0.0.1', keepOpen: () => {} })
  const answer = await app.fetch(request, { context })
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return { status: answer.status, body: (await answer.json()) as any }
}

const named = async (name: string) => {
  const { items } = (await ask('GET', '/models?limit=500')).body
  return items.find((each: { name: string }) => each.name === name)
}

test('a model that was added is removed, and what another name needs is not', async () => {
  await ask('PUT', '/models/house', { kind: 'text', interfaces: ['chat'] })
  await ask('PUT', '/models/coder', { kind: 'text', virtual: ['house', 'txta-plus'] })
  await ask('PUT', '/models/claude-*', { alias: 'coder' })
  const needed = await ask('DELETE', '/models/house')
  expect([needed.status, needed.body.error.code]).toEqual([409, 'conflict'])
  expect(needed.body.error.message).toContain("'coder' then has the member 'house'")
  expect((await ask('DELETE', '/models/coder')).status).toBe(409)
  for (const name of ['claude-*', 'coder', 'house']) {
    const gone = await ask('DELETE', `/models/${encodeURIComponent(name)}`)
    expect([gone.status, gone.body]).toEqual([200, { id: name, deleted: true }])
    expect(await named(name)).toBeUndefined()
  }
  expect((await ask('DELETE', '/models/house')).status).toBe(404)
  const { items } = (await ask('GET', '/audit-log?action=model.delete')).body
  expect(items.map(({ subject }: { subject: string }) => subject)).toEqual([
    'house',
    'coder',
    'claude-*',
  ])
})

test('a built-in model that was replaced is there again, and cannot be removed itself', async () => {
  const before = await named('txta-turbo')
  await ask('PUT', '/models/txta-turbo', {
    ...{ kind: 'text', interfaces: ['chat'], max_output_tokens: 7 },
  })
  expect(await named('txta-turbo')).toMatchObject({ source: 'api', max_output_tokens: 7 })
  expect((await ask('DELETE', '/models/txta-turbo')).status).toBe(200)
  expect(await named('txta-turbo')).toEqual(before)
  expect((await ask('DELETE', '/models/txta-turbo')).status).toBe(409)
})
