// What an administrator sees of callbacks and may do to them, on every engine there is.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { VideoTask } from '../../contract/task.ts'
import { callbackSecrets } from '../../engine/callbacks/callback-secret.ts'
import { openAccount } from '../../engine/catalog/open-account.ts'
import { refresh } from '../../engine/catalog/refresh.ts'
import { fileWith, newTestEngine, type TestEngine } from '../../engine/test-engine.ts'
import { newRequestContext } from '../../http/request-context.ts'
import { type Attempt, recordOutcome } from '../../store/deliveries/queue.ts'
import { callbackQueue, insertCallback } from '../../store/tasks/callbacks.ts'
import { insertTask } from '../../store/tasks/tasks.ts'
import { aTask } from '../../store/tasks/test-tasks.ts'
import { storeKinds } from '../../store/test-stores.ts'
import type { AdminApp } from '../route.ts'
import { admin } from '../test-admin.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Body = any

const limits = { bodyBytes: 100_000, bodyMs: 5_000, jsonDepth: 20, listPage: 500 }
const connection = { ip: () => '127.0.0.1', keepOpen: () => {} }
const atMs = Date.parse('2026-11-01T00:00:00Z')
const url = 'https://hooks.example/a?key=b'

describe.each([...storeKinds])('callbacks in the admin API on %s', (on) => {
  let it: TestEngine
  let app: AdminApp

  beforeAll(async () => {
    it = await newTestEngine(on)
    it.clock.ms = atMs
    app = admin({ engine: it.engine, limits, isAdmin: (secret) => secret === 'boss' })
    await refresh(it.engine)
    const ended = { state: 'succeeded', finishedAtMs: atMs } as const
    await add({ id: 'video_told', callbackUrl: url, ...ended })
    await add({ id: 'video_live', callbackUrl: url, state: 'running' })
    await add({ id: 'video_untold', ...ended })
    await add({ id: 'video_cancelled', callbackUrl: url, ...ended, state: 'cancelled' })
    const row = { id: 'msg_1', taskId: 'video_told', accountId: 'acc_1', url, createdAtMs: atMs }
    await it.engine.store.tx((tx) => insertCallback(tx, row))
    await attempt({ atMs, tookMs: 15_000, error: 'no answer came in time' })
    await attempt({ atMs: atMs + 5_000, tookMs: 12, status: 410 })
  })
  afterAll(() => it.close())

  const add = (more: Partial<VideoTask>) =>
    it.engine.store.tx((tx) => insertTask(tx, { ...aTask(), ...more } as VideoTask))
  const attempt = (made: Attempt) =>
    it.engine.store.tx(async (tx) => {
      await tx.updateTable('callbacks').set({ lease_owner: 'gwy' }).execute()
      await recordOutcome(tx, on, callbackQueue, {
        ...{ id: 'msg_1', owner: 'gwy', attempt: made },
        fateAfter: () =>
          made.status === 410
            ? { state: 'exhausted', endedAtMs: atMs + 5_000 }
            : { state: 'waiting', nextAtMs: atMs + 5_000 },
      })
    })

  async function ask(method: string, path: string): Promise<{ status: number; body: Body }> {
    const headers = { authorization: 'Bearer boss' }
    const request = new Request(`http://localhost${path}`, { method, headers })
    const answer = await app.fetch(request, { context: newRequestContext(request, connection) })
    return { status: answer.status, body: await answer.json() }
  }

  const attempts = [
    {
      at: '2026-11-01T00:00:00.000Z',
      took_ms: 15_000,
      status: null,
      error: 'no answer came in time',
    },
    { at: '2026-11-01T00:00:05.000Z', took_ms: 12, status: 410, error: null },
  ]

  test('a task shows its callback with every attempt, a list does not', async () => {
    expect((await ask('GET', '/tasks/video_told')).body.callback).toEqual({
      id: 'msg_1',
      url,
      state: 'exhausted',
      next_at: null,
      attempts,
    })
    expect((await ask('GET', '/tasks/video_live')).body.callback).toEqual({
      id: null,
      url,
      state: null,
      next_at: null,
      attempts: [],
    })
    expect((await ask('GET', '/tasks/video_untold')).body.callback).toBeNull()
    const { items } = (await ask('GET', '/tasks')).body
    expect(items.filter((item: object) => 'callback' in item)).toEqual([])
  })

  test.each([
    ['exhausted', ['video_told']],
    ['failed', ['video_told']],
    ['waiting', []],
    ['delivered', []],
  ])('tasks are found by their callback: %s', async (callback, ids) => {
    const { items } = (await ask('GET', `/tasks?callback=${callback}`)).body
    expect(items.map(({ id }: Body) => id)).toEqual(ids)
  })

  test.each([
    ['video_untold', 'created without an address'],
    ['video_live', 'has not ended yet'],
    ['video_cancelled', 'called the task off'],
  ])('%s has nothing to send again', async (id, why) => {
    const { status, body } = await ask('POST', `/tasks/${id}/callback`)
    expect([status, body.error.code]).toEqual([409, 'conflict'])
    expect(body.error.message).toContain(why)
  })

  test('a resend starts over under the same id, and is noted', async () => {
    const { status, body } = await ask('POST', '/tasks/video_told/callback')
    expect(status).toBe(200)
    expect(body.callback).toEqual({
      id: 'msg_1',
      url,
      state: 'waiting',
      next_at: '2026-11-01T00:00:00.000Z',
      attempts,
    })
    const noted = (await ask('GET', '/audit-log')).body.items
    expect(noted.filter(({ action }: Body) => action === 'task.callback')).toMatchObject([
      { subject: 'video_told', before: { state: 'exhausted' }, after: { state: 'waiting' } },
    ])
  })

  test('the secret is shown if the gateway made it, and never if the operator did', async () => {
    const name = 'acme'
    const id = await openAccount(it.engine, { name, source: 'api', balanceNanos: 0n })
    const account = { id, name }
    const { secret: made } = await callbackSecrets(it.engine, account.id)
    const own = {
      account: account.name,
      source: 'account',
      secret: made,
      rotated_at: null,
      previous_valid_until: null,
    }
    const path = `/accounts/${account.id}/callback-secret`
    expect((await ask('GET', '/callback-secret')).body).toEqual(own)
    expect((await ask('GET', path)).body).toEqual(own)
    const { body: rotated } = await ask('POST', `${path}/rotate`)
    expect(rotated.secret).not.toBe(made)
    expect(Date.parse(rotated.previous_valid_until)).toBeGreaterThan(Date.parse(rotated.rotated_at))
    expect((await ask('GET', `/callback-secret?account=${account.name}`)).body).toEqual(rotated)
    expect((await ask('GET', '/callback-secret?account=nobody')).status).toBe(404)
    const secret = `whsec_${Buffer.alloc(24, 9).toString('base64')}`
    it.engine.declared = { ...it.engine.declared, file: fileWith({ callbacks: { secret } }) }
    expect((await ask('GET', path)).body).toMatchObject({ source: 'file', secret: null })
    expect((await ask('POST', `${path}/rotate`)).status).toBe(409)
    await refresh(it.engine)
    expect(it.engine.cleaner.cleanLine(`it was ${secret}!`)).not.toContain(secret)
  })
})
