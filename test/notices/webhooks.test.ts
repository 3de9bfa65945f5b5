// Subscriptions to notices over HTTP: a real gateway and a receiver that verifies every signature.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newWebhookSecret } from '../../src/lib/net/webhook.ts'
import { defaultConfig, startGateway, type TestGateway } from '../support/gateway.ts'
import { type NoticeReceiver, startReceiver } from '../support/notices.ts'

const fileSecret = newWebhookSecret()

let receiver: NoticeReceiver
let gateway: TestGateway

beforeAll(async () => {
  receiver = startReceiver()
  receiver.knows('/file', fileSecret)
  gateway = await startGateway({
    config: `${defaultConfig}
webhooks:
  - { url: "${receiver.url('/file')}", events: [bill.closed], secret: ${fileSecret} }
  - { url: "${receiver.url('/made')}", events: [bill.closed] }
`,
    env: { GATEWAY_EGRESS_ALLOW: '127.0.0.0/8' },
  })
})
afterAll(async () => {
  await gateway.stop('SIGKILL')
  receiver.stop()
})

const create = (body: object) => gateway.admin('POST', '/webhooks', body)
const events = ['balance.low']

describe('subscriptions', () => {
  test('are made with a secret that is shown once', async () => {
    const url = receiver.url('/shown')
    const { status, body } = await create({ url, events })
    expect(status).toBe(201)
    expect(body).toMatchObject({ url, events, disabled: false, source: 'api' })
    expect(body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const shown = (await gateway.admin('GET', `/webhooks/${body.id}`)).body
    const listed = (await gateway.admin('GET', '/webhooks')).body.items
    expect(shown).not.toHaveProperty('secret')
    expect(listed.find(({ id }: { id: string }) => id === body.id)).toEqual(shown)
    expect(JSON.stringify(listed)).not.toContain('whsec_')
    const log = await gateway.admin('GET', '/audit-log')
    expect(JSON.stringify(log.body)).not.toContain('whsec_')
  })

  test.each([
    ['no events', { url: 'https://hooks.example/', events: [] }],
    ['an unknown event', { url: 'https://hooks.example/', events: ['balance.lo'] }],
    ['an event twice', { url: 'https://hooks.example/', events: [...events, ...events] }],
    ['no address', { events }],
    ['two addresses', { url: 'https://hooks.example/', email: 'a@b.example', events }],
    ['an address without TLS', { url: 'http://203.0.113.1/', events }],
    ['a private address', { url: 'https://169.254.169.254/latest', events }],
    ['no address at all', { url: 'hooks', events }],
    ['credentials in the address', { url: 'https://a:b@hooks.example/', events }],
    ['a short secret', { url: 'https://hooks.example/', events, secret: 'whsec_YQ==' }],
    ['another key', { url: 'https://hooks.example/', events, name: 'x' }],
    ['an error rate without a rule', { url: 'https://hooks.example/', events: ['error_rate'] }],
    ['a rule about nothing', rateRule({})],
    ['a rule about both', rateRule({ model: 'txta-plus', channel: 'a' })],
    ['e-mail without a server', { email: 'a@b.example', events }],
  ])('with %s are refused', async (_, body) => {
    const answer = await create(body)
    expect(answer.status).toBe(400)
    const isMail = Object.keys(body).join() === 'email,events'
    const missing = 'GATEWAY_SMTP_URL and GATEWAY_SMTP_FROM must be set'
    expect(answer.body.error.message.includes(missing)).toBe(isMail)
    expect(answer.body.error.type).toBe('invalid_request_error')
  })

  test('with rules keep them', async () => {
    const { status, body } = await create(rateRule({ channel: 'sandbox', above: 0.5, over: '2m' }))
    expect(status).toBe(201)
    expect(body.rules).toEqual([{ channel: 'sandbox', above: 0.5, over: '2m', min: 20 }])
  })

  test('are changed and deleted', async () => {
    const { id } = (await create({ url: receiver.url('/changed'), events })).body
    const patch = (body: object) => gateway.admin('PATCH', `/webhooks/${id}`, body)
    const changed = await patch({ events: ['bill.closed', 'loss.booked'], disabled: true })
    expect(changed.body).toMatchObject({ events: ['bill.closed', 'loss.booked'], disabled: true })
    expect((await patch({ events: [] })).status).toBe(400)
    expect((await patch({ events: ['error_rate'] })).status).toBe(400)
    expect((await patch({ url: 'http://10.0.0.1/' })).status).toBe(400)
    expect((await gateway.admin('DELETE', `/webhooks/${id}`)).body).toEqual({ id, deleted: true })
    expect((await gateway.admin('GET', `/webhooks/${id}`)).status).toBe(404)
    expect((await gateway.admin('GET', `/webhooks/${id}/deliveries`)).status).toBe(404)
  })

  test('of the file are read-only, and sign with the secret that it gives', async () => {
    const { items } = (await gateway.admin('GET', '/webhooks')).body
    const [given, made] = ['/file', '/made'].map((path) =>
      items.find(({ url }: { url: string }) => url === receiver.url(path)),
    )
    expect(given.source).toBe('file')
    for (const method of ['PATCH', 'DELETE']) {
      const refused = await gateway.admin(method, `/webhooks/${given.id}`, { disabled: true })
      expect(refused.status).toBe(409)
    }
    const sent = await gateway.admin('POST', `/webhooks/${given.id}/test`)
    expect(sent.body.state).toBe('delivered')
    expect(receiver.ofType('test').map(({ path }) => path)).toContain('/file')
    // Left out, a secret is made, and printed at the first start.
    const printed = /Webhook {6}(whsec_\S+) {3}\(signs notices to (\S+);/.exec(gateway.output())
    expect(printed?.[2]).toBe(receiver.url('/made'))
    receiver.knows('/made', printed![1]!)
    expect((await gateway.admin('POST', `/webhooks/${made.id}/test`)).body.state).toBe('delivered')
  })
})

describe('a test notice', () => {
  test('is signed with the secret, and shown with its attempt', async () => {
    const { id, secret } = (await create({ url: receiver.url('/test'), events })).body
    receiver.knows('/test', secret)
    const { status, body } = await gateway.admin('POST', `/webhooks/${id}/test`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ type: 'test', state: 'delivered', attempts: [{ status: 204 }] })
    const notice = await receiver.first(({ path }) => path === '/test')
    expect(notice).toMatchObject({ id: body.id, type: 'test', at: body.at })
    const { items } = (await gateway.admin('GET', `/webhooks/${id}/deliveries`)).body
    expect(items).toEqual([body])
    expect(receiver.forged).toEqual([])
  })

  test('that is not taken is tried again under the same id', async () => {
    const secret = newWebhookSecret()
    receiver.knows('/down', secret)
    receiver.answer = (path) => (path === '/down' ? 503 : 204)
    const made = (await create({ url: receiver.url('/down'), events, secret })).body
    expect(made.secret).toBe(secret)
    const { body } = await gateway.admin('POST', `/webhooks/${made.id}/test`)
    expect(body).toMatchObject({ state: 'pending', attempts: [{ status: 503 }] })
    expect(Date.parse(body.next_at)).toBeGreaterThan(Date.parse(body.at))
    receiver.answer = () => 204
    const both = () => receiver.arrivals.filter(({ path }) => path === '/down')
    while (both().length < 2) await Bun.sleep(50)
    expect(both().map(({ id }) => id)).toEqual([body.id, body.id])
  })
})

function rateRule(rule: object) {
  return { url: 'https://hooks.example/', events: ['error_rate'], rules: [rule] }
}
