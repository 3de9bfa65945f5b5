// Stands before the sandbox and keeps what it was asked and what it answered, by the mark of the call.
export interface Exchange {
  body: string
  status: number
  answer: string
}

export interface Recorder {
  url: string
  /** The same at another address. */
  otherUrl: string
  /** Of the call with the mark, which is the first word of the user. */
  exchange(mark: string, stream: boolean): Exchange | undefined
  /** Answers that call itself. */
  answerWith(mark: string, stream: boolean, answer: string): void
  stop(): Promise<void>
}

const markIn = /#[\w.]+/

export function startRecorder(upstream: string): Recorder {
  const exchanges = new Map<string, Exchange>()
  const answers = new Map<string, string>()
  const answerTo = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url)
    const body = await request.text()
    const { method, headers } = request
    const isStream = pathname.includes(':stream') || /"stream":\s*true/.test(body)
    const key = keyOf(markIn.exec(body)?.[0] ?? '', isStream)
    const own = answers.get(key)
    const response =
      own === undefined
        ? await fetch(`${upstream}${pathname}${search}`, { method, headers, body })
        : new Response(own, { headers: { 'content-type': typeOf(isStream) } })
    const answer = await response.text()
    exchanges.set(key, { body, status: response.status, answer })
    const type = response.headers.get('content-type') ?? ''
    return new Response(answer, { status: response.status, headers: { 'content-type': type } })
  }
  const servers = [listen(answerTo), listen(answerTo)] as const
  return {
    url: `http://127.0.0.1:${servers[0].port}`,
    otherUrl: `http://127.0.0.1:${servers[1].port}`,
    exchange: (mark, stream) => exchanges.get(keyOf(mark, stream)),
    answerWith(mark, stream, answer) {
      answers.set(keyOf(mark, stream), answer)
    },
    async stop() {
      await Promise.all(servers.map((server) => server.stop(true)))
    },
  }
}

const listen = (answerTo: (request: Request) => Promise<Response>) =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    development: false,
    fetch: answerTo,
  })

const typeOf = (isStream: boolean): string => (isStream ? 'text/event-stream' : 'application/json')

const keyOf = (mark: string, stream: boolean): string => `${mark} ${stream}`
