// Notices as messages of chat tools: receivers that check body and signature as those tools document them, and
// answer 200 whatever they think of it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { defaultConfig, startGateway, type TestGateway } from '../support/gateway.ts'
import { untilTrue } from '../support/read.ts'

const secret = 'SECabcdef0123456789'

interface Seen {
  path: string
  query: URLSearchParams
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: messages of every tool
  body: any
}

const seen: Seen[] = []
const refusals: Record<string, unknown> = {}
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url)
    const body = await request.json()
    seen.push({ path: pathname, query: searchParams, headers: request.headers, body })
    if (pathname.startsWith('/slack')) return new Response('ok')
    return Response.json(refusals[pathname] ?? { errcode: 0, code: 0, errmsg: 'ok' })
  },
})
const urlOf = (path: string) => `http://127.0.0.1:${server.port}${path}`
const lastAt = (path: string) => seen.findLast((each) => each.path === path)!

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({
    config: `${defaultConfig}
webhooks:
  - { url: "${urlOf('/slack/file')}", format: slack, events: [price.changed] }
`,
    env: { GATEWAY_EGRESS_ALLOW: '127.0.0.0/8' },
  })
})
afterAll(async () => {
  await gateway?.stop('SIGKILL')
  await server.stop(true)
})

async function tried(format: string, path: string, more: object = {}) {
  const made = await gateway.admin('POST', '/webhooks', {
    ...{ url: urlOf(path), format, events: ['balance.low'] },
    ...more,
  })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({ format })
  expect(made.body.secret).toBeUndefined()
  const { body } = await gateway.admin('POST', `/webhooks/${made.body.id}/test`)
  return { ...body, webhook: made.body }
}

describe('a message', () => {
  test('to Slack is a text', async () => {
    expect((await tried('slack', '/slack')).state).toBe('delivered')
    const { body, headers } = lastAt('/slack')
    expect(Object.keys(body)).toEqual(['text'])
    expect(body.text).toStartWith('[model-gateway] test\nThis is a test')
    expect(headers.get('webhook-signature')).toBeNull()
  })

  test('to Feishu is signed with the secret as its key', async () => {
    expect((await tried('feishu', '/feishu', { secret })).state).toBe('delivered')
    const { body } = lastAt('/feishu')
    expect(body).toMatchObject({ msg_type: 'text' })
    expect(body.content.text).toContain('This is a test')
    const expected = createHmac('sha256', `${body.timestamp}\n${secret}`).digest('base64')
    expect(body.sign).toBe(expected)
    expect(Math.abs(Number(body.timestamp) * 1_000 - Date.now())).toBeLessThan(3_600_000)
  })

  test('to DingTalk is signed in its address', async () => {
    expect(
      (await tried('dingtalk', '/dingtalk', { url: urlOf('/dingtalk?access_token=t'), secret }))
        .state,
    ).toBe('delivered')
    const { body, query } = lastAt('/dingtalk')
    expect(body).toMatchObject({ msgtype: 'text' })
    expect(query.get('access_token')).toBe('t')
    const stamp = query.get('timestamp')!
    expect(query.get('sign')).toBe(
      createHmac('sha256', secret).update(`${stamp}\n${secret}`).digest('base64'),
    )
  })

  test('to WeCom and to bots without a signature is plain', async () => {
    expect((await tried('wecom', '/wecom')).state).toBe('delivered')
    expect(lastAt('/wecom').body.text.content).toContain('This is a test')
    expect((await tried('feishu', '/feishu-plain')).state).toBe('delivered')
    expect(lastAt('/feishu-plain').body).not.toHaveProperty('sign')
  })

  test('that a tool refuses with status 200 is not delivered, and the deliveries say why', async () => {
    refusals['/refused'] = { errcode: 310000, errmsg: 'sign not match' }
    const { state, attempts } = await tried('dingtalk', '/refused')
    expect(state).toBe('pending')
    expect(attempts[0].error).toBe('refused with code 310000: sign not match')
    refusals['/odd'] = 'hello'
    expect((await tried('wecom', '/odd')).attempts[0].error).toContain('refused with code')
  })

  test('tells what happened, also to a subscription of the file', async () => {
    await gateway.admin('POST', '/prices', {
      ...{ model: 'txta-plus', unit: 'token', per_million: { input: '9.00', output: '9.00' } },
    })
    const arrived = async () => seen.find(({ path }) => path === '/slack/file')
    const { body } = (await untilTrue(arrived, (each) => each !== undefined))!
    expect(body.text).toContain('[model-gateway] price.changed: txta-plus')
    expect(body.text).toContain('model: txta-plus')
  })
})

test.each<[string, object, string]>([
  ['an unknown format', { format: 'teams' }, 'format'],
  ['a secret for Slack', { format: 'slack', secret }, 'secret'],
  ['a secret of another form for JSON', { secret }, 'secret'],
])('%s is refused', async (_, fields, param) => {
  const body = { url: urlOf('/x'), events: ['balance.low'], ...fields }
  const refused = await gateway.admin('POST', '/webhooks', body)
  expect([refused.status, refused.body.error.param]).toEqual([400, param])
})

test('the secret of a tool can be changed, and is never shown; its format cannot', async () => {
  const { webhook } = await tried('dingtalk', '/changed', { secret })
  const change = (body: object) => gateway.admin('PATCH', `/webhooks/${webhook.id}`, body)
  expect((await change({ secret: 'SECanother0123456789' })).status).toBe(200)
  expect((await change({ format: 'slack' })).status).toBe(400)
  const shown = JSON.stringify((await gateway.admin('GET', '/webhooks')).body)
  const logged = JSON.stringify((await gateway.admin('GET', '/audit-log')).body)
  expect(shown + logged).not.toContain('SEC')
})
