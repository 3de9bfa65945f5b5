// Notices by e-mail: a real gateway and a real mail server.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { defaultConfig, startGateway, type TestGateway } from '../support/gateway.ts'
import { type MailServerForTests, startMailServer } from '../support/mail-server.ts'
import { untilTrue } from '../support/read.ts'

const password = 'hunter2-hunter2'

let server: MailServerForTests
let gateway: TestGateway

beforeAll(async () => {
  server = await startMailServer({ password })
  gateway = await startGateway({
    config: `${defaultConfig}
webhooks:
  - { email: file@ops.example, events: [price.missing] }
`,
    env: {
      GATEWAY_SMTP_URL: `smtp://gateway:${password}@127.0.0.1:${server.port}`,
      GATEWAY_SMTP_FROM: 'Model Gateway <gateway@mail.example>',
      GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
    },
  })
})
afterAll(async () => {
  await gateway.stop('SIGKILL')
  await server.stop()
})

const create = (email: string, more: object = {}) =>
  gateway.admin('POST', '/webhooks', { email, events: ['balance.low'], ...more })
/** Its delivery after the first attempt, which may take longer than the answer waits. */
async function sendTest(id: string) {
  await gateway.admin('POST', `/webhooks/${id}/test`)
  const latest = async () => {
    const { body } = await gateway.admin('GET', `/webhooks/${id}/deliveries`)
    return { body: body.items[0] }
  }
  return untilTrue(latest, ({ body }) => body.attempts.length > 0)
}
const mailsTo = (email: string) => server.mails.filter(({ to }) => to.includes(email))

describe('a subscription by e-mail', () => {
  test('has an address and no secret', async () => {
    const { status, body } = await create('ops@mail.example')
    expect(status).toBe(201)
    expect(body).toMatchObject({ url: null, email: 'ops@mail.example', events: ['balance.low'] })
    expect(body).not.toHaveProperty('secret')
    const secret = { secret: `whsec_${Buffer.alloc(32).toString('base64')}` }
    expect((await create('ops@mail.example', secret)).status).toBe(400)
    const moved = await gateway.admin('PATCH', `/webhooks/${body.id}`, {
      email: 'ops+2@mail.example',
    })
    expect(moved.body.email).toBe('ops+2@mail.example')
    const url = 'https://hooks.example/'
    expect((await gateway.admin('PATCH', `/webhooks/${body.id}`, { url })).status).toBe(400)
  })

  test.each([
    'ops',
    'ops@',
    '@mail.example',
    'a b@mail.example',
    'a@b@mail.example',
    'ops@mail.example\r\nBcc: other@mail.example',
    'ops@mail.example\n',
    'ops@mail.example, other@mail.example',
    'Ops <ops@mail.example>',
    '"a b"@mail.example',
    'ops@-mail.example',
    'ops@mail..example',
    'ops\u0000@mail.example',
    `${'a'.repeat(300)}@mail.example`,
  ])('is refused for the address %j', async (email) => {
    const { status, body } = await create(email)
    expect(status).toBe(400)
    expect(body.error.param).toBe('email')
  })

  test('gets a test as a mail that people and programs can read', async () => {
    const { id } = (await create('test@mail.example')).body
    const { body } = await sendTest(id)
    expect(body).toMatchObject({ type: 'test', state: 'delivered', attempts: [{ status: 250 }] })
    const [mail] = mailsTo('test@mail.example')
    expect(mail).toMatchObject({ from: 'gateway@mail.example', user: 'gateway' })
    expect(Object.fromEntries(mail!.headers)).toMatchObject({
      from: 'Model Gateway <gateway@mail.example>',
      to: 'test@mail.example',
      subject: '[model-gateway] test',
      'message-id': `<${body.id}@mail.example>`,
      'auto-submitted': 'auto-generated',
    })
    expect(mail!.text).toStartWith('This is a test: notices to this address arrive.\n')
    const json = mail!.text.slice(mail!.text.indexOf('{'))
    expect(JSON.parse(json)).toMatchObject({ id: body.id, type: 'test', at: body.at })
  })

  test('that the server cannot take now is tried again under the same id', async () => {
    const email = 'later@mail.example'
    server.refuse = (at, to) =>
      at === 'end' && to === email ? { status: 451, text: 'come back later' } : undefined
    const { id } = (await create(email)).body
    const { body } = await sendTest(id)
    const error = expect.stringContaining('come back later')
    expect(body).toMatchObject({ state: 'pending', attempts: [{ status: 451, error }] })
    server.refuse = () => undefined
    while (mailsTo(email).length < 2) await Bun.sleep(50)
    const ids = mailsTo(email).map(({ headers }) => headers.get('message-id'))
    expect(ids).toEqual([`<${body.id}@mail.example>`, `<${body.id}@mail.example>`])
  })

  test('fails at once for a recipient that the server does not have', async () => {
    const email = 'gone@mail.example'
    server.refuse = (at, to) =>
      at === 'recipient' && to === email ? { status: 550, text: 'no such mailbox' } : undefined
    const { id } = (await create(email)).body
    const { body } = await sendTest(id)
    const error = expect.stringContaining('no such mailbox')
    expect(body).toMatchObject({
      state: 'failed',
      next_at: null,
      attempts: [{ status: 550, error }],
    })
    server.refuse = () => undefined
    expect(mailsTo(email)).toEqual([])
  })

  test('of gateway.yaml gets what it asks for', async () => {
    const model = { kind: 'text', interfaces: ['chat'] }
    await gateway.admin('PUT', '/models/unpriced-1', model)
    await gateway.admin('POST', '/channels', {
      ...{ name: 'other', keys: ['k'], models: { 'unpriced-1': '*' } },
      protocols: { chat: 'http://127.0.0.1:9/v1' },
    })
    const mail = await server.first(({ to }) => to.includes('file@ops.example'))
    expect(mail.headers.get('subject')).toBe('[model-gateway] price.missing: unpriced-1')
    expect(mail.text).toContain('\nmodel: unpriced-1\n')
    expect(gateway.output()).not.toContain(password)
  })
})
