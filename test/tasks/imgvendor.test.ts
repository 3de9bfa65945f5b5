// Image tasks over real HTTP, as curl would ask: envelope, both paths, both ids, lists, money.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/read.ts'
import { readTaskLedger } from '../support/task-books.ts'

const otherToken = 'sk-other-0123456789abcdefghijklmnop'
const path = '/imgvendor/v1/images/generations'
let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({
    config: `
accounts: [{ name: acme, balance: "100.00" }, { name: other, balance: "100.00" }]
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: other, name: test, token: ${otherToken} }
`,
    env: { GATEWAY_SANDBOX_TASK_SECONDS: '0.5' },
  })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

interface Envelope {
  code: number
  message: string
  request_id: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  data: any
  error?: { code: string; type: string; param: string | null; request_id: string }
}

async function ask(method: string, at: string, body?: object, token = apiToken) {
  const response = await fetch(`${gateway.url}${at}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Envelope }
}

const ended = (id: string, at = path) =>
  until(`the end of ${id}`, async () => {
    const { body } = await ask('GET', `${at}/${id}`)
    return ['succeed', 'failed'].includes(body.data.task_status) ? body : undefined
  })
const booked = async (id: string) =>
  (await readTaskLedger(gateway))
    .filter(({ task_id }) => task_id === id)
    .map(({ kind, amount }) => `${kind} ${amount}`)
    .reverse()

test('a task is made, ends with its pictures and is charged for those delivered', async () => {
  const made = await ask('POST', path, {
    model_name: 'imgvendor-v2',
    prompt: 'a boat [[sim:partial=2]]',
    n: 3,
    aspect_ratio: '1:1',
    external_task_id: 'job-17',
  })
  expect([made.status, made.body.code, made.body.message]).toEqual([200, 0, 'success'])
  const { task_id: id, task_status, created_at, task_info } = made.body.data
  expect([task_status, task_info]).toEqual(['submitted', { external_task_id: 'job-17' }])
  expect(created_at).toBeGreaterThan(1_700_000_000_000)
  const done = await ended(id)
  const { images } = done.data.task_result
  expect(images.map(({ index }: { index: number }) => index)).toEqual([0, 1])
  const file = Buffer.from(await (await fetch(images[1].url)).arrayBuffer())
  expect(file.toString('latin1', 1, 4)).toBe('PNG')
  expect(JSON.stringify(done)).not.toMatch(/final_unit_deduction|upstream/)
  const [hold, release, charge] = await booked(id)
  expect([hold, release, charge].map((each) => each?.split(' ')[0])).toEqual([
    'hold',
    'release',
    'charge',
  ])
  const held = Number(hold!.split(' ')[1])
  expect(Number(charge!.split(' ')[1])).toBeCloseTo((held * 2) / 3, 9)
  const byName = await ask('GET', `${path}/job-17`)
  expect(byName.body.data).toEqual(done.data)
})

test('a second task by the same name of the caller is refused, another account may have it', async () => {
  const body = { prompt: 'a boat', external_task_id: 'job-18' }
  expect((await ask('POST', path, body)).status).toBe(200)
  const again = await ask('POST', path, body)
  expect([again.status, again.body.code, again.body.error?.param]).toEqual([
    400,
    1201,
    'external_task_id',
  ])
  expect((await ask('POST', path, body, otherToken)).status).toBe(200)
})

test('the omni path has its own models, and one of them may be asked for at the other', async () => {
  const omni = '/imgvendor/v1/images/omni-image'
  const wrong = await ask('POST', path, { model_name: 'imgvendor-v3-omni', prompt: 'x' })
  expect([wrong.status, wrong.body.code === 0]).toEqual([400, false])
  const right = await ask('POST', omni, { model_name: 'imgvendor-v3-omni', prompt: 'x' })
  expect((await ended(right.body.data.task_id, omni)).data.task_status).toBe('succeed')
  const moved = await ask('POST', path, { model_name: 'imgvendor-image-o1', prompt: 'x' })
  expect((await ended(moved.body.data.task_id)).data.task_status).toBe('succeed')
})

test('a task that failed says why in clean words and costs nothing', async () => {
  const { body } = await ask('POST', path, { prompt: 'x [[sim:fail=content_policy]]' })
  const done = await ended(body.data.task_id)
  expect([done.code, done.data.task_status]).toEqual([0, 'failed'])
  expect(done.data.task_status_msg).not.toBe('')
  expect(done.data).not.toHaveProperty('task_result')
  expect((await booked(body.data.task_id)).map((each) => each.split(' ')[0])).toEqual([
    'hold',
    'release',
  ])
})

test('lists are of the caller alone, in pages', async () => {
  const { body } = await ask('GET', `${path}?pageNum=1&pageSize=2`)
  expect(body.data).toHaveLength(2)
  const theirs = await ask('GET', path, undefined, otherToken)
  expect(theirs.body.data).toHaveLength(1)
  const far = await ask('GET', `${path}?pageSize=501`)
  expect([far.status, far.body.code]).toEqual([400, 1201])
})

test('another’s task and one that never was look the same', async () => {
  const { body } = await ask('POST', path, { prompt: 'mine' })
  const theirs = await ask('GET', `${path}/${body.data.task_id}`, undefined, otherToken)
  const none = await ask('GET', `${path}/image_${'0'.repeat(32)}`, undefined, otherToken)
  expect([theirs.status, theirs.body.code]).toEqual([none.status, none.body.code])
  expect(theirs.status).toBe(404)
  // A picture is no video.
  const asVideo = await ask('GET', `/v1/videos/${body.data.task_id}`)
  expect([asVideo.status, asVideo.body.error?.code]).toEqual([404, 'video_not_found'])
})

test('errors have the envelope and the body of all interfaces', async () => {
  const { status, body } = await ask('POST', path, { prompt: 'x'.repeat(2501) })
  expect([status, body.code]).toEqual([400, 1201])
  expect(body.message).toMatch(body.request_id)
  expect(body.error).toMatchObject({ type: 'invalid_request_error', param: 'prompt' })
  const stranger = await ask('GET', path, undefined, `sk-${'c'.repeat(30)}`)
  expect([stranger.status, stranger.body.error?.code]).toEqual([401, 'invalid_api_key'])
  expect([1000, 1002]).toContain(stranger.body.code)
})
