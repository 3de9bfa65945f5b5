// Notices about what lasts: a channel whose upstream fails, refuses its key, and works again.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { type NoticeReceiver, startReceiver } from '../support/notices.ts'
import { untilTrue } from '../support/read.ts'
import { jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

let receiver: NoticeReceiver
let upstream: TestUpstream
let gateway: TestGateway
let status = 500

beforeAll(async () => {
  receiver = startReceiver()
  upstream = startUpstream(() =>
    status === 200
      ? jsonReply({
          ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'up' },
          choices: [
            { index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' },
          ],
          usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
        })
      : jsonReply({ error: { message: 'no', type: 'x', code: 'x' } }, { status }),
  )
  gateway = await startGateway({
    config: `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - { name: far, keys: [key-of-far], protocols: { chat: "${upstream.chat}" }, models: { txta-plus: up } }
`,
    env: { GATEWAY_EGRESS_ALLOW: '127.0.0.0/8' },
  })
  const { body } = await gateway.admin('POST', '/webhooks', {
    url: receiver.url('/all'),
    events: ['channel.down', 'channel.recovered', 'key.rejected', 'error_rate'],
    rules: [{ model: 'txta-plus', above: 0.5, over: '5m', min: 4 }],
  })
  receiver.knows('/all', body.secret)
})
afterAll(async () => {
  await gateway.stop('SIGKILL')
  upstream.stop()
  receiver.stop()
})

const alertOf = async (kind: string) =>
  (await gateway.admin('GET', `/alerts?kind=${kind}`)).body.items[0]

const typed = (type: string) => receiver.ofType(type).map(({ data }) => data)

test('a channel is told to be down once, and to have recovered when a call succeeds', async () => {
  for (let n = 0; n < 5; n++) expect((await gateway.chat('hello')).status).toBeGreaterThan(499)
  await receiver.first(({ type }) => type === 'channel.down')
  await receiver.first(({ type }) => type === 'error_rate')
  expect(typed('error_rate')).toEqual([{ model: 'txta-plus', rate: 1, total: 5 }])
  for (const kind of ['channel_down', 'error_rate']) {
    const alert = await untilTrue(
      () => alertOf(kind),
      (each) => each !== undefined,
    )
    const refused = await gateway.admin('POST', `/alerts/${alert.id}/resolve`)
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      expect.stringContaining('still'),
    ])
  }
  expect(await alertOf('error_rate')).toMatchObject({ subject: 'model txta-plus', times: 1 })
  status = 200
  while ((await gateway.chat('hello')).status !== 200) await Bun.sleep(50)
  await receiver.first(({ type }) => type === 'channel.recovered')
  await untilTrue(
    () => alertOf('channel_down'),
    (each) => each === undefined,
  )
  expect(typed('channel.down').map(({ channel }) => channel)).toEqual(['far'])
  expect(typed('channel.recovered').map(({ channel }) => channel)).toEqual(['far'])
  status = 401
  await gateway.chat('hello')
  await receiver.first(({ type }) => type === 'key.rejected')
  await receiver.first(() => typed('channel.down').length === 2)
  expect(typed('key.rejected')).toEqual([
    { channel: 'far', key: expect.stringMatching(/^[\w-]{16}$/) },
  ])
  expect(typed('channel.down')[1].reason).toBe('all its keys are rejected')
  expect(receiver.forged).toEqual([])
})
