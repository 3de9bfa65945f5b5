// An upstream of tasks made of sockets: every case has a path of its own, and what it answers to
// each question, where it breaks off and what it was asked is scripted and counted exactly.
import { createServer, type Socket } from 'node:net'
import { privateHeaders } from '../fault.ts'
import { settle } from '../raw-upstream.ts'
import type { TaskWire, Turn } from './wire.ts'

export interface AskedTask {
  method: string
  /** Below the base of the case. */
  path: string
  /** The request line and the headers, as they came. */
  head: string
  body: string
  turn: Turn | 'media'
}

export interface Reply {
  status?: number
  /** An object goes as JSON. */
  body?: object | string | Uint8Array
  headers?: Readonly<Record<string, string>>
  /** Bytes of the body after which the connection is reset. */
  cutAt?: number
  /** Reset instead of an answer. */
  reset?: true
  /** Nothing at all, until the other side hangs up. */
  hang?: true
}

/** `n` counts from 1. */
type Say = (n: number, asked: AskedTask) => Reply | Promise<Reply>

export interface TaskScript {
  create: Say
  check: Say
  cancel: Say
  list: Say
  media: Say
}

export interface TaskUpstreamServer {
  port: number
  /** From now on requests below `/name` are answered so. */
  play(name: string, wire: TaskWire, script: TaskScript): void
  /** The same case goes on with other answers. */
  change(name: string, script: Partial<TaskScript>): void
  asked(name: string, turn?: AskedTask['turn']): AskedTask[]
  openSockets(): number
  stop(): Promise<void>
}

interface Played {
  wire: TaskWire
  script: TaskScript
  asked: AskedTask[]
}

export async function startTaskUpstream(): Promise<TaskUpstreamServer> {
  const cases = new Map<string, Played>()
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    readRequests(socket, (head, body) => {
      answer(cases, socket, head, body).catch((error) => {
        process.stderr.write(`a script of the upstream failed: ${error}\n`)
        socket.destroy()
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    port,
    play: (name, wire, script) => void cases.set(name, { wire, script, asked: [] }),
    change(name, script) {
      const played = cases.get(name)!
      played.script = { ...played.script, ...script }
    },
    asked: (name, turn) =>
      (cases.get(name)?.asked ?? []).filter((each) => turn === undefined || each.turn === turn),
    openSockets: () => sockets.size,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

async function answer(
  cases: ReadonlyMap<string, Played>,
  socket: Socket,
  head: string,
  body: string,
): Promise<void> {
  const [method = '', target = ''] = head.split(' ')
  const [, name = '', rest = ''] = /^\/([^/]+)([^?]*)/.exec(target) ?? []
  const played = cases.get(name)
  if (played === undefined) return send(socket, { status: 404, body: {} })
  const turn = rest.startsWith('/media') ? 'media' : played.wire.turnOf(method, rest)
  const asked: AskedTask = { method, path: rest, head, body, turn }
  played.asked.push(asked)
  if (turn === 'other') return send(socket, { status: 404, body: played.wire.error('none') })
  const n = played.asked.filter((each) => each.turn === turn).length
  return send(socket, await played.script[turn](n, asked))
}

async function send(socket: Socket, reply: Reply): Promise<void> {
  const { status = 200, body = '', headers = {}, cutAt, reset, hang } = reply
  if (hang) return
  if (reset) return void socket.resetAndDestroy()
  const isText = typeof body === 'string' || body instanceof Uint8Array
  const bytes = Buffer.from(isText ? (body as Uint8Array) : JSON.stringify(body))
  const lines = Object.entries({
    'content-type': isText ? 'text/plain' : 'application/json',
    'content-length': String(bytes.length),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} Said\r\n${privateHeaders}${lines.join('')}\r\n`)
  if (cutAt === undefined) return void socket.write(bytes)
  await new Promise<void>((resolve) => socket.write(bytes.subarray(0, cutAt), () => resolve()))
  // What has not been read when the reset comes is lost to the reader.
  await settle()
  socket.resetAndDestroy()
}

function readRequests(socket: Socket, found: (head: string, body: string) => void): void {
  let received = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes])
    const end = received.indexOf('\r\n\r\n')
    if (end === -1) return
    const head = received.toString('latin1', 0, end)
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
    if (received.length < end + 4 + length) return
    const body = received.toString('utf8', end + 4, end + 4 + length)
    received = received.subarray(end + 4 + length)
    found(head, body)
  })
}

/** A film, whole or the part that was asked for. */
export function filmReply(film: Buffer, { head }: AskedTask): Reply {
  const [, from, to] = /\r\nrange: bytes=(\d+)-(\d*)/i.exec(head) ?? []
  const headers = { 'content-type': 'video/mp4' }
  if (from === undefined) return { body: film, headers }
  const last = to === '' || to === undefined ? film.length - 1 : Number(to)
  const range = `bytes ${from}-${last}/${film.length}`
  const part = film.subarray(Number(from), last + 1)
  return { status: 206, body: part, headers: { ...headers, 'content-range': range } }
}
