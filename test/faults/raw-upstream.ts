// An upstream made of bytes: what it writes, where it splits, resets, closes or falls silent is
// scripted exactly. It reads requests, remembers them, and knows nothing of gateways or styles.
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { until } from '../support/read.ts'
import type { Identity } from './identities.ts'

export interface Asked {
  /** The request line and the headers, as they came. */
  head: string
  body: string
  model: string
  key: string
  /** 1 for the first request of its connection. */
  turn: number
}

/** The upstream's end of one exchange. */
export interface Wire {
  asked: Asked
  /** Resolves when the bytes are out of our hands, or nobody takes them any more. */
  send(bytes: string | Uint8Array): Promise<void>
  /** Closes with a reset: what the other side has not read is lost to it. */
  reset(): void
  /** Closes in order. */
  end(): void
  readonly gone: boolean
}

export type Script = (wire: Wire) => Promise<void> | void

export interface RawUpstream {
  port: number
  asked: Asked[]
  /** What to do when a request for this model arrives. */
  on(model: string, script: Script): void
  openSockets(): number
  stop(): Promise<void>
}

const maxWaitMs = 10_000

/** Until the other side has had time to read what was written. */
export const settle = (ms = 25): Promise<void> => Bun.sleep(ms)

/** `retort`: said to the first bytes of any connection, whatever they are. */
export async function startRawUpstream(identity?: Identity, retort?: string): Promise<RawUpstream> {
  const scripts = new Map<string, Script>()
  const asked: Asked[] = []
  const sockets = new Set<Socket>()
  const accept = (socket: Socket) => {
    sockets.add(socket)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    void closed.then(() => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    if (retort !== undefined) socket.once('data', () => socket.end(retort))
    readRequests(socket, (each) => {
      asked.push(each)
      const script = scripts.get(each.model)
      if (script === undefined) socket.destroy()
      else void run(script, wireOf(socket, each, closed))
    })
  }
  const server: Server =
    identity === undefined
      ? createServer({ noDelay: true, allowHalfOpen: false }, accept)
      : createTlsServer({ key: identity.key, cert: identity.cert }, accept)
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    asked,
    on: (model, script) => void scripts.set(model, script),
    openSockets: () => sockets.size,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

async function run(script: Script, wire: Wire): Promise<void> {
  try {
    await script(wire)
  } catch (error) {
    process.stderr.write(`the script for ${wire.asked.model} failed: ${error}\n`)
    wire.reset()
  }
}

function readRequests(socket: Socket, found: (asked: Asked) => void): void {
  let received = Buffer.alloc(0)
  let turn = 0
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes])
    const end = received.indexOf('\r\n\r\n')
    if (end === -1) return
    const head = received.toString('latin1', 0, end)
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
    if (received.length < end + 4 + length) return
    const body = received.toString('utf8', end + 4, end + 4 + length)
    received = received.subarray(end + 4 + length)
    const { model = modelIn(head) } = JSON.parse(body) as { model?: string }
    const key = /\r\n(?:authorization: Bearer|x-goog-api-key:) (\S+)/i.exec(head)?.[1] ?? ''
    found({ head, body, model, key, turn: ++turn })
  })
}

/** Where the path names it. */
const modelIn = (head: string): string => /^POST \S*\/models\/([^:\s]+):/.exec(head)?.[1] ?? ''

function wireOf(socket: Socket, asked: Asked, closed: Promise<unknown>): Wire {
  return {
    asked,
    get gone() {
      return socket.destroyed
    },
    async send(bytes) {
      if (socket.destroyed || socket.write(bytes)) return
      await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed])
    },
    reset: () => void socket.resetAndDestroy(),
    end: () => void socket.end(),
  }
}

/** Writes nothing more and waits for the other side to give up. */
export const waitForGone = (wire: Wire): Promise<true> =>
  until('the gateway to hang up', () => wire.gone || undefined, maxWaitMs)

/** One byte at a time, for longer than anybody should wait. */
export async function drip(wire: Wire, text: string, everyMs = 200): Promise<void> {
  const untilMs = performance.now() + maxWaitMs
  for (let i = 0; !wire.gone && performance.now() < untilMs; i = (i + 1) % text.length) {
    await wire.send(text[i]!)
    await Bun.sleep(everyMs)
  }
}
