// A bare proxy on the gateway's runtime, its own process: Bun.serve in front of the gateway's HTTP client,
// and nothing else. Shows which part of the gateway's cost is the runtime's. Argument: the upstream's
// address. Prints its port.

import { createHttpClient, type HttpAnswer } from '../../src/lib/http/client.ts'

const [upstream = ''] = process.argv.slice(2)
const http = createHttpClient()
const limits = { connectMs: 5000 }
const maxBytes = 64 * 1024 * 1024

async function forward(request: Request): Promise<Response> {
  const { url, headers } = request
  const path = url.slice(url.indexOf('/', 'http://'.length))
  const sent = {
    'content-type': headers.get('content-type') ?? '',
    authorization: headers.get('authorization') ?? '',
  }
  const answer = await http.post(upstream + path, sent, await request.text(), limits).answer
  const type = answer.header('content-type') ?? ''
  const init = { status: answer.status, headers: { 'content-type': type } }
  if (!type.startsWith('text/event-stream')) return new Response(await answer.text(maxBytes), init)
  return new Response(streamOf(answer), init)
}

/** Bytes are written as they come, on a direct stream: the cheapest that the runtime has. */
function streamOf(answer: HttpAnswer): ReadableStream {
  return new ReadableStream({
    type: 'direct',
    async pull(sink: ReadableStreamDirectController) {
      for (let bytes = await answer.read(); bytes !== undefined; bytes = await answer.read()) {
        sink.write(bytes)
        await sink.flush()
      }
      sink.close()
    },
    cancel: () => answer.cancel(),
  } as Bun.DirectUnderlyingSource)
}

if (import.meta.main) {
  process.stdin.on('end', () => process.exit(0)).resume()
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 60, fetch: forward })
  console.log(server.port)
}
