// Failures of upstreams of every style, told to callers of every style in the shape and the words that
// their tools act on: as HTTP errors, and inside streams that have begun. Nothing of it is charged.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { responsesProblem } from '../../src/styles/responses/test-grammar.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { accountOf, dataLines, type ErrorFields } from '../support/read.ts'
import { startUpstream, type TestUpstream } from '../support/upstream.ts'
import {
  type Failure,
  failingReply,
  failures,
  type Mode,
  type Style,
  styles,
} from './upstream-errors.ts'

let upstream: TestUpstream
let gateway: TestGateway

const modes: readonly Mode[] = ['status', 'first', 'midway']
/** Each has a channel of its own, because some failures close a channel for a while. */
const cases = styles.flatMap((style) =>
  styles.flatMap((over) =>
    failures.flatMap((failure) => modes.map((mode) => ({ style, over, failure, mode }))),
  ),
)
type Case = Omit<(typeof cases)[number], never>
const nameOf = ({ style, over, failure, mode }: Case): string =>
  `${style}.${over}.${failure}.${mode}`
const isCodex = (name: string): boolean => name.startsWith('codex.')
const names = [
  ...cases.map(nameOf),
  ...styles.flatMap((over) => failures.map((failure) => `codex.${over}.${failure}.status`)),
]

beforeAll(async () => {
  upstream = startUpstream(({ body }) => {
    const [, over, failure, mode] = /case:\w+\.(\w+)\.(\w+)\.(\w+)/.exec(body)!
    return failingReply(over as Style, failure as Failure, mode as Mode)
  })
  const base = (over: string) =>
    over === 'chat' || over === 'responses' ? `${upstream.url}/v1` : upstream.url
  const perMillion = { input: '1.00', output: '2.00' }
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: [{ name: 'acme', balance: '100.00' }],
      tokens: [{ account: 'acme', name: 'test', token: apiToken }],
      channels: names.map((name) => {
        const over = name.split('.')[1]!
        return {
          name,
          keys: ['upk-errors-0123456789abcdef'],
          protocols: { [over]: base(over) },
          models: { [name]: 'up' },
        }
      }),
      models: names.map((name) => ({ name, kind: 'text', interfaces: [name.split('.')[1]] })),
      prices: names.map((model) => ({ model, unit: 'token', per_million: perMillion })),
    }),
  })
})

afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

function ask(name: string, stream: boolean): Promise<Response> {
  const [style] = name.split('.')
  const text = `case:${name}`
  const turns = [{ role: 'user', content: text }]
  const streamed = stream ? { stream } : {}
  switch (style) {
    case 'chat':
      return gateway.post('/v1/chat/completions', { model: name, messages: turns, ...streamed })
    case 'messages':
      return gateway.post('/v1/messages', {
        model: name,
        max_tokens: 500,
        messages: turns,
        ...streamed,
      })
    case 'generate':
      return gateway.post(
        `/vendorg/v1beta/models/${name}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
        { contents: [{ role: 'user', parts: [{ text }] }] },
      )
    default:
      return gateway.post(
        '/v1/responses',
        { model: name, input: text, ...streamed },
        isCodex(name) ? { originator: 'codex_cli_rs' } : {},
      )
  }
}

const told: Record<Failure, [status: number, code: string]> = {
  context: [400, 'context_length_exceeded'],
  both: [400, 'context_length_exceeded'],
  limit: [400, 'upstream_invalid_request'],
  rate: [429, 'upstream_rate_limited'],
  quota: [502, 'upstream_permission_denied'],
  overloaded: [503, 'overloaded'],
  key: [502, 'upstream_permission_denied'],
  content: [400, 'content_policy_violation'],
  model: [502, 'upstream_permission_denied'],
  image: [400, 'upstream_invalid_request'],
}

/** The words that tools of the caller's style look for. */
const words: Record<Style, Partial<Record<Failure, RegExp>>> = {
  chat: {
    context: /maximum context length is 8192 tokens|context window/,
    both: /maximum context length is 8192 tokens.*8500 tokens \(8000 in the messages/,
    limit: /max_tokens is too large: 500\. This model supports at most 256/,
    image: /image/i,
  },
  responses: {
    context: /context window|maximum context length/,
    both: /context window|maximum context length/,
    limit: /at most 256/,
    rate: /try again in [67](\.2)?s/,
    image: /does not represent a valid image/,
  },
  messages: {
    context: /^prompt is too long(: 9000 tokens > 8192 maximum)?/,
    both: /^input length and `max_tokens` exceed context limit: 8000 \+ 500 > 8192/,
    limit: /^max_tokens: 500 > 256, which is the maximum allowed/,
    image: /Could not process image/,
  },
  generate: {
    context: /input token count( \(9000\))? exceeds the maximum number of tokens allowed/,
    both: /input token count \(8000\) and maxOutputTokens \(500\)/,
    limit: /to 257 \(exclusive\)/,
    image: /Unable to process input image/,
  },
}

type Told = ErrorFields & { status?: string; details?: { retryDelay: string }[] }

function checkError({ style, over, failure, mode }: Case, error: Told, id: string | null): void {
  expect(error.code).toBe(told[failure][1])
  expect(error.message).toEndWith(`(${id})`)
  const wanted = words[style][failure]
  // This style says how long to wait in a header only.
  const isSilent = failure === 'rate' && over === 'messages' && mode !== 'status'
  if (wanted !== undefined && !isSilent) expect(error.message).toMatch(wanted)
  if (style === 'messages' && failure === 'overloaded') expect(error.type).toBe('overloaded_error')
  if (failure === 'rate') expect(error.type).toBe('rate_limit_error')
  if (style === 'generate') expect(error.status).toBe(statusWords[failure] ?? 'INTERNAL')
}

const statusWords: Partial<Record<Failure, string>> = {
  context: 'INVALID_ARGUMENT',
  both: 'INVALID_ARGUMENT',
  limit: 'INVALID_ARGUMENT',
  content: 'INVALID_ARGUMENT',
  image: 'INVALID_ARGUMENT',
  rate: 'RESOURCE_EXHAUSTED',
  overloaded: 'UNAVAILABLE',
}

async function checkHttp(each: Case, response: Response): Promise<void> {
  const { style, failure, mode } = each
  const body = (await response.json()) as { type?: string; error: Told }
  const isOverload = style === 'messages' && failure === 'overloaded'
  const status = isOverload ? 529 : told[failure][0]
  expect([nameOf(each), response.status]).toEqual([nameOf(each), status])
  expect(body.type).toBe(style === 'messages' ? 'error' : undefined)
  checkError(each, body.error, response.headers.get('x-request-id'))
  const isFinal = status === 400 || body.error.code === 'upstream_permission_denied'
  expect(response.headers.get('x-should-retry')).toBe(isFinal ? 'false' : null)
  if (failure !== 'rate' || mode !== 'status') return
  expect(response.headers.get('retry-after')).toBe('7')
  if (style === 'generate') expect(body.error.details?.[0]?.retryDelay).toBe('7s')
}

const pairs = styles.flatMap((style) => styles.map((over) => [style, over] as const))

describe.each(pairs)('%s over %s', (style, over) => {
  const run = (mode: Mode, check: (each: Case) => Promise<void>, among = failures) =>
    Promise.all(among.map((failure) => check({ style, over, failure, mode })))

  test('tells a refusal as an error of its style', async () => {
    await run('status', async (each) => checkHttp(each, await ask(nameOf(each), false)))
  })

  const inStream = failures.filter((each) => each !== 'key' && each !== 'model')

  test('tells a failure after some text in its stream', async () => {
    await run(
      'midway',
      async (each) => {
        const response = await ask(nameOf(each), true)
        const text = await response.text()
        expect([nameOf(each), response.status]).toEqual([nameOf(each), 200])
        expect(text).not.toContain('[DONE]')
        checkLast(each, text, response.headers.get('x-request-id'))
      },
      inStream as never,
    )
  })

  if (style === over) return

  test('tells a failure before the first text of a stream as an error', async () => {
    await run(
      'first',
      async (each) => checkHttp(each, await ask(nameOf(each), true)),
      inStream as never,
    )
  })
})

function checkLast(each: Case, text: string, id: string | null): void {
  const { style, over, failure } = each
  const last = JSON.parse(dataLines(text).at(-1)!) as Record<string, unknown> & { error: Told }
  checkError(each, last.error, id)
  if (style === 'messages') {
    expect(text).toContain('\n\nevent: error\ndata: ')
    expect(last['type']).toBe('error')
  }
  if (style !== 'responses') return
  if (over === 'responses') {
    expect(last['type']).toBe('error')
    return
  }
  expect(responsesProblem(text)).toBeUndefined()
  expect(last).toMatchObject({
    type: 'response.failed',
    response: { status: 'failed', error: { code: failedCodes[failure] ?? 'server_error' } },
  })
}

const failedCodes: Partial<Record<Failure, string>> = {
  context: 'context_length_exceeded',
  both: 'context_length_exceeded',
  rate: 'rate_limit_exceeded',
  content: 'invalid_prompt',
  limit: 'invalid_prompt',
  image: 'invalid_prompt',
}

describe.each(styles)('a coding tool of the responses style over %s', (over) => {
  test.each([
    ['context', 'context_length_exceeded', /context window|maximum context length/],
    ['rate', 'rate_limit_exceeded', /try again in [67](\.2)?s/],
    ['content', 'invalid_prompt', /./],
  ] as const)('gets the failure %s as a failed response', async (failure, code, wanted) => {
    const response = await ask(`codex.${over}.${failure}.status`, true)
    const text = await response.text()
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ])
    expect(responsesProblem(text)).toBeUndefined()
    const last = JSON.parse(dataLines(text).at(-1)!)
    expect(last).toMatchObject({ type: 'response.failed', response: { error: { code } } })
    expect(last.response.error.message).toMatch(wanted)
  })

  test('gets other failures, and those of a call without a stream, as HTTP errors', async () => {
    expect((await ask(`codex.${over}.key.status`, true)).status).toBe(502)
    expect((await ask(`codex.${over}.image.status`, false)).status).toBe(400)
  })
})

test('no failure was charged', async () => {
  expect(await accountOf(gateway)).toMatchObject({ balance: '100.00', held: '0.00' })
})
