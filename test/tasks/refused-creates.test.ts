// A create that the upstream did not take is no task: no list shows it, its own id and its key are free
// again, and the request log tells of it. One whose outcome is unknown tells the upstream's request id.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/read.ts'
import { jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

const native = '/arkvendor/api/v3/contents/generations/tasks'
const drawings = '/imgvendor/v1/images/generations'
const operations = '/vendorg/v1beta/models/vendorg-video-1:predictLongRunning'

/** Of image tasks, for each status. */
const codes: Readonly<Record<number, number>> = { 400: 1201, 429: 1302, 500: 5000 }
let status = 400
let made = 0
let upstream: TestUpstream
let gateway: TestGateway
beforeAll(async () => {
  upstream = startUpstream(({ path }) => {
    if (status !== 200) {
      const message = 'not now'
      const error = { code: status === 500 ? 'Odd' : 'Refused', message, status: 'REFUSED' }
      return jsonReply(
        { code: codes[status], message, request_id: 'up-body', error },
        { status, headers: { 'x-request-id': 'up-hdr-9' } },
      )
    }
    const id = `made-${++made}`
    if (path.includes('/images/')) {
      return jsonReply({ code: 0, message: 'ok', data: { task_id: id, task_status: 'submitted' } })
    }
    return jsonReply({ id, name: `operations/${id}`, output: { task_id: id } })
  })
  const { url } = upstream
  gateway = await startGateway({
    config: `
accounts: [{ name: acme, balance: "1000.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - name: upstream
    keys: ["access-0123456789|secret-0123456789abcdef"]
    models: { imgvendor-v2: "*", vidmodel-1-0-pro: "*", vendorg-video-1: "*", vfa-2.7-t2v: "*" }
    protocols: { imgvendor: "${url}", arkvendor: "${url}", vendorg: "${url}", vf: "${url}" }
`,
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const creates: Readonly<Record<string, [path: string, body: object]>> = {
  imgvendor: [drawings, { model_name: 'imgvendor-v2', prompt: 'a boat', external_task_id: 'mine' }],
  native: [native, { model: 'vidmodel-1-0-pro', content: [{ type: 'text', text: 'a boat' }] }],
  videos: ['/v1/videos', { model: 'vfa-2.7-t2v', prompt: 'a boat', seconds: 5 }],
  vendorg: [operations, { instances: [{ prompt: 'a boat' }], parameters: { durationSeconds: 4 } }],
}

interface Failure {
  error: { code: string; reason?: string; param: string | null; upstream_request_id: string }
}

/** Without what a poll may change meanwhile. */
async function lists(): Promise<string> {
  const texts = [native, drawings, '/v1/videos'].map(async (path) => {
    const headers = { authorization: `Bearer ${apiToken}` }
    const answer = await fetch(`${gateway.url}${path}`, { headers })
    expect(answer.status).toBe(200)
    const text = await answer.text()
    return text.replaceAll(/req_\w+|"updated_at":\d+/g, '')
  })
  return (await Promise.all(texts)).join('\n')
}

async function leavesNothing(code: number): Promise<void> {
  status = code
  const before = await lists()
  for (const [path, body] of Object.values(creates)) {
    const answer = await gateway.post(path, body)
    expect(answer.status).toBe(code)
    const requestId = answer.headers.get('x-gateway-request-id')!
    const { error } = (await answer.json()) as Failure
    expect(error.upstream_request_id).not.toBe('')
    const row = await until('its row', async () => {
      const { status, body } = await gateway.admin('GET', `/requests/${requestId}`)
      return status === 200 ? body : undefined
    })
    expect(row.status).toBe(code)
    expect(row.model).not.toBe('')
  }
  expect(await lists()).toBe(before)
}

test('a create refused with 400 leaves nothing behind for its caller', () => leavesNothing(400))

test('its own id is free again after a refusal, and taken after a success', async () => {
  const [path, body] = creates['imgvendor']!
  const named = { ...body, external_task_id: 'again' }
  status = 400
  for (const _ of [1, 2]) expect((await gateway.post(path, named)).status).toBe(400)
  status = 200
  expect((await gateway.post(path, named)).status).toBe(200)
  const taken = await gateway.post(path, named)
  expect(taken.status).toBe(400)
  expect(((await taken.json()) as Failure).error.param).toBe('external_task_id')
})

test.each(Object.entries(creates))(
  'an unknown outcome at %s tells the upstream request id, also when it is asked again',
  async (name, [path, body]) => {
    status = 500
    const key = { 'idempotency-key': `unknown ${name}` }
    const named = 'external_task_id' in body ? { ...body, external_task_id: 'unknown' } : body
    for (const replayed of [null, 'true']) {
      const answer = await gateway.post(path, named, key)
      expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([504, replayed])
      const { error } = (await answer.json()) as Failure
      expect(error.reason ?? error.code).toBe('upstream_outcome_unknown')
      expect(['up-hdr-9', 'up-body']).toContain(error.upstream_request_id)
    }
  },
)

// Last: a channel that was told to wait is not asked for a while.
test('a create refused with 429 leaves nothing behind either', () => leavesNothing(429))

test('its own id is free again after a rate limit', async () => {
  const [path, body] = creates['imgvendor']!
  const named = { ...body, external_task_id: 'after the limit' }
  status = 429
  expect((await gateway.post(path, named)).status).toBe(429)
  status = 200
  const answer = await until('a channel that may be asked again', async () => {
    const again = await gateway.post(path, named)
    return again.status === 429 ? undefined : again
  })
  expect(answer.status).toBe(200)
})
