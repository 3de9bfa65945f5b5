// Callers of the four text styles, and a gateway whose models have one upstream style each.
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import {
  type LyingUpstream,
  promptFor,
  type StyleName,
  type WireName,
  wires,
} from './lying-upstream.ts'

/** `place`: upstreams that fail have channels of their own, so that no circuit opens. */
export const modelOver = (style: WireName, place?: number): string =>
  place === undefined ? `over-${style}` : `over-${style}-${place}`

/** Prices per million tokens. */
const price = { input: '10.00', output: '20.00', cache_read: '1.00' }
export const window = 10_000
export const maxOutput = 2_000

/** In nano-units. */
export const costOf = ({
  input,
  output,
  cached = 0,
}: {
  input: number
  output: number
  cached?: number
}) => BigInt(input - cached) * 10_000n + BigInt(cached) * 1_000n + BigInt(output) * 20_000n

export function startOver(upstream: LyingUpstream, places = 0): Promise<TestGateway> {
  const served = wires.flatMap((style) =>
    [undefined, ...Array(places).keys()].map((place) => ({ style, name: modelOver(style, place) })),
  )
  const config = {
    accounts: [{ name: 'acme', balance: '10000.00' }],
    tokens: [{ account: 'acme', name: 'test', token: apiToken }],
    channels: served.map(({ style, name }) => ({
      name: `c-${name}`,
      keys: ['upk-lying-0123456789'],
      protocols: upstream.protocols[style],
      models: { [name]: 'up' },
    })),
    models: served.map(({ style, name }) => ({
      name,
      kind: 'text',
      interfaces: [style === 'converse' ? 'chat' : style],
      context_window: window,
      max_output_tokens: maxOutput,
    })),
    prices: served.map(({ name }) => ({ model: name, unit: 'token', per_million: price })),
  }
  return startGateway({ config: JSON.stringify(config) })
}

const tool = { description: 'does it', parameters: { type: 'object', properties: {} } }

interface Request {
  path: string
  body: object
}

type Ask = (id: string, model: string, stream: boolean, maxTokens: number) => Request

const asks: Readonly<Record<StyleName, Ask>> = {
  chat: (id, model, stream, max_tokens) => ({
    path: '/v1/chat/completions',
    body: {
      model,
      stream,
      max_tokens,
      messages: [{ role: 'user', content: promptFor(id) }],
      tools: [{ type: 'function', function: { name: 'f', ...tool } }],
    },
  }),
  responses: (id, model, stream, max_output_tokens) => ({
    path: '/v1/responses',
    body: {
      model,
      stream,
      max_output_tokens,
      input: promptFor(id),
      tools: [{ type: 'function', name: 'f', ...tool }],
    },
  }),
  messages: (id, model, stream, max_tokens) => ({
    path: '/v1/messages',
    body: {
      model,
      stream,
      max_tokens,
      messages: [{ role: 'user', content: promptFor(id) }],
      tools: [{ name: 'f', description: 'does it', input_schema: tool.parameters }],
    },
  }),
  generate: (id, model, stream, maxOutputTokens) => ({
    path: `/vendorg/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: {
      contents: [{ role: 'user', parts: [{ text: promptFor(id) }] }],
      generationConfig: { maxOutputTokens },
      tools: [{ functionDeclarations: [{ name: 'f', ...tool }] }],
    },
  }),
}

export interface Asked {
  status: number
  text: string
  requestId: string
}

export async function ask(
  gateway: TestGateway,
  { caller, upstream, id, stream, maxTokens, place }: AskOptions,
): Promise<Asked> {
  const { path, body } = asks[caller](id, modelOver(upstream, place), stream, maxTokens ?? 1_000)
  const response = await gateway.post(path, body)
  const requestId = response.headers.get('x-gateway-request-id') ?? ''
  return { status: response.status, text: await response.text(), requestId }
}

export interface AskOptions {
  caller: StyleName
  upstream: WireName
  id: string
  stream: boolean
  maxTokens?: number
  place?: number
}
