// An upstream on a raw socket, for tests: sends scripted bytes and records what it receives.
import { createServer, type Server, type Socket } from 'node:net'
import type { TaskUpstream } from '../../contract/provider.ts'
import { createHttpClient } from '../../lib/http/client.ts'
import { HttpError, type HttpErrorKind } from '../../lib/http/error.ts'

export interface TestUpstream {
  upstream: TaskUpstream
  /** Every complete request, as received. */
  requests: string[]
  /** The same, byte for byte. */
  bytes: Buffer[]
  /** How often something of an answer was noticed. */
  touches: () => number
  close(): void
}

export type Answer = string | ((socket: Socket) => void)

/** A whole answer in JSON, or `body` as text. */
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
  const bytes: Buffer[] = []
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
      bytes.push(Buffer.from(pending, 'latin1'))
      requests.push(bytes.at(-1)!.toString())
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
  return { upstream, requests, bytes, touches: () => touched, close }
}

export const begun = 'HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{"output":'
export const page = '<html>502 and a half</html>'

/** Ways to end a connection once the request has arrived. */
export const endings = {
  reset: (socket: Socket) => socket.resetAndDestroy(),
  hangUp: (socket: Socket) => socket.end(),
  breakOff: (socket: Socket) => socket.write(begun, () => socket.destroy()),
} satisfies Record<string, Answer>

/** A client that fails before any answer. */
export const failing = (kind: HttpErrorKind): Pick<TaskUpstream, 'http'> => {
  const call = () => ({ answer: Promise.reject(new HttpError(kind, 'x')), cancel() {} })
  return { http: { post: call, get: call, delete: call } }
}

/** The head and the body of a request. */
export function cut(request: string): { line: string; headers: string[]; body: string } {
  const end = request.indexOf('\r\n\r\n')
  const [line = '', ...headers] = request.slice(0, end).split('\r\n')
  return { line, headers: headers.map((each) => each.toLowerCase()), body: request.slice(end + 4) }
}
