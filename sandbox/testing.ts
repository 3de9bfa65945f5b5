// What the sandbox's tests share: asking a sandbox over HTTP and reading what came back.
import type { LoggedCall } from './call-log.ts'
import type { Sandbox } from './server.ts'

export interface Usage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  prompt_tokens_details: Record<string, unknown>
}

interface Delta {
  role?: string
  content?: string | null
  tool_calls?: unknown[]
}

/** A completion or a chunk of a stream; which fields are there is what the tests look at. */
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

export function post(sandbox: Sandbox, body: unknown, init: RequestInit = {}): Promise<Response> {
  return fetch(`${sandbox.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-upstream-0123456789' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
  })
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
