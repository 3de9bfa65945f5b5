// What the guard lets through, proven on the far side: a listener that counts who came.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { type DownloadOptions, guardAddress, openDownload } from './guarded-fetch.ts'

/** For localhost and 127.0.0.1, for a hundred years; protects nothing. */
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVzJJFvkIH8Csi4oy
uTNiUvC7O6dFINTcjOWs6qw7o4ChRANCAAS+nuHngp3X94FnTeo5N8RKZgvJK3I3
ezV8cUTU9gqpxpEdK2bkukWHaKQL5h1WPk/sMp9geYJYrTgMLlc+FP4i
-----END PRIVATE KEY-----
`
const cert = `-----BEGIN CERTIFICATE-----
MIIBlDCCATmgAwIBAgIUQpAmS5oWBR2SMdGyxtI5zFmJ9HMwCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFbG9jYWwwIBcNMjYxMTE1MDYxOTM3WhgPMjEyNjEwMjIwNjE5
MzdaMBAxDjAMBgNVBAMMBWxvY2FsMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
vp7h54Kd1/eBZ03qOTfESmYLyStyN3s1fHFE1PYKqcaRHStm5LpFh2ikC+YdVj5P
7DKfYHmCWK04DC5XPhT+IqNvMG0wHQYDVR0OBBYEFDd/sLSZPZ+SjhL0S6tA7Pk9
3+DoMB8GA1UdIwQYMBaAFDd/sLSZPZ+SjhL0S6tA7Pk93+DoMA8GA1UdEwEB/wQF
MAMBAf8wGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMAoGCCqGSM49BAMCA0kA
MEYCIQDpgNe7mIpNF0j8sLqDRPL3PqMKoO4AtJ8pYxnMMmdhVgIhAKFB8l4IQBQ1
4a6d+ZdKmU6wYfCE5L43lk8RF4LiNPEG
-----END CERTIFICATE-----
`

type Reply = (head: string, socket: Socket) => void
const plain: Reply = (_, socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
const redirect =
  (to: string, status = 302): Reply =>
  (_, socket) =>
    socket.end(`HTTP/1.1 ${status} Found\r\nLocation: ${to}\r\nContent-Length: 0\r\n\r\n`)

let accepts = 0
let heads: string[] = []
let replies: Reply[] = []

function serve(socket: Socket): void {
  accepts++
  socket.on('error', () => {})
  socket.once('data', (bytes) => {
    heads.push(String(bytes))
    const reply = replies.length > 1 ? replies.shift()! : replies[0]!
    reply(String(bytes), socket)
  })
}
const listen = async (server: ReturnType<typeof createServer>): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as { port: number }).port
}
const server = createServer(serve)
const secure = createTlsServer({ key, cert }, serve)
const port = await listen(server)
const securePort = await listen(secure)

beforeEach(() => {
  accepts = 0
  heads = []
  replies = [plain]
})
afterAll(() => {
  server.close()
  secure.close()
})

const loopback = ['127.0.0.0/8']
const strict = { allow: [], httpsOnly: false }
const lenient = { allow: loopback, httpsOnly: false }
const toLoopback = async () => ['127.0.0.1']
const open = (url: string, more: Partial<DownloadOptions> = {}) =>
  openDownload(url, { rules: lenient, maxRedirects: 3, headTimeoutMs: 5_000, ...more })
const here = (path = '/') => `http://127.0.0.1:${port}${path}`

async function opened(url: string, more: Partial<DownloadOptions> = {}) {
  const answer = await open(url, more)
  if ('kind' in answer) throw new Error(answer.problem)
  return answer
}

/** Each of them is this machine. */
const loopbackHosts = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '0177.0.0.1',
  '0177.0.0.01',
  '0x7f.0.0.1',
  '0x7f.1',
  '0X7F.0X0.0X0.0X1',
  '0x7f000001',
  '2130706433',
  '017700000001',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '１２７.0.0.1',
  '%31%32%37.0.0.1',
  '127%2e0%2e0%2e1',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
]

/** None of these may be reached, by any name. */
const specialHosts = [
  '0',
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '167772161',
  '012.0.0.1',
  '0xa.1',
  '100.64.0.1',
  '100.100.100.200',
  '127.255.255.254',
  '168.63.129.16',
  '0xa83f8110',
  '169.254.169.254',
  '169.254.170.2',
  '2852039166',
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.168.0.1',
  '192.168.257',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  '4294967295',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[::ffff:10.0.0.1]',
  '[::ffff:a9fe:a9fe]',
  '[::ffff:168.63.129.16]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b:1::10.0.0.1]',
  '[64:ff9b:1::8.8.8.8]',
  '[2002:7f00:1::]',
  '[2002:a00:1::1]',
  '[2002:a9fe:a9fe::1]',
  '[2001::1]',
  '[2001:0:7f00:1::]',
  '[2001:db8::1]',
  '[2001:10::1]',
  '[3fff::1]',
  '[100::1]',
  '[5f00::1]',
  '[4000::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
]

/** No address at all, or one that is never asked. */
const badUrls: readonly [string, string][] = [
  ['', 'not a URL'],
  ['nonsense', 'not a URL'],
  ['//127.0.0.1/', 'not a URL'],
  ['http://', 'not a URL'],
  ['http://127.0.0.1:99999/', 'not a URL'],
  ['http://256.0.0.1/', 'not a URL'],
  ['http://1.2.3.4.5/', 'not a URL'],
  ['http://[fe80::1%25eth0]/', 'not a URL'],
  ['http://[::1/', 'not a URL'],
  [`http://8.8.8.8/${'a'.repeat(9_000)}`, 'not a URL'],
  ['file:///etc/passwd', 'neither https nor http'],
  ['ftp://127.0.0.1/', 'neither https nor http'],
  ['gopher://127.0.0.1:6379/_', 'neither https nor http'],
  ['data:text/plain,hi', 'neither https nor http'],
  ['ws://127.0.0.1/', 'neither https nor http'],
  ['unix:/run/x.sock', 'neither https nor http'],
  ['http://user@8.8.8.8/', 'credentials'],
  ['http://:secret@8.8.8.8/', 'credentials'],
  ['http://8.8.8.8@127.0.0.1/', 'credentials'],
  ['http://8.8.8.8:22/', 'port'],
  ['https://8.8.8.8:8443/', 'port'],
  ['http://[2606:4700::1111]:6379/', 'port'],
]

/** Whether a name does not exist or is a private one is not told. */
const unresolved =
  'the name of the host cannot be resolved, or the address may not be asked: it is not public, and GATEWAY_EGRESS_ALLOW does not name it'

describe('the guard', () => {
  test.each([...loopbackHosts, ...specialHosts])('refuses %s before a connection', async (host) => {
    for (const url of [`http://${host}:${port}/`, `https://${host}/`, `http:\\\\${host}:${port}`]) {
      const answer = await open(url, { rules: strict })
      expect(answer).toEqual({
        kind: 'forbidden',
        problem:
          'the address may not be asked: it is not public, and GATEWAY_EGRESS_ALLOW does not name it',
      })
    }
    expect(accepts).toBe(0)
  })

  test.each(loopbackHosts)('would have reached this machine by %s', async (host) => {
    const answer = await opened(`http://${host}:${port}/`)
    expect(await new Response(answer.body).text()).toBe('ok')
    expect(accepts).toBe(1)
  })

  test.each(badUrls)('refuses %p: %s', async (url, reason) => {
    const guarded = await guardAddress(url, strict, toLoopback)
    expect('problem' in guarded && guarded.problem).toContain(reason)
  })

  test.each([
    'http://8.8.8.8/',
    'https://1.1.1.1:443/a?b#c',
    'https://8.8.8.8:80/',
    'http://[2606:4700::1111]/',
    'http://[::ffff:8.8.8.8]/',
    'http://[64:ff9b::808:808]/',
    'http://[2002:808:808::1]/',
    'http://172.32.0.1/',
    'http://100.128.0.1/',
  ])('lets %s through', async (url) => {
    const literal = new URL(url).hostname.replace(/[[\]]/g, '')
    const mapped = literal === '::ffff:808:808' ? '8.8.8.8' : literal
    expect(await guardAddress(url, strict)).toEqual({ addresses: [mapped], url: new URL(url) })
  })

  test('judges every answer for a name, in whichever place it stands', async () => {
    for (const bad of ['127.0.0.1', '10.1.1.1', '::1', '::ffff:10.0.0.1', 'fe80::1%eth0', 'x']) {
      for (const answers of [[bad], ['8.8.8.8', bad], [bad, '8.8.8.8'], ['2606:4700::1', bad]]) {
        const guarded = await guardAddress('http://a.example/', strict, async () => answers)
        expect(guarded).toEqual({ problem: unresolved })
      }
    }
    const url = new URL('http://a.example/')
    const good = async () => ['8.8.8.8', '2606:4700::1']
    const addresses = ['8.8.8.8', '2606:4700::1']
    expect(await guardAddress(url.href, strict, good)).toEqual({ addresses, url })
  })

  test('refuses a name that has no answer, and localhost by its real one', async () => {
    const none = { problem: unresolved }
    expect(await guardAddress('http://a.example/', strict, async () => [])).toEqual(none)
    const broken = () => Promise.reject(new Error('SERVFAIL'))
    expect(await guardAddress('http://a.example/', strict, broken)).toEqual(none)
    const local = await guardAddress(`http://localhost:${port}/`, strict)
    expect(local).toEqual({ problem: unresolved })
  })

  test('wants https where told to, except of networks on the list', async () => {
    const secret = { allow: loopback, httpsOnly: true }
    const refused = { problem: 'the address is not https' }
    expect(await guardAddress('http://8.8.8.8/', secret)).toEqual(refused)
    expect(await guardAddress('https://8.8.8.8/', secret)).toHaveProperty('addresses')
    expect(await guardAddress('http://127.0.0.1/', secret)).toHaveProperty('addresses')
  })

  test('opens the networks on the list and none beside them', async () => {
    const rules = { allow: ['10.1.0.0/16', '10.7.7.7', 'fd00::/8', '::1'], httpsOnly: false }
    for (const host of ['10.1.2.3', '10.7.7.7', '[fd00::5]', '[::1]', '[::ffff:10.1.2.3]']) {
      expect(await guardAddress(`http://${host}:8080/`, rules)).toHaveProperty('addresses')
    }
    for (const host of ['10.2.0.1', '10.7.7.8', '127.0.0.1', '[fc00::5]', '[::2]']) {
      expect(await guardAddress(`http://${host}:8080/`, rules)).toHaveProperty('problem')
    }
    const zoned = async () => ['fd00::5%lo']
    expect(await guardAddress('http://a.example/', rules, zoned)).toHaveProperty('problem')
    const mixed = async () => ['10.1.2.3', '10.2.0.1']
    expect(await guardAddress('http://a.example/', rules, mixed)).toHaveProperty('problem')
  })
})

describe('a download', () => {
  test('asks for a name once and goes to the address that was judged', async () => {
    const asked: string[] = []
    const lookup = async (host: string) => {
      asked.push(host)
      return asked.length === 1 ? ['127.0.0.1'] : ['10.0.0.1']
    }
    const answer = await opened(`http://a.example:${port}/v.mp4?sig=1#part`, { lookup })
    expect(await new Response(answer.body).text()).toBe('ok')
    expect(asked).toEqual(['a.example'])
    expect(heads[0]).toStartWith('GET /v.mp4?sig=1 HTTP/1.1\r\n')
    expect(heads[0]!.toLowerCase()).toContain(`\r\nhost: a.example:${port}\r\n`)
  })

  test('sends no header but its own few', async () => {
    await (await opened(here(), { range: 'bytes=0-1' })).body.cancel()
    const names = heads[0]!.trim().split('\r\n').slice(1)
    const sent = names.map((line) => line.split(':')[0]!.toLowerCase()).toSorted()
    const own = ['accept', 'accept-encoding', 'connection', 'host', 'range', 'user-agent']
    expect(sent.filter((name) => !own.includes(name))).toEqual([])
  })

  test.each([
    ['bytes=0-99', true],
    ['bytes=5-', true],
    ['bytes=-5', true],
    ['bytes=0-1,3-4', false],
    ['bytes=-', false],
    ['lines=1-2', false],
    ['bytes=0-1\r\nx: y', false],
  ])('passes the range %p on: %p', async (range, passed) => {
    await (await opened(here(), { range })).body.cancel()
    expect(heads[0]!.toLowerCase().includes('\r\nrange: ')).toBe(passed)
    if (passed) expect(heads[0]!.toLowerCase()).toContain(`\r\nrange: ${range}\r\n`)
  })

  test('shows the status and four headers, and hides the rest', async () => {
    const head = [
      'HTTP/1.1 206 Partial Content',
      'Content-Type: video/mp4',
      'Content-Length: 2',
      'Content-Range: bytes 0-1/9',
      'ETag: "e"',
      'Set-Cookie: a=b',
      'Server: secret',
    ]
    replies = [(_, socket) => socket.end(`${head.join('\r\n')}\r\n\r\nok`)]
    const { status, headers, body } = await opened(here())
    expect({ status, headers }).toEqual({
      status: 206,
      headers: {
        'content-type': 'video/mp4',
        'content-length': '2',
        'content-range': 'bytes 0-1/9',
        etag: '"e"',
      },
    })
    expect(await new Response(body).text()).toBe('ok')
  })

  test('hands over a refusal of the far side as it is', async () => {
    replies = [(_, s) => s.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n')]
    const { status, body } = await opened(here())
    expect([status, await new Response(body).text()]).toEqual([403, ''])
  })

  test.each([301, 302, 303, 307, 308])('follows a %d with a relative address', async (status) => {
    replies = [redirect('../b?c', status), plain]
    const answer = await opened(here('/x/y/a'))
    expect(await new Response(answer.body).text()).toBe('ok')
    expect(heads[1]).toStartWith('GET /x/b?c HTTP/1.1\r\n')
  })

  test('follows three redirects and not a fourth', async () => {
    replies = [redirect('/1'), redirect('/2'), redirect('/3'), plain]
    await (await opened(here())).body.cancel()
    expect(accepts).toBe(4)
    replies = [redirect('/again')]
    expect(await open(here())).toMatchObject({ kind: 'forbidden' })
    expect(accepts).toBe(8)
  })

  test('judges the target of a redirect like a first address', async () => {
    const rules = { allow: ['127.0.0.1/32'], httpsOnly: false }
    const targets = [
      `http://127.0.0.2:${port}/`,
      `//127.0.0.2:${port}/`,
      `http://[::1]:${port}/`,
      `http://0:${port}/`,
      `http://inner.example:${port}/`,
      'http://169.254.169.254/latest',
      'http://8.8.8.8:25/',
      'file:///etc/passwd',
      `http://a:b@127.0.0.1:${port}/`,
    ]
    for (const [i, to] of targets.entries()) {
      replies = [redirect(to)]
      const lookup = async () => ['127.0.0.3']
      expect(await open(here(), { rules, lookup })).toMatchObject({ kind: 'forbidden' })
      expect(accepts).toBe(i + 1)
    }
  })

  test('judges a name anew after a redirect to the same name', async () => {
    replies = [redirect('/next'), plain]
    let asked = 0
    const lookup = async () => (asked++ === 0 ? ['127.0.0.1'] : ['10.0.0.1'])
    const answer = await open(`http://a.example:${port}/`, { lookup })
    expect(answer).toEqual({ kind: 'forbidden', problem: unresolved })
    expect([asked, accepts]).toEqual([2, 1])
  })

  test('sends a credential to the first origin, and never again once it was left', async () => {
    const credentials = { 'x-api-key': 'secret' }
    const other = `http://localhost:${port}`
    replies = [redirect('/same'), redirect(`${other}/else`), redirect(here('/back')), plain]
    await (await opened(here(), { credentials, lookup: toLoopback })).body.cancel()
    expect(heads.map((head) => /^GET (\S+)/.exec(head)![1])).toEqual([
      '/',
      '/same',
      '/else',
      '/back',
    ])
    expect(heads.map((head) => head.includes('secret'))).toEqual([true, true, false, false])
  })

  test('tries the other addresses of a name when one takes no connection', async () => {
    // No listener on the second loopback address.
    const lookup = async () => ['127.0.0.2', '127.0.0.3', '127.0.0.1']
    const answer = await opened(`http://a.example:${port}/`, { lookup })
    expect(await new Response(answer.body).text()).toBe('ok')
    const nobody = async () => ['127.0.0.2', '127.0.0.3']
    expect(await open(`http://a.example:${port}/`, { lookup: nobody })).toMatchObject({
      kind: 'failed',
    })
    expect(accepts).toBe(1)
  })

  test('asks an IPv6 address by its number', async () => {
    const six = createServer(serve)
    const listening = new Promise<boolean>((resolve) => {
      six.once('error', () => resolve(false))
      six.listen(0, '::1', () => resolve(true))
    })
    if (!(await listening)) {
      console.error('left out: downloads over IPv6 (this machine has no ::1)')
      return
    }
    const { port: at } = six.address() as { port: number }
    const rules = { allow: ['::1'], httpsOnly: false }
    const answer = await opened(`http://a.example:${at}/`, { rules, lookup: async () => ['::1'] })
    expect(await new Response(answer.body).text()).toBe('ok')
    await (await opened(`http://[::1]:${at}/`, { rules })).body.cancel()
    expect(heads[1]!.toLowerCase()).toContain(`host: [::1]:${at}\r\n`)
    six.close()
  })

  test('asks no host that is not named, where some are', async () => {
    const rules = { ...lenient, hosts: ['a.example', '*.b.example', '127.0.0.1'] }
    const ask = (host: string) =>
      open(`http://${host}:${port}/`, { rules, lookup: toLoopback }).then((answer) =>
        'kind' in answer ? answer.kind : answer.body.cancel().then(() => 'asked'),
      )
    for (const host of ['a.example', 'A.example.', 'x.b.example', 'x.y.b.example', '127.1']) {
      expect([host, await ask(host)]).toEqual([host, 'asked'])
    }
    for (const host of ['c.example', 'x.a.example', 'b.example', 'xb.example', '127.0.0.2']) {
      expect([host, await ask(host)]).toEqual([host, 'forbidden'])
    }
    replies = [redirect(`http://c.example:${port}/`)]
    expect(await ask('a.example')).toBe('forbidden')
  })

  test('goes by no proxy of the environment', async () => {
    const before = { ...process.env }
    Object.assign(process.env, {
      HTTP_PROXY: 'http://127.0.0.2:9',
      http_proxy: 'http://127.0.0.2:9',
    })
    try {
      expect(await new Response((await opened(here())).body).text()).toBe('ok')
    } finally {
      for (const name of ['HTTP_PROXY', 'http_proxy']) {
        if (before[name] === undefined) delete process.env[name]
        else process.env[name] = before[name]
      }
    }
  })

  test('refuses a redirect without a target', async () => {
    replies = [(_, s) => s.end('HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n')]
    expect(await open(here())).toMatchObject({ kind: 'failed' })
  })

  test('speaks TLS under the name that was asked for, and refuses another certificate', async () => {
    const more = { lookup: toLoopback, tls: { ca: cert } }
    const answer = await opened(`https://localhost:${securePort}/`, more)
    expect(await new Response(answer.body).text()).toBe('ok')
    const other = await open(`https://a.example:${securePort}/`, more)
    expect(other).toEqual({ kind: 'failed', problem: 'the address did not answer' })
    expect(heads).toHaveLength(1)
    expect(await open(`https://localhost:${securePort}/`, { lookup: toLoopback })).toMatchObject({
      kind: 'failed',
    })
    expect(heads).toHaveLength(1)
  })

  test('never goes from https to http', async () => {
    replies = [redirect(here())]
    const answer = await open(`https://127.0.0.1:${securePort}/`, { tls: { ca: cert } })
    expect(answer).toMatchObject({ kind: 'forbidden' })
    expect(heads).toHaveLength(1)
  })

  test('waits for a reader, and loses nothing', async () => {
    const sizeBytes = 40 * 1024 * 1024
    const piece = Buffer.alloc(256 * 1024, 'x')
    let sentBytes = 0
    replies = [
      (_, socket) => {
        const more = () => {
          while (sentBytes < sizeBytes) {
            sentBytes += piece.length
            if (!socket.write(piece)) return
          }
          socket.end()
        }
        socket.on('drain', more)
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${sizeBytes}\r\n\r\n`)
        more()
      },
    ]
    const { body } = await opened(here())
    for (let before = -1; before !== sentBytes; await Bun.sleep(100)) before = sentBytes
    expect(sentBytes).toBeLessThan(sizeBytes)
    let readBytes = 0
    for await (const bytes of body) readBytes += bytes.byteLength
    expect(readBytes).toBe(sizeBytes)
  })

  test('hangs up when its reader does', async () => {
    const closed = Promise.withResolvers<string>()
    replies = [
      (_, socket) => {
        socket.on('close', () => closed.resolve('closed'))
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc')
      },
    ]
    const { body } = await opened(here())
    await body.cancel()
    expect(await closed.promise).toBe('closed')
  })

  /** What a reader of the whole meets. */
  const ending = async (body: ReadableStream<Uint8Array>) => {
    try {
      return await new Response(body).text()
    } catch {
      return 'broke off'
    }
  }
  const cut: Reply = (_, s) => s.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc')
  const stuck: Reply = (_, s) => s.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc')
  const endless: Reply = (_, s) => s.end(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(2_000)}`)

  test.each([
    ['is cut short', cut, {}],
    ['falls silent', stuck, { idleTimeoutMs: 50 }],
    ['grows too large', endless, { maxBytes: 1_000 }],
    ['takes too long', stuck, { maxMs: 50 }],
  ] as const)('fails its reader when the body %s', async (_, reply, more) => {
    replies = [reply]
    expect(await ending((await opened(here(), more)).body)).toBe('broke off')
  })

  test('hangs up on its far side when nobody reads', async () => {
    const closed = Promise.withResolvers<string>()
    replies = [
      (_, socket) => {
        socket.on('close', () => closed.resolve('closed'))
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc')
      },
    ]
    const { body } = await opened(here(), { readerTimeoutMs: 50 })
    expect(await closed.promise).toBe('closed')
    expect(await ending(body)).toBe('broke off')
  })

  test('refuses what announces itself as too large, or comes compressed', async () => {
    replies = [cut]
    expect(await open(here(), { maxBytes: 5 })).toMatchObject({ kind: 'failed' })
    const packed = Bun.gzipSync('a file')
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}`
    replies = [(_, s) => s.end(Buffer.concat([Buffer.from(`${head}\r\n\r\n`), packed]))]
    const problem = 'the file came compressed'
    expect(await open(here())).toEqual({ kind: 'failed', problem })
  })

  test('gives up on an address that does not answer, hangs up or is called off', async () => {
    replies = [() => {}]
    expect(await open(here(), { headTimeoutMs: 50 })).toMatchObject({ kind: 'timeout' })
    const caller = new AbortController()
    replies = [() => caller.abort()]
    expect(await open(here(), { signal: caller.signal })).toMatchObject({ kind: 'failed' })
    expect(await open(here(), { signal: AbortSignal.abort() })).toMatchObject({ kind: 'failed' })
    expect(accepts).toBe(2)
    replies = [(_, s) => s.destroy()]
    expect(await open(here())).toMatchObject({ kind: 'failed' })
  })

  test('stops the body when it is called off', async () => {
    const caller = new AbortController()
    replies = [stuck]
    const { body } = await opened(here(), { signal: caller.signal })
    const read = ending(body)
    caller.abort()
    expect(await read).toBe('broke off')
  })
})
