// The fake upstream, its own process: answers every POST from bytes made beforehand. It shares the
// machine with what is measured, so it speaks just enough HTTP/1.1 over raw sockets.
// Refuses to know who asks. Argument: content chunks per network write. Prints its port.

import type { Socket } from 'bun'
import { jsonAnswer, streamEvents } from './payload.ts'

interface Answers {
  json: Buffer
  stream: Buffer[]
}

interface Connection {
  input: string
  unsent: Buffer[]
  /** The stream being sent and how much of it is out. */
  stream: Buffer[] | undefined
  sent: number
}

const answersByModel = new Map<string, Answers>()
let streaming: Socket<Connection>[] = []

export function frameChunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}

/** One buffer per network write; the response head travels with the first chunk. */
export function streamWrites(modelName: string, chunksPerWrite: number): Buffer[] {
  const events = streamEvents(modelName)
  const last = events.pop()!
  const head =
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request-id: up-bench\r\n' +
    'transfer-encoding: chunked\r\n\r\n'
  const writes: Buffer[] = []
  for (let i = 0; i < events.length; i += chunksPerWrite) {
    const text = events
      .slice(i, i + chunksPerWrite)
      .map(frameChunk)
      .join('')
    writes.push(Buffer.from(i === 0 ? head + text : text))
  }
  writes.push(Buffer.from(`${frameChunk(last)}0\r\n\r\n`))
  return writes
}

/** Length of the first whole request in `input`, or undefined while some of it is missing. */
export function requestLength(input: string): number | undefined {
  const headEnd = input.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const head = input.slice(0, headEnd)
  const length = /content-length: *(\d+)/i.exec(head)
  if (length !== null) {
    const end = headEnd + 4 + Number(length[1])
    return input.length < end ? undefined : end
  }
  if (!/transfer-encoding: *chunked/i.test(head)) return headEnd + 4
  const last = input.indexOf('\r\n0\r\n\r\n', headEnd)
  return last === -1 ? undefined : last + 7
}

function answersFor(request: string, chunksPerWrite: number): Answers {
  const name = /"model": ?"([^"]*)"/.exec(request)?.[1] ?? ''
  const known = answersByModel.get(name)
  if (known !== undefined) return known
  const body = jsonAnswer(name)
  const head =
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: up-bench\r\n' +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n`
  const made = { json: Buffer.from(head + body), stream: streamWrites(name, chunksPerWrite) }
  answersByModel.set(name, made)
  return made
}

function send(socket: Socket<Connection>, bytes: Buffer): void {
  const { unsent } = socket.data
  if (unsent.length > 0) {
    unsent.push(bytes)
    return
  }
  const written = socket.write(bytes)
  if (written < bytes.length) unsent.push(bytes.subarray(Math.max(0, written)))
}

function sendUnsent(socket: Socket<Connection>): void {
  const waiting = socket.data.unsent
  socket.data.unsent = []
  for (const bytes of waiting) send(socket, bytes)
}

/** One write of every running stream per turn of the event loop, so that streams interleave. */
function stepStreams(): void {
  const running = streaming
  streaming = []
  for (const socket of running) {
    const connection = socket.data
    if (connection.stream === undefined) continue
    send(socket, connection.stream[connection.sent++]!)
    if (connection.sent < connection.stream.length) streaming.push(socket)
    else connection.stream = undefined
  }
  if (streaming.length > 0) setImmediate(stepStreams)
}

function receive(socket: Socket<Connection>, bytes: Buffer, chunksPerWrite: number): void {
  const connection = socket.data
  connection.input += bytes.toString('latin1', 0, bytes.length)
  const length = requestLength(connection.input)
  if (length === undefined) return
  const request = connection.input.slice(0, length)
  connection.input = connection.input.slice(length)
  const answers = answersFor(request, chunksPerWrite)
  if (!/"stream": ?true/.test(request)) {
    send(socket, answers.json)
    return
  }
  connection.stream = answers.stream
  connection.sent = 0
  streaming.push(socket)
  if (streaming.length === 1) setImmediate(stepStreams)
}

function serve(chunksPerWrite: number): number {
  const listener = Bun.listen<Connection>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.data = { input: '', unsent: [], stream: undefined, sent: 0 }
        socket.setNoDelay(true)
      },
      data: (socket, bytes) => receive(socket, bytes, chunksPerWrite),
      drain: sendUnsent,
      close(socket) {
        socket.data.stream = undefined
      },
      error(socket) {
        socket.data.stream = undefined
      },
    },
  })
  return listener.port
}

if (import.meta.main) {
  process.stdin.on('end', () => process.exit(0)).resume()
  console.log(serve(Number(process.argv[2] ?? '1')))
}
