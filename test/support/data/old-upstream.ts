// An upstream that outlives gateways of any version: texts at once, and videos whose ids say how they
// go. Those that are slow go on until they are let end. Streams of text break off.

export interface OldUpstream {
  url: string
  /** Slow videos are done from now on. */
  finish(): void
  /** Ids of the videos that were ordered. */
  ordered: string[]
  stop(): Promise<void>
}

const usage = { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 }

const words: Readonly<Record<string, string>> = { quick: 'SUCCEEDED', bad: 'FAILED' }

/** Two words, and no end. */
function brokenStream(): Response {
  const event = (content: string) =>
    `data: ${JSON.stringify({ id: 'chatcmpl-2', choices: [{ index: 0, delta: { content } }] })}\n\n`
  const headers = { 'content-type': 'text/event-stream' }
  return new Response(event('once ') + event('upon '), { headers })
}

export function startOldUpstream(): OldUpstream {
  const ordered: string[] = []
  let isFinished = false
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname.endsWith('/chat/completions')) {
        if (((await request.json()) as { stream?: boolean }).stream) return brokenStream()
        const message = { role: 'assistant', content: 'hello' }
        const choices = [{ index: 0, message, finish_reason: 'stop' }]
        return Response.json({ id: 'chatcmpl-1', object: 'chat.completion', choices, usage })
      }
      if (request.method === 'POST' && pathname.endsWith('/video-synthesis')) {
        const { input } = (await request.json()) as { input: { prompt: string } }
        const id = `${input.prompt.split(' ', 1)[0]}-${crypto.randomUUID()}`
        ordered.push(id)
        return Response.json({ output: { task_id: id, task_status: 'PENDING' }, request_id: 'r' })
      }
      const id = pathname.slice(pathname.lastIndexOf('/') + 1)
      const kind = id.split('-', 1)[0]!
      const task_status = words[kind] ?? (isFinished ? 'SUCCEEDED' : 'RUNNING')
      const output = { task_id: id, task_status, video_url: `${url}/film.mp4`, message: 'no' }
      return Response.json({ output, request_id: 'r', usage: { duration: 5, SR: 720 } })
    },
  })
  const url: string = `http://127.0.0.1:${server.port}`
  return {
    url,
    ordered,
    finish: () => {
      isFinished = true
    },
    stop: () => server.stop(true),
  }
}
