// Callers that ask for large answers and never read them: neither the answer nor the connection may
// stay for as long as they like.
import { expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { loadConfig } from '../../src/config/index.ts'
import { answerJson, newRequestContext } from '../../src/http/request-context.ts'
import { listen } from '../../src/start/listen.ts'
import { tempDir } from '../support/gateway.ts'
import { until } from '../support/read.ts'

const idleSeconds = 1
const config = loadConfig({ GATEWAY_PORT: '0' }, tempDir())
const large = 'x'.repeat(16 * 1024 * 1024)

/** A gateway's own listener; every call takes as long as it takes, and then is answered as a whole. */
const open = (body: string) =>
  listen(
    { ...config, limits: { ...config.limits, idleConnectionSeconds: idleSeconds } },
    false,
    () => async (request, connection) => {
      connection.keepOpen()
      await Bun.sleep(1)
      return answerJson(newRequestContext(request, connection), body)
    },
  )

function ask(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write('POST /v1/embeddings HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n')
  return socket
}

test('an answer that nobody reads is given up', async () => {
  const server = open(large)
  const readers = Array.from({ length: 10 }, () => ask(server.port!).pause())
  try {
    const pending = (count: number) => () => (server.pendingRequests === count ? true : undefined)
    await until('all answers to wait', pending(readers.length))
    await until('all answers to be given up', pending(0))
  } finally {
    for (const socket of readers) socket.destroy()
    await server.stop(true)
  }
})

test('an answer that is read slowly arrives whole', async () => {
  const server = open(large)
  const socket = ask(server.port!)
  try {
    let got = 0
    for await (const bytes of socket) {
      got += (bytes as Buffer).length
      await Bun.sleep(5)
      if (got > large.length) break
    }
    expect(got).toBeGreaterThan(large.length)
  } finally {
    socket.destroy()
    await server.stop(true)
  }
})

test('a connection that is idle after a long call is closed', async () => {
  const server = open('{}')
  const socket = ask(server.port!)
  try {
    const closed = new Promise<string>((resolve) => socket.once('close', () => resolve('closed')))
    socket.resume()
    expect(await closed).toBe('closed')
  } finally {
    socket.destroy()
    await server.stop(true)
  }
})

test('a download that nobody reads is cut, and what it reads from is let go', async () => {
  const letGo = Promise.withResolvers<string>()
  const part = new Uint8Array(1024 * 1024)
  const body = () =>
    new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(part),
      cancel: () => letGo.resolve('let go'),
    })
  const server = listen(config, false, () => async (_, connection) => {
    connection.keepOpen(idleSeconds)
    return new Response(body())
  })
  const socket = ask(server.port!).pause()
  try {
    expect(await letGo.promise).toBe('let go')
  } finally {
    socket.destroy()
    await server.stop(true)
  }
})
