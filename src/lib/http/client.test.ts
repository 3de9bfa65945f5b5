import { afterEach, describe, expect, test } from 'bun:test'
import { createServer, type Server, type Socket } from 'node:net'
import { createHttpClient, type HttpClient, HttpError } from './client.ts'

const LIMITS = { connectMs: 5000 }
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const closing: (() => void)[] = []

afterEach(() => {
  for (const close of closing.splice(0)) close()
})

interface Upstream {
  url: string
  connections: Socket[]
  requests: string[]
}

/** Answers each complete request through `answer`; sockets stay open unless it ends them. */
async function upstream(
  answer: (socket: Socket, request: string) => unknown,
  host = '127.0.0.1',
): Promise<Upstream> {
  const connections: Socket[] = []
  const requests: string[] = []
  const server: Server = createServer((socket) => {
    connections.push(socket)
    socket.setNoDelay(true)
    let pending = Buffer.alloc(0)
    let parts: Buffer[] = []
    let partsBytes = 0
    let needBytes = 0
    socket.on('error', () => {})
    socket.on('data', (data: Buffer) => {
      parts.push(data)
      partsBytes += data.length
      if (partsBytes < needBytes) return
      pending = Buffer.concat(parts)
      const head = pending.indexOf('\r\n\r\n')
      const length = /content-length: (\d+)/i.exec(pending.toString('latin1', 0, head))
      needBytes = head + 4 + Number(length?.[1])
      if (head < 0 || pending.length < needBytes) {
        parts = [pending]
        return
      }
      parts = []
      partsBytes = 0
      needBytes = 0
      requests.push(pending.toString())
      answer(socket, pending.toString())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  closing.push(() => {
    for (const socket of connections) socket.destroy()
    server.close()
  })
  const { port } = server.address() as { port: number }
  const name = host.includes(':') ? `[${host}]` : host
  return { url: `http://${name}:${port}/v1/x?y=1`, connections, requests }
}

function client(options?: Parameters<typeof createHttpClient>[0]): HttpClient {
  const made = createHttpClient(options)
  closing.push(() => made.close())
  return made
}

async function ask(http: HttpClient, url: string, body = '{}'): Promise<string | undefined> {
  const answer = await http.post(url, { 'x-a': 'b' }, body, LIMITS).answer
  return answer.text(1e9)
}

async function kindOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    return error instanceof HttpError ? error.kind : `other: ${error}`
  }
  return 'no error'
}

function closed(socket: Socket | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (socket === undefined || socket.destroyed) resolve()
    else socket.once('close', () => resolve())
  })
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await Bun.sleep(1)
}

describe('a request', () => {
  test('goes out whole, with host and length', async () => {
    const up = await upstream((socket) => socket.write(OK))
    expect(await ask(client(), up.url, '"grüße"')).toBe('ok')
    const { host } = new URL(up.url)
    expect(up.requests).toEqual([
      `POST /v1/x?y=1 HTTP/1.1\r\nHost: ${host}\r\nx-a: b\r\nContent-Length: 9\r\n\r\n"grüße"`,
    ])
  })

  test('arrives complete when it is larger than any socket buffer', async () => {
    const up = await upstream((socket, request) => {
      const body = request.slice(request.indexOf('\r\n\r\n') + 4)
      const hash = Bun.hash(body).toString()
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${hash.length}\r\n\r\n${hash}`)
    })
    const http = client()
    for (const unit of ['0123456789abcdef', 'é🙂日本 text ']) {
      const body = Array.from({ length: 600_000 }, (_, at) => `${unit}${at}`).join('')
      expect(await ask(http, up.url, body)).toBe(Bun.hash(body).toString())
    }
    expect(up.connections.length).toBe(1)
  })

  test('of bytes arrives as they are, in whatever pieces the socket takes it', async () => {
    const up = await upstream((socket, request) => {
      const text = String(request.slice(request.indexOf('\r\n\r\n') + 4).length)
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`)
    })
    const http = client()
    for (const size of [0, 3, 20_000_000]) {
      const bytes = new Uint8Array(size).fill(0x41)
      const answer = await http.post(up.url, {}, bytes, LIMITS).answer
      expect(await answer.text(100)).toBe(String(size))
    }
    await http.post(up.url, {}, Uint8Array.of(0x22, 0xff, 0x00, 0x22), LIMITS).answer
    expect(up.requests.at(-1)).toEndWith('Content-Length: 4\r\n\r\n"\ufffd\0"')
  })

  test('reaches an IPv6 address', async () => {
    const up = await upstream((socket) => socket.write(OK), '::1')
    expect(await ask(client(), up.url)).toBe('ok')
    expect(up.requests[0]).toContain(`Host: ${new URL(up.url).host}\r\n`)
  })

  const bad: Record<string, [string, Record<string, string>]> = {
    'a line break in a value': ['http://127.0.0.1:1/', { a: 'b\r\nc: d' }],
    'a line feed in a value': ['http://127.0.0.1:1/', { a: 'b\n' }],
    'a NUL in a value': ['http://127.0.0.1:1/', { a: 'b\0' }],
    'a space in a name': ['http://127.0.0.1:1/', { 'a b': 'c' }],
    'its own length': ['http://127.0.0.1:1/', { 'Content-Length': '3' }],
    'its own coding': ['http://127.0.0.1:1/', { 'transfer-encoding': 'chunked' }],
    'another protocol': ['ftp://127.0.0.1/', {}],
    'no address': ['nowhere', {}],
    'credentials in the address': ['http://a:b@127.0.0.1:1/', {}],
  }
  for (const [name, [url, headers]] of Object.entries(bad)) {
    test(`is refused with ${name}`, async () => {
      expect(await kindOf(client().post(url, headers, '', LIMITS).answer)).toBe('invalid')
    })
  }
})

describe('an answer over a real socket', () => {
  const raws = {
    length: 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\u00f0\u009f\u0099\u0082',
    chunked:
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n\u00f0\u009f\u0099\r\n1\r\n\u0082\r\n0\r\n\r\n',
    'until close': 'HTTP/1.1 200 OK\r\n\r\n\u00f0\u009f\u0099\u0082',
  }
  for (const [name, raw] of Object.entries(raws)) {
    test(`reads the same wherever it is split: ${name}`, async () => {
      const bytes = Buffer.from(raw, 'latin1')
      let at = 0
      const up = await upstream(async (socket) => {
        const cut = at
        socket.write(bytes.subarray(0, cut))
        await Bun.sleep(1)
        if (name === 'until close') socket.end(bytes.subarray(cut))
        else socket.write(bytes.subarray(cut))
      })
      const http = client()
      for (at = 1; at < bytes.length; at += 1) expect(await ask(http, up.url)).toBe('🙂')
      expect(up.connections.length).toBe(name === 'until close' ? bytes.length - 1 : 1)
    })
  }

  const cuts = {
    'before any byte': '',
    'in the head': 'HTTP/1.1 200 OK\r\nConte',
    'in the body': 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab',
    'in a chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab',
    'before the last chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n',
  }
  for (const [name, raw] of Object.entries(cuts)) {
    test(`is broken when it is cut ${name}`, async () => {
      const up = await upstream((socket) => socket.end(raw))
      expect(await kindOf(ask(client(), up.url))).toBe('broken')
    })
  }

  test('is broken when a body without length ends in a reset', async () => {
    const up = await upstream((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nab'))
    const answer = await client().post(up.url, {}, '', LIMITS).answer
    await answer.read()
    const next = answer.read()
    up.connections[0]?.resetAndDestroy()
    expect(await kindOf(next)).toBe('broken')
  })

  test('is refused with too large a head, and its connection is closed', async () => {
    const up = await upstream((socket) => socket.write(`HTTP/1.1 200 OK\r\nA: ${'b'.repeat(2000)}`))
    expect(await kindOf(ask(client({ maxHeaderBytes: 1000 }), up.url))).toBe('invalid')
    await closed(up.connections[0])
  })

  test('that nobody reads fast is not taken from the network', async () => {
    const sizeBytes = 50 * 1024 * 1024
    let sentBytes = 0
    const piece = Buffer.alloc(1024 * 1024, 'x')
    const up = await upstream((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${sizeBytes}\r\n\r\n`)
      const more = () => {
        while (sentBytes < sizeBytes) {
          sentBytes += piece.length
          if (!socket.write(piece)) return
        }
      }
      socket.on('drain', more)
      more()
    })
    const answer = await client().post(up.url, {}, '', LIMITS).answer
    let before = -1
    while (before !== sentBytes) {
      before = sentBytes
      await Bun.sleep(100)
    }
    expect(sentBytes).toBeLessThan(sizeBytes / 2)
    let readBytes = 0
    for (;;) {
      const bytes = await answer.read()
      if (bytes === undefined) break
      readBytes += bytes.length
    }
    expect(readBytes).toBe(sizeBytes)
  })
})

describe('connections', () => {
  test('are used again, the last one first', async () => {
    const waiting: Socket[] = []
    const up = await upstream((socket) => waiting.push(socket))
    const http = client()
    const both = [ask(http, up.url), ask(http, up.url)]
    await until(() => waiting.length === 2)
    for (const socket of waiting.splice(0)) socket.write(OK)
    await Promise.all(both)
    for (let i = 0; i < 3; i += 1) {
      const next = ask(http, up.url)
      await until(() => waiting.length === 1)
      waiting.pop()?.write(OK)
      await next
    }
    expect(up.connections.length).toBe(2)
  })

  test('are not used again when the answer says so', async () => {
    const up = await upstream((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok'),
    )
    const http = client()
    await ask(http, up.url)
    await closed(up.connections[0])
    await ask(http, up.url)
    expect(up.connections.length).toBe(2)
  })

  test('that the server closes while idle are replaced', async () => {
    const up = await upstream((socket) => socket.write(OK))
    const http = client()
    await ask(http, up.url)
    const first = up.connections[0]
    first?.end()
    await closed(first)
    expect(await ask(http, up.url)).toBe('ok')
    expect(up.connections.length).toBe(2)
  })

  test('that speak while idle are closed', async () => {
    const up = await upstream((socket) => socket.write(OK))
    const http = client()
    await ask(http, up.url)
    up.connections[0]?.write(OK)
    await closed(up.connections[0])
    await ask(http, up.url)
    expect(up.connections.length).toBe(2)
  })

  test('are closed when idle for long, beyond the limit, and with the client', async () => {
    const up = await upstream((socket) => socket.write(OK))
    await ask(client({ idleMs: 1 }), up.url)
    await closed(up.connections[0])
    await ask(client({ maxIdlePerOrigin: 0 }), up.url)
    await closed(up.connections[1])
    const http = client()
    await ask(http, up.url)
    expect(up.connections[2]?.destroyed).toBe(false)
    http.close()
    await closed(up.connections[2])
  })

  test('that die under a second request fail it without sending it again', async () => {
    const up = await upstream((socket) =>
      up.requests.length === 1 ? socket.write(OK) : socket.destroy(),
    )
    const http = client()
    await ask(http, up.url)
    expect(await kindOf(ask(http, up.url))).toBe('broken')
    expect(up.requests.length).toBe(2)
    expect(up.connections.length).toBe(1)
  })

  test('with a request still half sent are not used again', async () => {
    const connections: Socket[] = []
    const server = createServer((socket) => {
      connections.push(socket)
      socket.on('error', () => {})
      socket.once('data', () => {
        socket.pause()
        socket.write('HTTP/1.1 413 Large\r\nContent-Length: 0\r\n\r\n')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => {
      for (const socket of connections) socket.destroy()
      server.close()
    })
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/`
    const http = client()
    const body = 'x'.repeat(30_000_000)
    for (let i = 0; i < 2; i += 1) {
      expect((await http.post(url, {}, body, LIMITS).answer).status).toBe(413)
    }
    expect(connections.length).toBe(2)
  })
})

describe('a call that cannot be made or is not wanted', () => {
  test('is unreachable when nobody listens or the name is unknown', async () => {
    const up = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    const { port } = up
    up.stop(true)
    expect(await kindOf(ask(client(), `http://127.0.0.1:${port}/`))).toBe('unreachable')
    expect(await kindOf(ask(client(), 'http://no-such-host.invalid/'))).toBe('unreachable')
  })

  test('times out when TLS is never answered', async () => {
    const up = await upstream(() => {})
    const call = client().post(up.url.replace('http:', 'https:'), {}, '', { connectMs: 20 })
    expect(await kindOf(call.answer)).toBe('timeout')
    await until(() => up.connections.length === 1)
    await closed(up.connections[0])
  })

  test('is cancelled before it is connected', async () => {
    const up = await upstream((socket) => socket.write(OK))
    const call = client().post(up.url, {}, '', LIMITS)
    call.cancel()
    expect(await kindOf(call.answer)).toBe('cancelled')
    await until(() => up.connections.length === 1)
    await closed(up.connections[0])
    expect(up.requests).toEqual([])
  })

  test('is cancelled before the head and within the body', async () => {
    const up = await upstream((socket, request) => {
      if (request.endsWith('head')) return
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab')
    })
    const http = client()
    const early = http.post(up.url, {}, 'head', LIMITS)
    await until(() => up.requests.length === 1)
    early.cancel()
    expect(await kindOf(early.answer)).toBe('cancelled')
    await closed(up.connections[0])

    const late = http.post(up.url, {}, 'body', LIMITS)
    const text = (await late.answer).text(100)
    late.cancel()
    expect(await kindOf(text)).toBe('cancelled')
    await closed(up.connections[1])
  })

  test('leaves no unhandled rejection when nobody listens to it', async () => {
    let unhandled = 0
    const count = () => {
      unhandled += 1
    }
    process.on('unhandledRejection', count)
    const up = await upstream((socket) => socket.destroy())
    client().post(up.url, {}, '', LIMITS)
    client().post(up.url, {}, '', LIMITS).cancel()
    client().post('nowhere', {}, '', LIMITS)
    await until(() => up.connections.length === 2)
    await Promise.all(up.connections.map(closed))
    await Bun.sleep(5)
    process.off('unhandledRejection', count)
    expect(unhandled).toBe(0)
  })
})
