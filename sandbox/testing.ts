// What the sandbox's tests share: asking a sandbox over HTTP and reading what came back.
import type { LoggedCall } from './http/call-log.ts'
import type { Sandbox } from './server.ts'

interface Usage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  prompt_tokens_details: Record<string, unknown>
  completion_tokens_details?: { reasoning_tokens: number }
}

interface Delta {
  role?: string
  content?: string | null
  reasoning_content?: string
  tool_calls?: unknown[]
}

/** A completion or a chunk of a stream; the tests check which fields are there. */
export interface Body {
  id: string
  created: number
  object: string
  choices: {
    index: number
    finish_reason: string | null
    message?: Delta
    delta?: Delta
  }[]
  usage?: Usage | null
  error?: { message: string; type: string; code: string | null; param: string | null }
}

export const chatOf = (content: unknown, more: object = {}) => ({
  model: 'txta-plus',
  messages: [{ role: 'user', content }],
  ...more,
})

export const post = (sandbox: Sandbox, body: unknown, init?: RequestInit): Promise<Response> =>
  postTo(`${sandbox.url}/v1/chat/completions`, body, init)

export function postTo(url: string, body: unknown, init: RequestInit = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-upstream-0123456789' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
  })
}

/** What an event carries, with the name it goes by. */
export interface NamedEvent {
  event: string
  type: string
  [field: string]: unknown
}

/** The events of a stream that names them. */
export function readNamedEvents(text: string): NamedEvent[] {
  const events = text.split('\n\n')
  if (events.pop() !== '') throw new Error('no proper end')
  return events.map((block) => {
    const [, event, data] = /^event: (\S+)\ndata: (.*)$/.exec(block) ?? []
    if (event === undefined || data === undefined) throw new Error(`no named event: ${block}`)
    return { ...(JSON.parse(data) as { type: string }), event }
  })
}

export const typesOf = (events: readonly NamedEvent[]): string[] => events.map(({ type }) => type)

/** Consecutive events of one kind count once. */
export const outline = (types: readonly string[]): string[] =>
  types.filter((type, index) => type !== types[index - 1])

export const longText = (word: string, words: number): string => Array(words).fill(word).join(' ')

/** A function's schema with one required property of every kind. */
export const everyKind = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    days: { type: 'integer' },
    metric: { type: 'boolean' },
    tags: { type: 'array' },
    more: { type: 'object' },
    unit: { enum: ['c', 'f'] },
    left_out: { type: 'string' },
  },
  required: ['city', 'days', 'metric', 'tags', 'more', 'unit'],
}

export const fittingInput = {
  city: 'sandbox',
  days: 1,
  metric: true,
  tags: [],
  more: {},
  unit: 'c',
}

export async function ask(sandbox: Sandbox, content: unknown, more?: object): Promise<Body> {
  return (await (await post(sandbox, chatOf(content, more))).json()) as Body
}

/** The data of every event; the last one must be [DONE] and is left out. */
export async function askStream(
  sandbox: Sandbox,
  content: unknown,
  more: object = {},
): Promise<Body[]> {
  const response = await post(sandbox, chatOf(content, { stream: true, ...more }))
  const events = (await response.text()).split('\n\n')
  if (events.pop() !== '' || events.pop() !== 'data: [DONE]') throw new Error('no proper end')
  return events.map((event) => JSON.parse(event.replace(/^data: /, '')) as Body)
}

export const textOf = (chunks: Body[], index = 0): string =>
  chunks
    .flatMap((chunk) => chunk.choices)
    .map((choice) => (choice.index === index ? (choice.delta?.content ?? '') : ''))
    .join('')

export async function loggedCalls(sandbox: Sandbox): Promise<LoggedCall[]> {
  const response = await fetch(`${sandbox.url}/_sandbox/calls`)
  return ((await response.json()) as { calls: LoggedCall[] }).calls
}

/** Asks the log until the call of that user is as wanted; the test's own time-out is the limit. */
export async function untilLogged(
  sandbox: Sandbox,
  user: string,
  wanted: (call: LoggedCall) => boolean = () => true,
): Promise<LoggedCall> {
  for (;;) {
    const found = (await loggedCalls(sandbox)).find((call) => call.user === user && wanted(call))
    if (found !== undefined) return found
    await Bun.sleep(5)
  }
}
