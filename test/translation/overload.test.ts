// An upstream that has too much to do is told in the words of each text style: 529 in the
// messages style, 503 in the others, with a time to wait. A plain rate limit stays one.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { dataLines, errorIn } from '../support/read.ts'
import { jsonReply, startUpstream, streamReply, type TestUpstream } from '../support/upstream.ts'

const styles = ['chat', 'responses', 'messages', 'generate'] as const
type Style = (typeof styles)[number]

const error = (status: number, message: string, type = 'error') =>
  jsonReply({ error: { type, message } }, { status })

/** By the last word of a model's name: what its upstream answers. */
const upstreams: Record<string, () => Response> = {
  u503: () => error(503, 'busy'),
  u529: () => error(529, 'busy', 'overloaded_error'),
  o429: () => error(429, 'The engine is currently overloaded, please try again later'),
  u429: () => error(429, 'Rate limit reached for requests'),
  u500: () => error(500, 'boom'),
  event: () => {
    const event = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    return streamReply([`event: error\ndata: ${JSON.stringify(event)}\n\n`])
  },
}
const kinds = Object.keys(upstreams)

let upstream: TestUpstream
let gateway: TestGateway

/** A model for each caller's style, which is called once: its channel may be paused then. */
const modelFor = (style: Style, over: Style, kind: string, isStream: boolean) =>
  `${style}-${over}-${isStream ? 's' : 'j'}-${kind}`
const cases = styles.flatMap((style) =>
  [style, style === 'chat' ? 'messages' : 'chat'].flatMap((over) =>
    [false, true].flatMap((isStream) =>
      kinds
        .filter((kind) => kind !== 'event' || (isStream && over === 'messages'))
        .map((kind) => [style, over as Style, kind, isStream] as const),
    ),
  ),
)

beforeAll(async () => {
  upstream = startUpstream(({ path, body }) => {
    const model = /"model":"([^"]+)"/.exec(body)?.[1] ?? path.split('/').at(-1)!.split(':')[0]!
    return upstreams[model.split('-').at(-1)!]!()
  })
  const names = cases.map((each) => modelFor(...each))
  const channel = (name: string, style: Style, more = {}) => ({
    name: `c-${name}`,
    keys: ['upk-overload-0123456789abcdef'],
    protocols: {
      [style]: style === 'chat' || style === 'responses' ? upstream.chat : `${upstream.url}`,
    },
    models: { [name]: '*' },
    ...more,
  })
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: [{ name: 'acme', balance: '100.00' }],
      tokens: [{ account: 'acme', name: 'test', token: apiToken }],
      channels: cases.map((each) => channel(modelFor(...each), each[1])),
      models: names.map((name) => ({ name, kind: 'text', interfaces: ['chat'] })),
      prices: names.map((model) => ({
        model,
        unit: 'token',
        per_million: { input: '1.00', output: '1.00' },
      })),
    }),
  })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
})

const messages = [{ role: 'user', content: 'Hi' }]
const requests: Record<Style, (model: string, stream: boolean) => [string, object]> = {
  chat: (model, stream) => ['/v1/chat/completions', { model, messages, stream }],
  responses: (model, stream) => ['/v1/responses', { model, input: 'Hi', stream }],
  messages: (model, stream) => ['/v1/messages', { model, max_tokens: 99, messages, stream }],
  generate: (model, stream) => [
    `/vendorg/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  ],
}

const overload = (style: Style): number => (style === 'messages' ? 529 : 503)

test.each(cases)(
  '%s over %s: %s is told as what it is (stream: %j)',
  async (style, over, kind, isStream) => {
    const model = modelFor(style, over, kind, isStream)
    const answer = await gateway.post(...requests[style](model, isStream))
    const expected = kind === 'u429' ? 429 : kind === 'u500' ? 502 : overload(style)
    expect(answer.status).toBe(expected)
    const text = await answer.text()
    const { type, code } = errorIn(text)
    if (kind === 'u429') expect(code).toBe('upstream_rate_limited')
    if (expected === overload(style)) {
      expect(code).toBe('overloaded')
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
      if (style === 'messages') expect(type).toBe('overloaded_error')
      if (style === 'generate') expect(text).toContain('"status":"UNAVAILABLE"')
    }
    expect(dataLines(text)).toEqual([])
  },
)
