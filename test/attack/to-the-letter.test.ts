// What a caller could get wrong without noticing, and what it could find out by getting it wrong: one
// gateway, the sandbox as its upstream.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { adminToken, apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/read.ts'
import { readTaskLedger } from '../support/task-books.ts'

const narrow = 'sk-narrow-0123456789abcdefghijklmnop'
let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({
    config: `
accounts: [{ name: acme, balance: "100.00" }]
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: acme, name: narrow, token: ${narrow}, models: [imgvendor-v1] }
`,
    env: { GATEWAY_SANDBOX_TASK_SECONDS: '0.5' },
  })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

async function ask(method: string, path: string, body?: object, token = apiToken) {
  const answer = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const requestId = answer.headers.get('x-gateway-request-id') ?? ''
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  return { status: answer.status, body: (await answer.json()) as any, requestId }
}

test.each([
  ['nothing else wrong', {}],
  ['no prompt', { prompt: undefined }],
  ['a count that is none', { n: 99 }],
  ['a picture that is none', { image: '!' }],
])('an image model that a token may not see is unknown to it, with %s', async (_, fields) => {
  const path = '/imgvendor/v1/images/generations'
  const told = async (model: string) => {
    const body = { prompt: 'a', ...fields, model_name: model }
    const { status, body: answer } = await ask('POST', path, body, narrow)
    const { code, type, param } = answer.error
    return { status, code, type, param, envelope: answer.code }
  }
  const hidden = await told('imgvendor-v2')
  expect(hidden).toMatchObject({ status: 404, code: 'model_not_found' })
  expect(hidden).toEqual(await told('imgvendor-v9'))
})

test('a video is cancelled by POST, and one that is not there is not', async () => {
  const input = { model: 'vfa-2.7-t2v', prompt: 'a boat [[sim:seconds=30]]' }
  const made = await ask('POST', '/v1/videos', input)
  const cancelled = await ask('POST', `/v1/videos/${made.body.id}/cancel`)
  expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled'])
  const none = await ask('POST', '/v1/videos/video_none/cancel')
  expect([none.status, none.body.error.code]).toEqual([404, 'video_not_found'])
})

test.each(['status', 'model', 'created_after', 'before', 'filter.status', 'Limit', 'page_size'])(
  'a list of videos does not pretend to be narrowed by %s',
  async (name) => {
    const { status, body } = await ask('GET', `/v1/videos?${name}=x`)
    expect([status, body.error.param]).toEqual([400, name])
  },
)

test('a model that takes one picture refuses two and says where they stand', async () => {
  const pictures = ['https://m.example/1.png', 'https://m.example/2.png']
  const input = { model: 'vfb-1.0-i2v', prompt: 'a', input_reference: pictures }
  const { status, body } = await ask('POST', '/v1/videos', input)
  expect([status, body.error.param]).toEqual([400, 'input_reference'])
})

test('a charge for a video and one for a picture are found by their request ids', async () => {
  const video = await ask('POST', '/v1/videos', { model: 'vfa-2.7-t2v', prompt: 'a boat' })
  const picture = await ask('POST', '/v1/images/generations', { model: 'imga-plus', prompt: 'a' })
  expect([video.status, picture.status]).toEqual([200, 200])
  for (const { requestId } of [video, picture]) {
    const charge = await until(`the charge of ${requestId}`, async () =>
      (await readTaskLedger(gateway)).find(
        (entry) => entry.kind === 'charge' && entry.request_id === requestId,
      ),
    )
    const row = (await gateway.admin('GET', `/requests/${requestId}`)).body
    expect(`-${row.charge}`).toBe(charge.amount)
    const { body } = await gateway.admin('GET', '/bills?account=acme&lines=true')
    expect(JSON.stringify(body)).toContain(requestId)
    const bill = await fetch(`${gateway.url}/admin/v1/bills?account=acme&format=csv`, {
      headers: { authorization: `Bearer ${adminToken}` },
    })
    expect(await bill.text()).toContain(requestId)
  }
})
