// Native video tasks over HTTP: a gateway, its sandbox, and callers of two accounts.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { parseNanos } from '../../src/lib/text/decimal.ts'
import { readAccount, readLedger } from '../support/books.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'

const otherToken = 'sk-other-0123456789abcdefghijklmno'
const path = '/arkvendor/api/v3/contents/generations/tasks'

const config = `
accounts:
  - { name: acme, balance: "100.00" }
  - { name: other, balance: "100.00" }
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: other, name: test, token: ${otherToken} }
`

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({ config, env: { GATEWAY_SANDBOX_TASK_SECONDS: '0.3' } })
})
afterAll(() => gateway.stop())

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Body = any

async function ask(method: string, rest = '', body?: unknown, token = apiToken) {
  const response = await fetch(`${gateway.url}${rest.startsWith('/v1') ? '' : path}${rest}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Body }
}

const orderOf = (text: string, more: object = {}) => ({
  model: 'vidmodel-1-0-pro',
  content: [{ type: 'text', text }],
  ratio: '16:9',
  duration: 5,
  ...more,
})

async function create(text: string, more: object = {}, token = apiToken): Promise<Body> {
  const { status, body } = await ask('POST', '', orderOf(text, more), token)
  expect({ status, body }).toMatchObject({ status: 200 })
  return body
}

const maxPolls = 500

async function until(id: string, ...statuses: string[]): Promise<Body> {
  for (let poll = 0; poll < maxPolls; poll++) {
    const { body } = await ask('GET', `/${id}`)
    if (statuses.includes(body.status)) return body
    await Bun.sleep(20)
  }
  throw new Error(`${id} never was ${statuses.join(' or ')}`)
}

/** What moved for a task, oldest first: ['hold -4.07286', …]. */
async function moved(taskId: string): Promise<string[]> {
  const entries = (await readLedger(gateway)) as Body[]
  const own = entries.filter(({ task_id }) => task_id === taskId).toReversed()
  return own.map(({ kind, amount }) => `${kind} ${amount}`)
}

const held = ['hold -4.07286', 'release 4.07286']

test('a task is made, ends and is charged for exactly the tokens reported', async () => {
  const made = await create('a boat in the fog')
  expect(made).toEqual({
    id: expect.stringMatching(/^cgt-\d{14}-[a-z0-9]+$/),
    platform_id: expect.stringMatching(/^video_/),
  })
  const done = await until(made.id, 'succeeded')
  expect(done).toMatchObject({
    ...made,
    model: 'vidmodel-1-0-pro-250528',
    status: 'succeeded',
    content: {
      width: 1920,
      height: 1088,
    },
    duration: 5,
    framespersecond: 24,
    usage: { completion_tokens: 246_840, total_tokens: 246_840, video_tokens: 246_840 },
    resolution: '1080p',
    ratio: '16:9',
  })
  expect(done.content.video_url).toStartWith(`${gateway.url}/files/${made.platform_id}/0?until=`)
  expect(done).not.toHaveProperty('error')
  expect(done.updated_at).toBeGreaterThanOrEqual(done.created_at)
  expect((await ask('GET', `/${made.platform_id}`)).body).toEqual(done)
  // 246840 x 15.00 per million
  expect(await moved(made.platform_id)).toEqual([...held, 'charge -3.7026'])
  const film = await fetch(done.content.video_url, {
    headers: { authorization: `Bearer ${apiToken}` },
  })
  expect(film.status).toBe(200)
  expect(Buffer.from(await film.arrayBuffer()).toString('latin1', 4, 8)).toBe('ftyp')
})

test('a native task is read at /v1/videos too, and a task made there is read here', async () => {
  const native = await create('seen twice', { resolution: '480p', duration: 4 })
  await until(native.id, 'succeeded')
  expect((await ask('GET', `/v1/videos/${native.platform_id}`)).body).toMatchObject({
    id: native.platform_id,
    model: 'vidmodel-1-0-pro',
    status: 'completed',
    seconds: '4',
    resolution: '480p',
    size: '864x480',
    prompt: 'seen twice',
  })
  const input = { model: 'vfb-1.1-t2v', prompt: 'p', seconds: 3, resolution: '720p' }
  const { body: other } = await ask('POST', '/v1/videos', input)
  expect((await ask('GET', `/${other.id}`)).body).toMatchObject({ platform_id: other.id })
  expect(await until(other.id, 'succeeded')).toMatchObject({
    content: { width: 1280, height: 720 },
    duration: 3,
  })
})

test('a native model asked for at /v1/videos is charged by its tokens', async () => {
  const input = { model: 'vidmodel-1-5-pro', prompt: 'p', seconds: 5, size: '1280x720' }
  const { body } = await ask('POST', '/v1/videos', input)
  const done = await until(body.id, 'succeeded')
  expect(done).toMatchObject({
    id: expect.stringMatching(/^cgt-/),
    model: 'vidmodel-1-5-pro-251215',
    usage: { video_tokens: 108_900 },
  })
  // 108900 x 16.00 per million
  expect((await moved(body.id)).at(-1)).toBe('charge -1.7424')
})

test('frames win over the duration, and the shape goes up by its upstream name', async () => {
  const made = await create('long', { frames: 145, ratio: undefined, aspect_ratio: '9:16' })
  expect(await until(made.id, 'succeeded')).toMatchObject({
    content: { width: 1088, height: 1920 },
    duration: 145 / 24,
    frames: 145,
    usage: { video_tokens: 295_800 },
  })
})

test('the last frame comes where it was asked for, at an address of the gateway', async () => {
  const made = await create('framed', { return_last_frame: true })
  const { content } = await until(made.id, 'succeeded')
  expect(content.last_frame_url).toStartWith(gateway.url)
  const frame = await fetch(content.last_frame_url, { headers: { origin: 'https://page.example' } })
  expect([frame.status, frame.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect(frame.headers.get('access-control-allow-origin')).toBe('https://page.example')
})

test('usage that never came is what was expected, marked as an estimate', async () => {
  const made = await create('[[sim:no-usage]]')
  expect(await until(made.id, 'succeeded')).not.toHaveProperty('usage')
  const entries = (await readLedger(gateway)) as Body[]
  const charge = entries.find(
    ({ kind, task_id }) => kind === 'charge' && task_id === made.platform_id,
  )
  expect(charge).toMatchObject({ amount: '-3.7026', quantity: 246_840, estimated: true })
})

test('a failed task says why and costs nothing', async () => {
  const made = await create('[[sim:fail=content_policy]]')
  const failed = await until(made.id, 'failed')
  expect(failed.error).toMatchObject({ code: 'content_policy_violation' })
  expect(failed).not.toHaveProperty('content')
  expect(await moved(made.platform_id)).toEqual(held)
})

test('a waiting task is cancelled, and again; it costs nothing', async () => {
  const made = await create('[[sim:delay=60s]]')
  for (const id of [made.id, made.platform_id]) {
    const cancelled = await ask('DELETE', `/${id}`)
    expect(cancelled).toEqual({ status: 200, body: { ...made, status: 'cancelled' } })
  }
  expect((await ask('GET', `/${made.id}`)).body.status).toBe('cancelled')
  expect(await moved(made.platform_id)).toEqual(held)
})

test('a running task is not cancelled and goes on; neither is one that is over', async () => {
  const made = await create('[[sim:delay=4s]]')
  await until(made.id, 'running')
  const refused = await ask('DELETE', `/${made.id}`)
  expect([refused.status, refused.body.error.code]).toEqual([409, 'task_not_cancellable'])
  expect((await ask('GET', `/${made.id}`)).body.status).toBe('running')
  await until(made.id, 'succeeded')
  const late = await ask('DELETE', `/${made.id}`)
  expect([late.status, late.body.error.code]).toEqual([409, 'task_not_cancellable'])
  expect((await moved(made.platform_id)).at(-1)).toBe('charge -3.7026')
})

test('another account’s task looks like one that never was', async () => {
  const made = await create('mine')
  for (const id of [made.id, made.platform_id]) {
    for (const method of ['GET', 'DELETE']) {
      const foreign = await ask(method, `/${id}`, undefined, otherToken)
      expect([foreign.status, foreign.body.error.code]).toEqual([404, 'task_not_found'])
      const missing = await ask(method, `/${id}x`, undefined, otherToken)
      const plain = ({ body }: Body) =>
        JSON.stringify(body)
          .replaceAll(/req_\w+/g, 'req')
          .replace(/'\S+'/, "'id'")
      expect(plain(foreign)).toBe(plain(missing))
    }
  }
  const { body } = await ask('GET', `?filter.task_ids=${made.id}`, undefined, otherToken)
  expect(body).toEqual({ items: [], total: 0 })
})

test('the list is that of the caller’s native tasks, newest first, in pages and by filter', async () => {
  const [a, b] = [await create('a', {}, otherToken), await create('b', {}, otherToken)]
  const lite = { model: 'vidmodel-1-0-lite-t2v', resolution: '480p' }
  const c = await create('[[sim:delay=60s]]', lite, otherToken)
  const input = { model: 'vfb-1.1-t2v', prompt: 'p', seconds: 3 }
  const { body: plain } = await ask('POST', '/v1/videos', input, otherToken)
  const listed = async (query: string) => {
    const { body } = await ask('GET', query, undefined, otherToken)
    return [body.items.map((item: Body) => item.platform_id), body.total]
  }
  const ids = [c, b, a].map(({ platform_id }) => platform_id)
  expect(await listed('')).toEqual([ids, 3])
  expect(await listed('?page_num=2&page_size=2')).toEqual([[a.platform_id], 3])
  expect(await listed('?page_num=9')).toEqual([[], 3])
  const mixed = `?filter.task_ids=${a.id},${b.platform_id}&filter.task_ids=${plain.id}`
  expect(await listed(mixed)).toEqual([[plain.id, b.platform_id, a.platform_id], 3])
  for (const name of ['vidmodel-1-0-lite-t2v', 'vidmodel-1-0-lite-t2v-250428']) {
    expect(await listed(`?filter.model=${name}`)).toEqual([[c.platform_id], 1])
  }
  expect(await listed('?filter.model=vidmodel-1-0-%25')).toEqual([[], 0])
  expect(await listed('?filter.status=queued&filter.model=vidmodel-1-0-lite-t2v')).toEqual([
    [c.platform_id],
    1,
  ])
  expect(await listed('?filter.status=cancelled')).toEqual([[], 0])
  const refused = await ask('GET', '?page_size=0')
  expect([refused.status, refused.body.error.param]).toEqual([400, 'page_size'])
})

test('what cannot be made is refused, and nothing is held for it', async () => {
  const before = await readLedger(gateway)
  const refusals: [more: object, status: number, code: string][] = [
    [{ model: 'vidmodel-9' }, 404, 'model_not_found'],
    [{ model: 'vfb-1.1-t2v' }, 400, 'model_not_supported'],
    [{ content: [] }, 400, 'invalid_request'],
    [{ resolution: 1080 }, 400, 'invalid_resolution'],
    [{ seed: '1' }, 400, 'invalid_seed'],
  ]
  for (const [more, status, code] of refusals) {
    const refused = await ask('POST', '', orderOf('x', more))
    expect([refused.status, refused.body.error.code]).toEqual([status, code])
  }
  expect(await readLedger(gateway)).toEqual(before)
})

test('what the upstream refuses is told in its own words and given back', async () => {
  const before = await readAccount(gateway)
  const { status, body } = await ask('POST', '', orderOf('x', { model: 'vidmodel-1-0-lite-i2v' }))
  expect([status, body.error.code]).toEqual([400, 'upstream_invalid_request'])
  expect(body.error.message).toContain('image to video models require image in content')
  expect(body.error.message).not.toContain('Request id')
  expect(body.error.upstream_request_id).toMatch(/^sbx-/)
  expect((await ask('POST', '', orderOf('x', { duration: undefined, frames: 30 }))).status).toBe(
    400,
  )
  expect(await readAccount(gateway)).toEqual(before)
})

test('the books are right at the end', async () => {
  const { balance, held: open, available } = await readAccount(gateway)
  expect(parseNanos(balance)! - parseNanos(open)!).toBe(parseNanos(available)!)
  const entries = await readLedger(gateway)
  expect(entries.reduce((sum, { amount }) => sum + parseNanos(amount)!, 0n)).toBe(
    parseNanos(available)!,
  )
})
