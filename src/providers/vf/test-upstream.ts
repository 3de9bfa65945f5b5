// An upstream of bytes on a real socket, for tests: it sends what it is told and keeps what it hears.
import { createServer, type Server, type Socket } from 'node:net'
import type { TaskUpstream } from '../../contract/provider.ts'
import { createHttpClient } from '../../lib/http-client.ts'

export interface TestUpstream {
  upstream: TaskUpstream
  /** Every complete request, as it came. */
  requests: string[]
  /** How often something of an answer was noticed. */
  touches: () => number
  close(): void
}

type Answer = string | ((socket: Socket) => void)

/** A whole answer in JSON, or in whatever `body` is as text. */
export function reply(status: number, body: unknown, headers: Record<string, string> = {}): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const length = Buffer.byteLength(text)
  return `HTTP/1.1 ${status} X\r\n${lines.join('')}Content-Length: ${length}\r\n\r\n${text}`
}

export async function openUpstream(
  answer: Answer,
  more: Partial<TaskUpstream> = {},
): Promise<TestUpstream> {
  const requests: string[] = []
  const sockets: Socket[] = []
  const server: Server = createServer((socket) => {
    sockets.push(socket)
    let pending = ''
    socket.on('error', () => {})
    socket.on('data', (data: Buffer) => {
      pending += data.toString('latin1')
      const end = pending.indexOf('\r\n\r\n')
      const bodyBytes = Number(/content-length: (\d+)/i.exec(pending)?.[1] ?? 0)
      if (end < 0 || pending.length < end + 4 + bodyBytes) return
      requests.push(Buffer.from(pending, 'latin1').toString())
      pending = ''
      if (typeof answer === 'string') socket.write(answer)
      else answer(socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const http = createHttpClient()
  let touched = 0
  const upstream: TaskUpstream = {
    baseUrl: `http://127.0.0.1:${port}/base`,
    key: 'k-secret',
    model: 'up-model',
    plainModel: 'vfa-2.7-t2v',
    timeouts: { connectMs: 5000, firstByteMs: 5000, idleMs: 5000, totalMs: 5000 },
    messages: { headers: 'both', auth: 'both' },
    http,
    progress: { touch: () => touched++ },
    marker: 'video_marker',
    fetchMedia: async () => ({ problem: 'nothing is fetched here' }),
    ...more,
  }
  const close = () => {
    http.close()
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { upstream, requests, touches: () => touched, close }
}
