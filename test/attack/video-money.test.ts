// Callers who order a dear video at the price of a cheap one, and upstreams that report what they did
// not make: what was delivered is charged, and what was asked for in whatever words is held for.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { nanos, until } from '../support/read.ts'
import { type Captured, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

const poorToken = 'sk-poor-0123456789abcdefghijklmnop'
const rivalToken = 'sk-rival-0123456789abcdefghijklmn'
const tasksPath = '/arkvendor/api/v3/contents/generations/tasks'
/** 1920 x 1088, 12 seconds. */
const dear = 589_560

/** Upstream clocks are a little late. */
const startedAt = Math.floor(Date.now() / 1000) - 7

let upstream: TestUpstream
let gateway: TestGateway
/** Creates as they came, by the id they were given. */
const orders = new Map<string, Record<string, unknown>>()
/** What the upstream says of every finished task, besides what it is asked for. */
let told: Record<string, unknown> = {}

function answer({ body, path }: Captured): Response {
  const isCreate = body !== ''
  if (path.includes('/video-synthesis'))
    return created(body, (id) => ({ output: { task_id: id, task_status: 'PENDING' } }))
  if (path.includes('/api/v1/tasks/')) {
    const id = path.split('/').at(-1)!
    const output = { task_id: id, task_status: 'SUCCEEDED', video_url: `${upstream.url}/v.mp4` }
    return jsonReply({ output, ...told })
  }
  if (isCreate) return created(body, (id) => ({ id }))
  if (path.endsWith('.mp4') || path.endsWith('.png')) return new Response('film')
  const id = path.split('/').at(-1)!
  return jsonReply({
    id,
    model: 'vidmodel-1-0-pro-250528',
    status: 'succeeded',
    content: { video_url: `${upstream.url}/v.mp4` },
    created_at: startedAt,
    updated_at: startedAt + 1,
    ...told,
  })
}

function created(body: string, view: (id: string) => object): Response {
  const id = `up-${orders.size + 1}`
  orders.set(id, JSON.parse(body))
  return jsonReply(view(id))
}

beforeAll(async () => {
  upstream = startUpstream(answer)
  gateway = await startGateway({
    env: { GATEWAY_EGRESS_ALLOW: '127.0.0.0/8' },
    config: `
accounts: [{ name: acme, balance: "1000.00" }, { name: poor, balance: "9.80" }, { name: rival, balance: "100.00" }]
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: poor, name: poor, token: ${poorToken} }
  - { account: rival, name: rival, token: ${rivalToken} }
channels:
  - name: lies
    keys: [upk-lies-0123456789]
    models: { "*": "*" }
    protocols: { arkvendor: "${upstream.url}/api/v3", vf: "${upstream.url}" }
`,
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const ask = async (method: string, path: string, body?: object, token = apiToken) => {
  const answer = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return { status: answer.status, body: (await answer.json()) as any }
}
const native = (text: string, more: object = {}) => ({
  model: 'vidmodel-1-0-pro',
  content: [{ type: 'text', text }],
  ...more,
})
const taskOf = async (id: string) => (await gateway.admin('GET', `/tasks/${id}`)).body
const ended = (id: string) =>
  until(`the end of ${id}`, async () => {
    const task = await taskOf(id)
    return task.finished_at === null ? undefined : task
  })
const make = async (path: string, body: object, token?: string) => {
  const made = await ask('POST', path, body, token)
  expect(made.body.error ?? null).toBeNull()
  return ended(made.body.platform_id ?? made.body.id)
}
/** At 15.00 per million. */
const priceOf = (tokens: number) => BigInt(tokens) * 15_000n

describe('native tasks', () => {
  const small = { resolution: '480p', duration: 2, ratio: '16:9' }

  test.each([
    ['the last of several commands', native('cat --rs 480p --dur 2 --rt 16:9 --rs 1080p --dur 12')],
    ['a tab and a line end', native('cat --rs\t1080p --dur\n12', small)],
    ['upper case', native('cat --RS 1080p --Dur 12', small)],
    ['long dashes', native('cat —rs 1080p —dur 12', small)],
    ['full-width letters', native('cat －－ｒｓ １０８０ｐ －－ｄｕｒ １２', small)],
    [
      'a text of another item',
      {
        ...native('cat', small),
        content: [
          { type: 'text', text: 'cat' },
          { type: 'text', text: '--rs 1080p --dur 12' },
        ],
      },
    ],
    ['a length of the model’s choice', native('cat', { resolution: '1080p', duration: -1 })],
  ])('ordered by %s are held for and charged for what they are', async (_, body) => {
    told = { usage: { completion_tokens: dear, total_tokens: dear } }
    const task = await make(tasksPath, body)
    expect(nanos(task.charge)).toBe(priceOf(dear))
    expect(nanos(task.hold)).toBeGreaterThanOrEqual(priceOf(dear))
  })

  test('ordered in a prompt of /v1/videos are no cheaper', async () => {
    told = { usage: { video_tokens: dear } }
    const prompt = 'cat --rs 1080p --dur 12'
    const body = { model: 'vidmodel-1-0-pro', prompt, seconds: 2, resolution: '720p' }
    const task = await make('/v1/videos', body)
    expect(nanos(task.charge)).toBe(priceOf(dear))
    expect(nanos(task.hold)).toBeGreaterThanOrEqual(priceOf(dear))
  })

  test('that cost more than was held take the rest from the balance', async () => {
    told = { usage: { completion_tokens: dear } }
    const task = await make(tasksPath, native('cat', small))
    expect(nanos(task.hold)).toBeLessThan(priceOf(dear))
    expect(nanos(task.charge)).toBe(priceOf(dear))
  })

  test('that cost more than the account has leave a loss', async () => {
    told = { usage: { completion_tokens: dear } }
    await make(tasksPath, native('cat', small), poorToken)
    const task = await make(tasksPath, native('cat', small), poorToken)
    const { body } = await gateway.admin('GET', `/losses?ref=${task.id}`)
    expect(body.items).toMatchObject([{ reason: 'balance_short', task_id: task.id }])
    expect(nanos(task.charge) + nanos(body.items[0].amount)).toBe(priceOf(dear))
  })

  test('reported larger than any that the model makes are charged as the largest', async () => {
    told = { usage: { completion_tokens: 900_000_000 } }
    const task = await make(tasksPath, native('cat', small))
    expect(nanos(task.charge)).toBe(priceOf(dear + Math.ceil(dear / 10)))
    const { body } = await gateway.admin('GET', '/alerts?kind=implausible_usage')
    expect(body.items[0]).toMatchObject({ kind: 'implausible_usage', subject: 'lies' })
    expect(body.items[0].message).toContain(task.id)
  })

  test('are billed by video_tokens, and tell both names and all that was reported', async () => {
    told = {
      usage: { video_tokens: 5_000, total_tokens: 9, tool_usage: { web_search: 1 } },
      content: { video_url: `${upstream.url}/v.mp4`, width: 333, height: 222, codec: 'h264' },
      resolution: '720p',
      frames: 57,
      framespersecond: 24,
      execution_expires_after: 172_800,
      zz_new_field: { deep: [1, { er: true }] },
    }
    const task = await make(tasksPath, native('cat'))
    expect(nanos(task.charge)).toBe(priceOf(5_000))
    const { body } = await ask('GET', `${tasksPath}/${task.id}`)
    expect(body).toMatchObject({
      platform_id: task.id,
      usage: {
        video_tokens: 5_000,
        completion_tokens: 5_000,
        total_tokens: 9,
        tool_usage: { web_search: 1 },
      },
      content: { width: 333, height: 222, codec: 'h264' },
      resolution: '720p',
      duration: 2.375,
      execution_expires_after: 172_800,
      zz_new_field: { deep: [1, { er: true }] },
      created_at: startedAt,
    })
    expect(body.content.video_url).toStartWith(gateway.url)
    expect(JSON.stringify(body)).not.toContain(upstream.url)
  })
})

describe('drafts', () => {
  const draft = (id: string) =>
    native('', { content: [{ type: 'draft_task', draft_task: { id } }] })

  test('of other accounts, and of none, are not there', async () => {
    told = { usage: { completion_tokens: 5_000 } }
    const theirs = await ask('POST', tasksPath, native('theirs'), rivalToken)
    const before = orders.size
    for (const id of [theirs.body.id, theirs.body.platform_id, 'cgt-nobody']) {
      const { status, body } = await ask('POST', tasksPath, draft(id))
      expect([status, body.error.code, body.error.param]).toEqual([
        404,
        'task_not_found',
        'draft_task',
      ])
    }
    expect(orders.size).toBe(before)
  })

  test('of one’s own are named as the upstream names them, and held for as the largest', async () => {
    told = { usage: { completion_tokens: dear } }
    const first = await make(tasksPath, native('mine', { resolution: '480p', duration: 2 }))
    const task = await make(tasksPath, draft(first.id))
    const [id, sent] = [...orders].at(-1)!
    expect(sent['content']).toEqual([{ type: 'draft_task', draft_task: { id: first.upstream_id } }])
    expect(task.upstream_id).toBe(id)
    expect(nanos(task.hold)).toBeGreaterThanOrEqual(priceOf(dear))
  })
})

describe('videos by the second', () => {
  const edit = {
    prompt: 'x',
    references: { video: ['https://m.example/a.mp4'] },
    resolution: '720p',
  }

  test('a length that is not sent bounds nothing', async () => {
    told = { usage: { output_video_duration: 15, duration: 30 } }
    const task = await make('/v1/videos', { ...edit, model: 'vfb-1.0-video-edit', seconds: 3 })
    expect([...orders.values()].at(-1)).not.toHaveProperty('parameters.duration')
    expect([task.charge, task.hold]).toEqual(['13.50', '13.50'])
    const { body } = await ask('GET', `/v1/videos/${task.id}`)
    expect(body.seconds).toBe('15')
  })

  test('an edit without a length is as long as its source', async () => {
    told = { usage: { output_video_duration: 12 } }
    const task = await make('/v1/videos', { ...edit, model: 'vfa-2.7-videoedit' })
    expect([...orders.values()].at(-1)).not.toHaveProperty('parameters.duration')
    expect([task.charge, task.hold]).toEqual(['7.20', '9.00'])
  })

  test('more than was asked for and sent is not charged, and raises an alert', async () => {
    told = { usage: { output_video_duration: 600 } }
    const body = { model: 'vfa-2.7-t2v', prompt: 'x', seconds: 5, resolution: '720p' }
    const task = await make('/v1/videos', body)
    expect([task.charge, task.hold]).toEqual(['3.00', '3.00'])
    const { body: alerts } = await gateway.admin('GET', '/alerts?kind=implausible_usage')
    expect(alerts.items[0].message).toContain('600')
  })
})
