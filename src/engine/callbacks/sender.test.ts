// Callback delivery on every dialect: real rows, a real receiver, and a clock that the test moves.
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import type { Task } from '../../contract/task.ts'
import { ensure } from '../../lib/ensure.ts'
import { newWebhookSecret } from '../../lib/net/webhook.ts'
import { leaseDue } from '../../store/deliveries/queue.ts'
import { evictGateway } from '../../store/ledger/credit-leases.ts'
import {
  type Callback,
  callbackQueue,
  findCallback,
  findCallbackStory,
  insertCallback,
  restartCallback,
} from '../../store/tasks/callbacks.ts'
import { insertTask } from '../../store/tasks/tasks.ts'
import { failureOf, storeKinds, until } from '../../store/test-stores.ts'
import type { Engine } from '../engine.ts'
import { cancelTask, cancelVideo } from '../tasks/cancel-task.ts'
import { createTask } from '../tasks/create/create-task.ts'
import {
  failed,
  model,
  newTaskEngine,
  says,
  succeeded,
  type TaskEngine,
} from '../tasks/test-task-engine.ts'
import { fileWith } from '../test-engine.ts'
import { maxAtOnce, maxPerHost, maxPerOwner } from './delivery-sender.ts'
import { waitsMs } from './schedule.ts'
import { CallbackSender } from './sender.ts'

const secret = newWebhookSecret()
const takeAll = (due: readonly Callback[]) => due

interface Arrival {
  id: string
  seconds: number
  path: string
  host: string
  body: unknown
}

let arrivals: Arrival[] = []
let inside = 0
let answer: (path: string) => Response | Promise<Response>

/** Accepts only valid signatures; ignores the time, as the test moves the clock. */
const receiver = Bun.serve({
  hostname: '0.0.0.0',
  port: 0,
  idleTimeout: 30,
  async fetch(request) {
    inside++
    const { pathname, host } = new URL(request.url)
    const text = await request.text()
    const id = request.headers.get('webhook-id')!
    const seconds = Number(request.headers.get('webhook-timestamp'))
    const signature = new Webhook(secret).sign(id, new Date(seconds * 1_000), text)
    const isSigned = request.headers.get('webhook-signature') === signature
    const body = isSigned ? JSON.parse(text) : 'forged'
    arrivals.push({ id, seconds, path: pathname, host, body })
    return await Promise.resolve(answer(pathname)).finally(() => inside--)
  },
})
afterAll(() => receiver.stop(true))
/** The same receiver under any number of addresses. */
const urlAt = (host: number, path = '/hook') => `http://127.0.0.${host}:${receiver.port}${path}`

describe.each([...storeKinds])('callbacks on %s', (on) => {
  let it: TaskEngine
  let engine: Engine
  let sender: CallbackSender

  beforeEach(async () => {
    arrivals = []
    answer = () => new Response('ok')
    it = await newTaskEngine(on)
    engine = {
      ...it.engine,
      declared: { ...it.engine.declared, file: fileWith({ callbacks: { secret } }) },
      egressAllow: ['127.0.0.0/8'],
    }
    sender = newSender('gwy_1')
    use(sender)
  })
  afterEach(async () => {
    answer = () => new Response('ok')
    await sender.settled()
    await it.close()
  })

  const newSender = (owner: string, drainMs = 20) => {
    const noticeFor = ({ id, state }: Task) => JSON.stringify({ id, state })
    return new CallbackSender(engine, owner, { drainMs, noticeFor })
  }
  const use = (by: CallbackSender) =>
    Object.assign(engine, { jobs: { ...engine.jobs, callbacks: by } })

  async function create(callbackUrl?: string): Promise<Task> {
    const ctx = {
      requestId: `req_${crypto.randomUUID()}`,
      atMs: it.clock.ms,
      token: it.token,
      signal: new AbortController().signal,
      errorEvent: () => new Uint8Array(),
    }
    const made = await createTask(engine, ctx, {
      interface: 'videos',
      kind: 'video',
      model,
      request: { prompt: 'a cat', seconds: 5, resolution: '720p', media: [] },
      ...(callbackUrl !== undefined && { callbackUrl }),
    })
    ensure('task' in made, 'the task was made')
    return made.task
  }

  async function ended(callbackUrl = urlAt(1)): Promise<Task> {
    const task = await create(callbackUrl)
    it.script.check = () => succeeded(5)
    await it.tick()
    return task
  }

  const callback = (task: Task) => findCallback(engine.store.read, task.id)
  const attempts = async (task: Task) =>
    (await findCallbackStory(engine.store.read, task.id, 100))!.attempts
  /** Sends what is due, and waits for the outcome. */
  async function send(by = sender): Promise<void> {
    await by.round()
    await by.settled()
  }

  test('every end is told but the one its caller made', async () => {
    const succeededOne = await ended()
    it.script.check = () => failed()
    const failedOne = await create(urlAt(1))
    await it.tick()
    it.script.check = () => says({ state: 'cancelled' })
    const cancelledAbove = await create(urlAt(1))
    await it.tick()
    const byAdmin = await create(urlAt(1))
    await cancelTask(engine, byAdmin)
    const byCaller = await create(urlAt(1))
    await cancelVideo(engine, it.token, byCaller.id)
    const untold = await create()
    await it.tick()
    const waiting = [succeededOne, failedOne, cancelledAbove, byAdmin]
    for (const task of waiting) {
      expect(await callback(task)).toMatchObject({ state: 'waiting', attempts: 0, url: urlAt(1) })
    }
    for (const task of [byCaller, untold]) {
      expect([(await it.row(task.id)).state, await callback(task)]).toEqual([
        'cancelled',
        undefined,
      ])
    }
    await send()
    expect(arrivals.map(({ body }) => body)).toEqual(
      expect.arrayContaining([
        { id: succeededOne.id, state: 'succeeded' },
        { id: failedOne.id, state: 'failed' },
        { id: cancelledAbove.id, state: 'cancelled' },
        { id: byAdmin.id, state: 'cancelled' },
      ]),
    )
    expect(arrivals).toHaveLength(4)
    for (const task of waiting) expect(await callback(task)).toMatchObject({ state: 'delivered' })
  })

  test('an end that cannot be told of is no end: both are one transaction', async () => {
    const task = await create(urlAt(1))
    const taken = { id: 'msg_taken', taskId: task.id, accountId: 'a', url: 'x', createdAtMs: 0 }
    await engine.store.tx((tx) => insertCallback(tx, taken))
    expect(await failureOf(cancelTask(engine, task))).not.toBe('it did not fail')
    expect((await it.row(task.id)).state).toBe('queued')
    expect(await it.booked(task.id)).toEqual([['hold', -3_000_000_000n]])
  })

  test('a receiver that always fails is tried ten times in three days, under one id', async () => {
    answer = () => new Response('no', { status: 500 })
    const task = await ended()
    const firstMs = it.clock.ms
    for (const [index, waitMs] of waitsMs.entries()) {
      it.clock.ms += waitMs - 1
      if (index > 0) await send()
      expect(arrivals).toHaveLength(index)
      it.clock.ms += 1
      await send()
      expect(arrivals).toHaveLength(index + 1)
    }
    expect(it.clock.ms - firstMs).toBe((75 * 60 + 35) * 60_000 + 5_000)
    expect(await callback(task)).toMatchObject({ state: 'exhausted', endedAtMs: it.clock.ms })
    expect((await attempts(task)).map(({ status, error }) => [status, error])).toEqual(
      Array(10).fill([500, undefined]),
    )
    expect(new Set(arrivals.map(({ id }) => id))).toEqual(new Set([(await callback(task))!.id]))
    // Each is signed for its own time: a receiver refuses signatures older than minutes.
    expect(new Set(arrivals.map(({ seconds }) => seconds)).size).toBe(10)
    expect(arrivals.map(({ body }) => body)).not.toContain('forged')
    it.clock.ms += 100 * 3_600_000
    await send()
    expect(arrivals).toHaveLength(10)
  })

  test('attempts that failed together do not come back together', async () => {
    answer = () => new Response('no', { status: 503 })
    const task = await ended()
    const spread = async (random: number): Promise<number> => {
      Object.assign(engine, { random: () => random })
      await engine.store.tx((tx) => restartCallback(tx, on, task.id, it.clock.ms))
      await send()
      return (await callback(task))!.nextAtMs - it.clock.ms
    }
    expect([await spread(0), await spread(0.5), await spread(1)]).toEqual([4_500, 5_000, 5_500])
  })

  test.each([
    [200, 'delivered'],
    [204, 'delivered'],
    [299, 'delivered'],
    [301, 'waiting'],
    [307, 'waiting'],
    [400, 'waiting'],
    [404, 'waiting'],
    [410, 'exhausted'],
    [429, 'waiting'],
    [503, 'waiting'],
  ])('after an answer of %d it is %s', async (status, state) => {
    const headers = status < 400 && status >= 300 ? { location: urlAt(1, '/other') } : {}
    answer = () => new Response(status === 204 ? null : 'x', { status, headers })
    const task = await ended()
    await send()
    expect((await callback(task))?.state).toBe(state as 'waiting')
    const error = status >= 300 && status < 400 ? 'redirects are not followed' : undefined
    expect((await attempts(task)).map((each) => [each.status, each.error])).toEqual([
      [status, error],
    ])
    expect(arrivals.map(({ path }) => path)).toEqual(['/hook'])
  })

  test('what may not be asked is not, and the reason names no place', async () => {
    Object.assign(engine, { egressAllow: [] })
    const task = await ended(urlAt(1))
    await send()
    expect(arrivals).toEqual([])
    expect((await attempts(task)).map(({ error }) => error)).toEqual([
      'the address may not be asked: it is not public, and GATEWAY_EGRESS_ALLOW does not name it',
    ])
    expect((await callback(task))?.state).toBe('waiting')
  })

  test('one host gets few at once, one account some, and others need not wait', async () => {
    const release = Promise.withResolvers<void>()
    answer = async (path) => {
      if (path === '/slow') await release.promise
      return new Response('ok')
    }
    const slowHosts = [1, 2, 3, 4, 5]
    for (const host of slowHosts) {
      for (let made = 0; made < maxPerHost + 1; made++) await ended(urlAt(host, '/slow'))
    }
    await sender.round()
    await until(() => inside >= maxPerOwner)
    expect(arrivals).toHaveLength(maxPerOwner)
    const perHost = Object.values(Object.groupBy(arrivals, ({ host }) => host))
    expect(perHost.map((each) => each?.length)).toEqual([4, 4, 4, 4])
    expect(maxPerOwner).toBeLessThan(maxAtOnce)
    // Another account's, although it is newer than all that wait.
    const other = await it.open('other', 100_000_000_000n)
    const theirs = { id: 'msg_theirs', taskId: (await create()).id, accountId: other.accountId }
    await engine.store.tx((tx) =>
      insertCallback(tx, { ...theirs, url: urlAt(9, '/quick'), createdAtMs: it.clock.ms }),
    )
    await sender.round()
    await until(() => arrivals.some(({ path }) => path === '/quick'))
    expect(arrivals).toHaveLength(maxPerOwner + 1)
    release.resolve()
    await sender.settled()
    for (let rounds = 0; rounds < 3; rounds++) await send()
    expect(arrivals).toHaveLength(slowHosts.length * (maxPerHost + 1) + 1)
    expect(new Set(arrivals.map(({ id }) => id)).size).toBe(arrivals.length)
  })

  test('a host that hangs does not hide others behind all that waits for it', async () => {
    const release = Promise.withResolvers<void>()
    answer = async (path) => {
      if (path === '/slow') await release.promise
      return new Response('ok')
    }
    const { upstreamId: _, ...like } = await it.row((await ended(urlAt(2, '/first'))).id)
    await engine.store.tx(async (tx) => {
      for (let made = 0; made < 300; made++) {
        const [id, taskId] = [`msg_${made}`, `video_${made}`]
        await insertTask(tx, { ...like, id: taskId } as Task)
        const row = { id, taskId, accountId: `acc_${made}`, url: urlAt(1, '/slow') }
        await insertCallback(tx, { ...row, createdAtMs: 0 })
      }
    })
    const task = await ended(urlAt(2, '/quick'))
    await sender.round()
    await sender.round()
    const slow = () => arrivals.filter(({ path }) => path === '/slow').length
    try {
      await until(async () => (await callback(task))?.state === 'delivered')
      // Those that were sent before it may arrive after it.
      await until(() => slow() >= maxPerHost)
      expect(slow()).toBe(maxPerHost)
    } finally {
      release.resolve()
    }
  })

  test('what a gateway that died had taken is sent by another when its lease ends', async () => {
    const task = await ended()
    const stuck = Promise.withResolvers<Response>()
    answer = () => stuck.promise
    await sender.round()
    await until(() => inside === 1)
    const other = newSender('gwy_2')
    answer = () => new Response('ok')
    await send(other)
    expect(arrivals).toHaveLength(1)
    if (on === 'sqlite') it.clock.ms += 30_000
    else await engine.store.tx((tx) => evictGateway(tx, 'gwy_1'))
    await send(other)
    expect(arrivals).toHaveLength(2)
    expect(new Set(arrivals.map(({ id }) => id)).size).toBe(1)
    expect(await callback(task)).toMatchObject({ state: 'delivered', attempts: 1 })
    // It was alive after all, and failed: that changes nothing any more, but it is recorded.
    stuck.resolve(new Response('late', { status: 500 }))
    await sender.settled()
    expect(await callback(task)).toMatchObject({ state: 'delivered', attempts: 1 })
    expect((await attempts(task)).map(({ status }) => status)).toEqual([200, 500])
  })

  test('started again it goes from the beginning, under the same id', async () => {
    answer = () => new Response('gone', { status: 410 })
    const task = await ended()
    await send()
    expect((await callback(task))?.state).toBe('exhausted')
    answer = () => new Response('not yet', { status: 500 })
    await engine.store.tx((tx) => restartCallback(tx, on, task.id, it.clock.ms))
    await send()
    expect(await callback(task)).toMatchObject({ state: 'waiting', attempts: 1 })
    answer = () => new Response('ok')
    it.clock.ms += 5_000
    await send()
    expect(await callback(task)).toMatchObject({ state: 'delivered', attempts: 2 })
    expect((await attempts(task)).map(({ status }) => status)).toEqual([410, 500, 200])
    expect(new Set(arrivals.map(({ id }) => id)).size).toBe(1)
    expect(await engine.store.tx((tx) => restartCallback(tx, on, 'video_x', 0))).toBeUndefined()
  })

  test('a gateway that stops breaks off, writes nothing down, and leaves it to the next', async () => {
    const task = await ended()
    const stuck = Promise.withResolvers<Response>()
    answer = () => stuck.promise
    await sender.start()
    await until(() => inside === 1)
    await sender.stop()
    expect(await callback(task)).toMatchObject({ state: 'waiting', attempts: 0 })
    expect(await attempts(task)).toEqual([])
    stuck.resolve(new Response('late'))
    answer = () => new Response('ok')
    await send(newSender('gwy_2'))
    expect(await callback(task)).toMatchObject({ state: 'delivered' })
  })

  test('the loop sends by itself what ends, and what was left from before', async () => {
    const before = await ended()
    // The previous process died while sending it.
    const untilMs = it.clock.ms + 20_000
    const input = { owner: 'gwy_0', nowMs: it.clock.ms, untilMs, window: 10, choose: takeAll }
    const none = { fullOrigins: [], fullOwners: [] }
    const taken = await engine.store.tx((tx) =>
      leaseDue(tx, on, callbackQueue, { ...input, ...none }),
    )
    expect(taken).toHaveLength(1)
    await send()
    expect(arrivals).toEqual([])
    await sender.start()
    await until(async () => (await callback(before))?.state === 'delivered')
    const task = await create(urlAt(1))
    await cancelTask(engine, task)
    await until(async () => (await callback(task))?.state === 'delivered')
    await sender.stop()
  })
})
