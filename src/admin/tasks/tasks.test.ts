// What an administrator sees of tasks and may do to them, on every engine there is. The rows are
// real, and so is the little upstream that is asked to cancel.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { VideoTask } from '../../contract/task.ts'
import { refresh } from '../../engine/catalog/refresh.ts'
import { newTestEngine, type TestEngine } from '../../engine/test-engine.ts'
import { newRequestContext } from '../../http/request-context.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { insertTask } from '../../store/tasks/tasks.ts'
import { storeKinds } from '../../store/test-stores.ts'
import type { AdminApp } from '../route.ts'
import { admin } from '../test-admin.ts'

interface Fields {
  [name: string]: unknown
  id: string
  items: Fields[]
  next_cursor: string | null
  error: { code: string; param: string | null }
}

const limits = { bodyBytes: 100_000, bodyMs: 5_000, jsonDepth: 20, listPage: 500 }
const connection = { ip: () => '127.0.0.1', keepOpen: () => {} }
const atMs = Date.parse('2026-11-01T00:00:00Z')

describe.each([...storeKinds])('tasks in the admin API on %s', (on) => {
  let it: TestEngine
  let app: AdminApp
  let accountId: string
  let tokenId: string

  beforeAll(async () => {
    it = await newTestEngine(on)
    app = admin({ engine: it.engine, limits, isAdmin: (secret) => secret === 'boss' })
    await refresh(it.engine)
    await ask('POST', '/accounts', { name: 'acme', balance: '10.00' })
    await ask('POST', '/accounts', { name: 'beta', balance: '10.00' })
    accountId = (await findAccount(it.engine.store.read, 'acme'))!.id
    tokenId = (await ask('POST', '/tokens', { account: 'acme', name: 'ci' })).body.id
    await add({ id: 'video_1', state: 'running', progress: 40, upstreamId: 'up-1' })
    await add(finished)
    await add({ id: 'video_3', model: 'vfb-1', channel: 'other', interface: 'arkvendor' })
    const beta = (await findAccount(it.engine.store.read, 'beta'))!.id
    await add({ id: 'video_4', accountId: beta, tokenId: 'tok_gone', state: 'cancelled' })
  })
  afterAll(() => it.close())

  async function ask(method: string, path: string, body?: object) {
    const headers = { authorization: 'Bearer boss', 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const request = new Request(`http://localhost${path}`, { method, headers, ...sent })
    const answer = await app.fetch(request, { context: newRequestContext(request, connection) })
    return { status: answer.status, body: (await answer.json()) as Fields }
  }

  const add = (more: Partial<VideoTask>) =>
    it.engine.store.tx((tx) => insertTask(tx, { ...aTask, accountId, tokenId, ...more }))

  const ids = async (query: string) =>
    (await ask('GET', `/tasks${query}`)).body.items.map(({ id }) => id)

  test('shows all there is to know of a task, by its id or that of its upstream', async () => {
    const { status, body } = await ask('GET', '/tasks/video_2')
    expect(status).toBe(200)
    const { files, ...rest } = body as { files?: { kind: string; url: string }[] }
    expect(files?.map(({ kind, url }) => [kind, url.replace(/\?.*/, '')])).toEqual([
      ['video', 'http://gateway.test/files/video_2/0'],
      ['image', 'http://gateway.test/files/video_2/1'],
    ])
    expect(rest as object).toEqual({
      kind: 'video',
      id: 'video_2',
      account_id: accountId,
      account: 'acme',
      token_id: tokenId,
      token: 'ci',
      request_id: 'req_1',
      served_model: null,
      interface: 'videos',
      model: 'vfa-1',
      upstream_model: 'up-vfa',
      channel: 'up',
      protocol: 'vf',
      upstream_id: 'up-2',
      cost: null,
      margin: null,
      state: 'succeeded',
      progress: 100,
      request: {
        prompt: 'a cat',
        seconds: 5,
        resolution: '720p',
        ratio: '16:9',
        seed: 7,
        images: 2,
        videos: 1,
        inputs: [
          { kind: 'image', role: null, url: 'data:' },
          { kind: 'image', role: null, url: 'https://caller.example/a.png' },
          { kind: 'video', role: null, url: 'https://caller.example/a.mp4' },
        ],
      },
      hold: '3.00',
      charge: '1.25',
      refunded: '0.00',
      tags: {},
      end_user: null,
      price_id: 'price_1',
      usage: { output_seconds: 5, video_tokens: null },
      usage_reported: { duration: 5 },
      media: [
        { kind: 'video', url: 'https://up.example/v.mp4', expires_at: '2026-11-02T00:00:00.000Z' },
        { kind: 'image', url: 'https://up.example/v.png', expires_at: null },
      ],
      error: null,
      created_at: '2026-11-01T00:00:00.000Z',
      started_at: '2026-11-01T00:00:01.000Z',
      finished_at: '2026-11-01T00:01:00.000Z',
      callback_state: null,
      cancel_problem: 'over',
      updated_at: '2026-11-01T00:01:00.000Z',
      next_check_at: null,
      checks: 4,
      unknown_since: null,
      expected_ms: null,
      callback: null,
      // It is older than timelines are: this is what its times tell.
      timeline: [
        stepView('created', 0, 0, 1, 'accepted', 0),
        stepView('polled', 1, 60, 4, 'running', 0),
        stepView('ended', 60, 60, 1, 'succeeded', 100),
      ],
    })
    expect((await ask('GET', '/tasks/up-2')).body).toEqual(body)
  })

  test('shows a task that has just begun with nulls for what is to come', async () => {
    const { body } = await ask('GET', '/tasks/video_3')
    expect(body as object).toMatchObject({
      upstream_id: null,
      request: { ratio: null, seed: null, images: 0, videos: 0 },
      charge: '0.00',
      usage: null,
      usage_reported: null,
      media: [],
      started_at: null,
      finished_at: null,
      next_check_at: '2026-11-01T00:00:05.000Z',
    })
  })

  test('shows a task whose token nobody knows without the name of its account', async () => {
    expect((await ask('GET', '/tasks/video_4')).body).toMatchObject({ account: null })
  })

  test('never shows what a caller handed over, nor which key was used', async () => {
    const all = JSON.stringify((await ask('GET', '/tasks')).body)
    expect(all).not.toContain('base64')
    expect(all).not.toContain('mark-of-a-key')
  })

  test('lists the newest first, by page', async () => {
    const newestFirst = ['video_4', 'video_3', 'video_2', 'video_1']
    expect(await ids('')).toEqual(newestFirst)
    const first = (await ask('GET', '/tasks?limit=3')).body
    expect(first.items.map(({ id }) => id)).toEqual(newestFirst.slice(0, 3))
    const rest = (await ask('GET', `/tasks?limit=3&cursor=${first.next_cursor}`)).body
    expect(rest.items.map(({ id }) => id)).toEqual(newestFirst.slice(3))
    expect(rest.next_cursor).toBeNull()
  })

  test('lists what fits every filter', async () => {
    expect(await ids('?account=acme')).toEqual(['video_3', 'video_2', 'video_1'])
    expect(await ids(`?account=${accountId}&state=running`)).toEqual(['video_1'])
    expect(await ids('?model=vfb-1')).toEqual(['video_3'])
    expect(await ids('?channel=other')).toEqual(['video_3'])
    expect(await ids('?interface=arkvendor')).toEqual(['video_3'])
    expect(await ids('?account=beta&state=cancelled')).toEqual(['video_4'])
    expect(await ids('?state=failed')).toEqual([])
  })

  test.each([
    ['state=done', 400, 'state'],
    ['interface=film', 400, 'interface'],
    ['limit=0', 400, 'limit'],
    ['cursor=zzz', 400, 'cursor'],
    ['account=nobody', 404, null],
  ])('refuses the filter %s', async (query, status, param) => {
    const answer = await ask('GET', `/tasks?${query}`)
    expect([answer.status, answer.body.error.param]).toEqual([status, param])
  })

  test('lists what was created in a stretch of time', async () => {
    // All of them at this moment.
    const [at, later] = ['2026-11-01T00:00:00.000Z', '2026-11-01T00:00:00.001Z']
    const every = await ids('')
    expect(every.length).toBeGreaterThan(2)
    expect([await ids(`?from=${at}`), await ids(`?to=${later}`)]).toEqual([every, every])
    expect([await ids(`?from=${later}`), await ids(`?to=${at}`)]).toEqual([[], []])
  })

  test('knows no task that is not there', async () => {
    for (const [method, path] of [
      ['GET', '/tasks/video_9'],
      ['POST', '/tasks/video_9/cancel'],
      ['POST', '/tasks/video_9/callback'],
    ] as const) {
      const { status, body } = await ask(method, path)
      expect([status, body.error.code]).toEqual([404, 'not_found'])
    }
  })

  test('cancels nothing that is over, and notes nothing then', async () => {
    const over = await ask('POST', '/tasks/video_2/cancel')
    expect([over.status, over.body.error.code]).toEqual([409, 'task_not_cancellable'])
    const again = await ask('POST', '/tasks/video_4/cancel')
    expect([again.status, again.body['state']]).toEqual([200, 'cancelled'])
    const noted = (await ask('GET', '/audit-log')).body.items
    expect(noted.filter(({ action }) => action === 'task.cancel')).toEqual([])
  })

  test('cancels what the upstream lets go of, gives the hold back and notes it', async () => {
    const asked: string[] = []
    let status = 409
    const upstream = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch(request) {
        asked.push(`${request.method} ${new URL(request.url).pathname}`)
        return Response.json({}, { status })
      },
    })
    const protocols = { vf: `http://127.0.0.1:${upstream.port}` }
    const channel = { name: 'film', keys: ['upk-0123456789'], protocols, models: { 'vfa-*': '*' } }
    const channelId = (await ask('POST', '/channels', channel)).body.id
    const task = { id: 'video_5', channelId, state: 'queued', upstreamId: 'up-5' } as const
    const { ledger } = it.engine
    await ledger.taskHold(task.id, accountId, aTask.holdNanos, atMs).commit()
    await it.engine.store.tx((tx) => insertTask(tx, { ...aTask, accountId, tokenId, ...task }))
    const held = async () => (await ask('GET', '/accounts/acme')).body['held']
    const refused = await ask('POST', '/tasks/video_5/cancel')
    expect([refused.status, refused.body.error.code]).toEqual([409, 'task_not_cancellable'])
    expect(await held()).toBe('3.00')
    status = 200
    const cancelled = await ask('POST', '/tasks/up-5/cancel')
    expect([cancelled.status, cancelled.body['state']]).toEqual([200, 'cancelled'])
    expect(cancelled.body).toMatchObject({ charge: '0.00', account: 'acme', next_check_at: null })
    expect((await ask('GET', '/tasks/video_5')).body).toEqual(cancelled.body)
    expect(await held()).toBe('0.00')
    expect(asked).toEqual(Array(2).fill('POST /api/v1/tasks/up-5/cancel'))
    expect((await ask('GET', '/audit-log?limit=1')).body.items[0]).toMatchObject({
      action: 'task.cancel',
      subject: 'video_5',
      before: { state: 'queued' },
      after: { state: 'cancelled' },
    })
    await upstream.stop(true)
  })

  test('shows every step of a task that has notes of them, and what lies before them', async () => {
    const stored = [
      '0 0 1 created accepted 0',
      '300 0 1 sent queued 0',
      '1000 8000 14 look running 40',
      '11000 0 2 look_failed running 40 upstream_error: it broke',
    ]
    const more = { state: 'running', progress: 40, checks: 20 } as const
    await add({ ...more, id: 'video_7', model: 'vfc-1', timeline: `${stored.join('\n')}\n` })
    const { timeline } = (await ask('GET', '/tasks/video_7')).body
    expect(timeline).toEqual([
      stepView('created', 0, 0, 1, 'accepted', 0),
      stepView('sent', 0.3, 0.3, 1, 'queued', 0),
      stepView('polled', 1, 9, 14, 'running', 40),
      stepView('poll_failed', 11, 11, 2, 'running', 40, 'upstream_error: it broke'),
    ])
    // This one was under way when notes began to be kept.
    await add({ ...more, id: 'video_8', model: 'vfc-1', timeline: `${stored[2]}\n` })
    expect((await ask('GET', '/tasks/video_8')).body['timeline']).toEqual([
      stepView('created', 0, 0, 1, 'accepted', 0),
      stepView('truncated', 0, 1, 6, 'running', 0),
      stepView('polled', 1, 9, 14, 'running', 40),
    ])
    const { items } = (await ask('GET', '/tasks?model=vfc-1')).body
    expect(items).toHaveLength(2)
    for (const item of items) expect(item).not.toHaveProperty('timeline')
  })

  test('sums up what became of the tasks of the last hours, and how long they took', async () => {
    const createdAtMs = it.clock.ms - 60_000
    const ended = (id: string, seconds: number) =>
      add({
        id,
        model: 'vfd-1',
        createdAtMs,
        state: 'succeeded',
        finishedAtMs: createdAtMs + seconds * 1_000,
      })
    for (const [i, seconds] of [30, 31, 32, 33, 120].entries()) await ended(`video_9${i}`, seconds)
    await add({ id: 'video_99', model: 'vfd-1', createdAtMs, state: 'failed' })
    const { status, body } = await ask('GET', '/tasks/summary?account=acme&model=vfd-1&hours=24')
    expect(status).toBe(200)
    const { slots, durations } = body as unknown as {
      slots: { counts: Record<string, number> }[]
      durations: { bars: { tasks: number }[] }[]
    }
    expect(slots).toHaveLength(48)
    expect(slots.map(({ counts }) => counts).filter((counts) => 'failed' in counts)).toEqual([
      { succeeded: 5, failed: 1 },
    ])
    expect(durations).toMatchObject([{ model: 'vfd-1', tasks: 5, p50_ms: 32_000, p90_ms: 120_000 }])
    expect(durations[0]!.bars.reduce((sum, { tasks }) => sum + tasks, 0)).toBe(5)
    const other = await ask('GET', '/tasks/summary?account=beta&model=vfd-1')
    expect(other.body['durations']).toEqual([])
    for (const query of ['hours=0', 'hours=x', 'state=odd', 'account=nobody']) {
      const refused = await ask('GET', `/tasks/summary?${query}`)
      expect([query, refused.status >= 400]).toEqual([query, true])
    }
  })
})

const at = (seconds: number) => new Date(atMs + seconds * 1_000).toISOString()

const stepView = (
  kind: string,
  from: number,
  to: number,
  times: number,
  state: string,
  progress: number,
  note: string | null = null,
) => ({ kind, at: at(from), last_at: at(to), times, state, progress, note })

const aTask: VideoTask = {
  kind: 'video',
  id: 'video_0',
  accountId: 'acc_1',
  tokenId: 'tok_1',
  requestId: 'req_1',
  interface: 'videos',
  model: 'vfa-1',
  protocol: 'vf',
  channelId: 'chn_1',
  channel: 'up',
  upstreamModel: 'up-vfa',
  keyFingerprint: 'mark-of-a-key',
  state: 'accepted',
  progress: 0,
  request: { prompt: 'a cat', seconds: 5, resolution: '720p', media: [] },
  priceId: 'price_1',
  holdNanos: 3_000_000_000n,
  chargeNanos: 0n,
  media: [],
  createdAtMs: atMs,
  updatedAtMs: atMs,
  nextCheckAtMs: atMs + 5_000,
  checks: 0,
  misses: 0,
  hidden: false,
}

const finished: Partial<VideoTask> = {
  id: 'video_2',
  upstreamId: 'up-2',
  state: 'succeeded',
  progress: 100,
  request: {
    prompt: 'a cat',
    seconds: 5,
    resolution: '720p',
    ratio: '16:9',
    seed: 7,
    media: [
      { kind: 'image', url: 'data:image/png;base64,AAAA' },
      { kind: 'image', url: 'https://caller.example/a.png' },
      { kind: 'video', url: 'https://caller.example/a.mp4' },
    ],
  },
  chargeNanos: 1_250_000_000n,
  usage: { outputSeconds: 5 },
  reported: { duration: 5 },
  media: [
    { kind: 'video', url: 'https://up.example/v.mp4', expiresAtMs: atMs + 86_400_000 },
    { kind: 'image', url: 'https://up.example/v.png' },
  ],
  startedAtMs: atMs + 1_000,
  finishedAtMs: atMs + 60_000,
  updatedAtMs: atMs + 60_000,
  checks: 4,
}
