// Tokens that allow no translation, or none that loses something: `translation: off` and `strict`.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { errorOf } from '../support/read.ts'

const key = 'upk-tokens-0123456789abcdef'
const secrets = {
  on: apiToken,
  strict: 'sk-strict-0123456789abcdefghijklmnop',
  off: 'sk-native-0123456789abcdefghijklmnop',
} as const
type Mode = keyof typeof secrets

let sandbox: Sandbox
let gateway: TestGateway

beforeAll(async () => {
  sandbox = startSandbox({ key })
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: [{ name: 'acme', balance: '100.00' }],
      tokens: Object.entries(secrets).map(([translation, token]) => ({
        account: 'acme',
        name: translation,
        token,
        ...(translation !== 'on' && { translation }),
      })),
      channels: [
        {
          name: 'only-messages',
          keys: [key],
          protocols: { messages: sandbox.protocols['messages'] },
          models: { m: 'txta-plus' },
        },
      ],
      models: [{ name: 'm', kind: 'text', interfaces: ['messages'] }],
      prices: [{ model: 'm', unit: 'token', per_million: { input: '1.00', output: '2.00' } }],
    }),
  })
})

afterAll(async () => {
  await gateway.stop()
  await sandbox.stop()
})

const as = (mode: Mode) => ({ authorization: `Bearer ${secrets[mode]}` })
const messages = [{ role: 'user', content: 'Say hello' }]
const chat = (mode: Mode, more: object = {}) =>
  gateway.post('/v1/chat/completions', { model: 'm', messages, ...more }, as(mode))
const native = (mode: Mode) =>
  gateway.post('/v1/messages', { model: 'm', max_tokens: 20, messages, top_k: 3 }, as(mode))

describe.each(['on', 'strict', 'off'] as const)('a token with translation %s', (mode) => {
  test('is served in the style of the channel', async () => {
    const answer = await native(mode)
    expect([answer.status, answer.headers.get('x-gateway-translation')]).toEqual([200, null])
  })

  test('sees the interfaces that it can use', async () => {
    const { data } = (await (
      await fetch(`${gateway.url}/v1/models`, { headers: as(mode) })
    ).json()) as { data: { id: string; supported_endpoint_types: string[] }[] }
    const types = data.find(({ id }) => id === 'm')?.supported_endpoint_types
    const all = ['anthropic', 'gemini', 'openai', 'openai-response']
    expect(types?.toSorted()).toEqual(mode === 'off' ? ['anthropic'] : all)
  })

  test('is shown with it', async () => {
    const { body } = await gateway.admin('GET', '/tokens')
    const shown = body.items.find(({ name }: { name: string }) => name === mode)
    expect(shown.translation).toBe(mode)
  })
})

test('only a token that allows it is served with a loss', async () => {
  const lossy = { seed: 7 }
  const on = await chat('on', lossy)
  expect([on.status, on.headers.get('x-gateway-translation-loss')]).toEqual([200, 'seed'])
  const strict = await chat('strict', lossy)
  expect(strict.status).toBe(400)
  expect(await errorOf(strict)).toMatchObject({ code: 'invalid_request', param: 'seed' })
})

test('without a loss a strict token is served, and one that is off is not', async () => {
  const strict = await chat('strict')
  expect([strict.status, strict.headers.get('x-gateway-translation')]).toEqual([
    200,
    'chat>messages',
  ])
  const off = await chat('off')
  expect(off.status).toBe(400)
  const error = await errorOf(off)
  expect(error).toMatchObject({ code: 'model_not_supported', param: 'model' })
  expect(error.message).toContain('it is served by: messages (')
})

test('a change counts for the next call', async () => {
  const made = await gateway.admin('POST', '/tokens', {
    account: 'acme',
    name: 'changing',
    translation: 'off',
  })
  const ask = () =>
    gateway.post(
      '/v1/chat/completions',
      { model: 'm', messages },
      { authorization: `Bearer ${made.body.token}` },
    )
  expect((await ask()).status).toBe(400)
  await gateway.admin('PATCH', `/tokens/${made.body.id}`, { translation: 'on' })
  expect((await ask()).status).toBe(200)
})
