// The test of a channel asks in a protocol that the channel speaks, whatever the model's first
// interface is; where every call would cost something, it asks for the list of models.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { askedDuring } from '../support/asked.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'

const key = 'upk-channel-test-0123456789'
const styles = ['chat', 'responses', 'messages', 'generate'] as const

const paths: Record<string, string> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  generate: '/v1beta/models/txta-plus:generateContent',
  embeddings: '/v1/embeddings',
}

let sandbox: Sandbox
let gateway: TestGateway

const channel = (protocol: string, model: string, upstream: string, more: object = {}) => ({
  name: `only-${protocol}`,
  keys: [key],
  protocols: { [protocol]: sandbox.protocols[protocol]! },
  models: { [model]: upstream },
  ...more,
})

beforeAll(async () => {
  sandbox = startSandbox({ key })
  const config = {
    accounts: [{ name: 'acme', balance: '100.00' }],
    tokens: [{ account: 'acme', name: 'test', token: apiToken }],
    channels: [
      ...styles.map((style) => channel(style, 'everywhere', 'txta-plus')),
      channel('embeddings', 'vectors', 'txta-embed'),
      channel('images', 'imga-plus', '*'),
      channel('images', 'imga-plus', '*', {
        name: 'images-wrong-key',
        keys: ['upk-other-0123456789'],
      }),
      channel('vf', 'vfb-1.1-t2v', '*'),
      channel('chat', 'everywhere', 'txta-plus', {
        name: 'new-limit',
        capabilities: { max_tokens_field: 'max_completion_tokens' },
      }),
      channel('generate', 'vectors', 'txta-embed', { name: 'generate-vectors' }),
    ],
    models: [
      { name: 'everywhere', kind: 'text', interfaces: [...styles] },
      { name: 'vectors', kind: 'embedding', interfaces: ['embeddings', 'generate'] },
    ],
  }
  gateway = await startGateway({ config: JSON.stringify(config) })
})

afterAll(async () => {
  await gateway.stop()
  await sandbox.stop()
})

const tested = async (name: string, body: object = {}) =>
  (await gateway.admin('POST', `/channels/${name}/test`, body)).body

describe('the test of a channel', () => {
  test.each([...styles, 'embeddings'])('that speaks only %s asks in it', async (style) => {
    let result: unknown
    const asked = await askedDuring(sandbox, async () => {
      result = await tested(`only-${style}`)
    })
    expect(result).toEqual({ ok: true, latency_ms: expect.any(Number), model: expect.any(String) })
    expect(asked.map(({ path }) => path)).toEqual([paths[style]!])
  })

  test('asks a model by the call for its kind', async () => {
    const asked = await askedDuring(sandbox, async () => {
      expect(await tested('generate-vectors')).toMatchObject({ ok: true, model: 'vectors' })
    })
    expect(asked.map(({ path }) => path)).toEqual(['/v1beta/models/txta-embed:embedContent'])
  })

  test('bounds the answer in the words of the upstream', async () => {
    const asked = await askedDuring(sandbox, () => tested('new-limit'))
    expect(Object.keys(asked[0]!.json)).not.toContain('max_tokens')
    expect(asked[0]!.json.max_completion_tokens).toBeGreaterThan(0)
  })

  test('works for one that is not added yet', async () => {
    const { name: _, ...draft } = channel('generate', 'everywhere', 'txta-plus')
    const { body } = await gateway.admin('POST', '/channels/test', { name: 'draft', ...draft })
    expect(body).toMatchObject({ ok: true, model: 'everywhere' })
  })

  test('asks for the list of models where every call would cost something', async () => {
    expect(await tested('only-images')).toEqual({
      ok: true,
      latency_ms: expect.any(Number),
      model: 'imga-plus',
    })
    expect(await tested('images-wrong-key')).toMatchObject({
      ok: false,
      error: expect.stringContaining('key'),
    })
  })

  test('says where nothing is cheap enough to ask', async () => {
    expect(await tested('only-vf')).toMatchObject({
      ok: false,
      error: 'this channel has no call that costs nothing or little: use one of its models',
    })
    expect(await tested('only-chat', { model: 'imga-plus' })).toMatchObject({
      ok: false,
      error: "this channel does not serve 'imga-plus'",
    })
  })
})
