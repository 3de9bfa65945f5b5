// Upstreams that tests write themselves, for what the sandbox cannot be told to do.

export interface Captured {
  /** As it came over the wire. */
  body: string
  headers: Headers
  path: string
}

export interface TestUpstream {
  url: string
  /** Base address of the chat protocol. */
  chat: string
  calls: Captured[]
  stop(): Promise<void>
}

type Reply = (call: Captured) => Response | Promise<Response>

export function startUpstream(reply: Reply): TestUpstream {
  const calls: Captured[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    development: false,
    async fetch(request) {
      const path = new URL(request.url).pathname
      const call = { body: await request.text(), headers: request.headers, path }
      calls.push(call)
      return reply(call)
    },
  })
  const url = `http://127.0.0.1:${server.port}`
  return { url, chat: `${url}/v1`, calls, stop: () => server.stop(true) }
}

export interface WireUsage {
  prompt_tokens?: unknown
  completion_tokens?: unknown
  prompt_tokens_details?: unknown
}

/** A chat completion as an upstream gives it. */
export const completion = (usage?: WireUsage | null, model = 'upstream-name') => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_760_000_000,
  model,
  choices: [
    { index: 0, message: { role: 'assistant', content: 'Hello there.' }, finish_reason: 'stop' },
  ],
  ...(usage !== undefined && { usage }),
})

export const jsonReply = (body: unknown, init: ResponseInit = {}): Response =>
  new Response(typeof body === 'string' ? body : JSON.stringify(body), {
    ...init,
    headers: { 'content-type': 'application/json', ...(init.headers as Record<string, string>) },
  })

/** One stream chunk's JSON. */
const chunk = (fields: object, model = 'upstream-name'): string =>
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model,
    ...fields,
  })

export const textChunk = (content: string, model?: string): string =>
  chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }, model)

export const finishChunk = (model?: string): string =>
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }, model)

export const usageChunk = (usage: unknown, model?: string): string =>
  chunk({ choices: [], usage }, model)

export const asEvents = (data: readonly string[], newline = '\n'): string =>
  data.map((each) => `data: ${each}${newline}${newline}`).join('')

/** A stream that writes the parts one after the other, each in a packet of its own if it can be. */
export function streamReply(
  parts: Iterable<string | Uint8Array>,
  options: { pauseMs?: number; headers?: Record<string, string>; atEnd?: () => unknown } = {},
): Response {
  const iterator = parts[Symbol.iterator]()
  let begun = false
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (begun && options.pauseMs !== undefined) await Bun.sleep(options.pauseMs)
        begun = true
        const { value } = iterator.next()
        if (value === undefined) {
          await options.atEnd?.()
          return controller.close()
        }
        controller.enqueue(typeof value === 'string' ? new TextEncoder().encode(value) : value)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', ...options.headers },
  })
}

export interface ScriptedUpstream extends TestUpstream {
  /** What to answer to calls whose `user` field is this. */
  on(user: string, reply: Reply): void
  /** The last call of that user. */
  seen(user: string): Captured
}

/** One upstream for many cases, told apart by the request's `user` field. */
export function startScripted(): ScriptedUpstream {
  const replies = new Map<string, Reply>()
  const userOf = (body: string) => String((JSON.parse(body) as { user?: unknown }).user)
  const upstream = startUpstream((call) => {
    const reply = replies.get(userOf(call.body))
    return reply === undefined ? new Response('no such case', { status: 500 }) : reply(call)
  })
  return {
    ...upstream,
    on: (user, reply) => {
      replies.set(user, reply)
    },
    seen(user) {
      const call = upstream.calls.findLast(({ body }) => userOf(body) === user)
      if (call === undefined) throw new Error(`no call of ${user} arrived`)
      return call
    },
  }
}
