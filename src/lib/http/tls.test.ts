import { describe, expect, test } from 'bun:test'
import { createServer } from 'node:tls'
import { createHttpClient, HttpError } from './client.ts'

const LIMITS = { connectMs: 5000 }
interface Identity {
  key: string
  cert: string
}

// Throw-away identities that protect nothing; fixed, because an expired one is hard to make.
function identity(key: string, cert: string): Identity {
  return { key: pem('PRIVATE KEY', key), cert: pem('CERTIFICATE', cert) }
}

function pem(label: string, base64: string): string {
  return `-----BEGIN ${label}-----\n${base64}\n-----END ${label}-----\n`
}

/** For localhost and 127.0.0.1, for a hundred years. */
const local = identity(
  `MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVzJJFvkIH8Csi4oy
uTNiUvC7O6dFINTcjOWs6qw7o4ChRANCAAS+nuHngp3X94FnTeo5N8RKZgvJK3I3
ezV8cUTU9gqpxpEdK2bkukWHaKQL5h1WPk/sMp9geYJYrTgMLlc+FP4i`,
  `MIIBlDCCATmgAwIBAgIUQpAmS5oWBR2SMdGyxtI5zFmJ9HMwCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFbG9jYWwwIBcNMjYxMTE1MDYxOTM3WhgPMjEyNjEwMjIwNjE5
MzdaMBAxDjAMBgNVBAMMBWxvY2FsMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
vp7h54Kd1/eBZ03qOTfESmYLyStyN3s1fHFE1PYKqcaRHStm5LpFh2ikC+YdVj5P
7DKfYHmCWK04DC5XPhT+IqNvMG0wHQYDVR0OBBYEFDd/sLSZPZ+SjhL0S6tA7Pk9
3+DoMB8GA1UdIwQYMBaAFDd/sLSZPZ+SjhL0S6tA7Pk93+DoMA8GA1UdEwEB/wQF
MAMBAf8wGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMAoGCCqGSM49BAMCA0kA
MEYCIQDpgNe7mIpNF0j8sLqDRPL3PqMKoO4AtJ8pYxnMMmdhVgIhAKFB8l4IQBQ1
4a6d+ZdKmU6wYfCE5L43lk8RF4LiNPEG`,
)

/** For elsewhere.example, for a hundred years. */
const foreign = identity(
  `MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgAPlGTYHyeOwFFFAs
AOBoB3WSA+GCsJJhaxG/njXaDfGhRANCAAR0r3G+Xu9TA9CkFKNZnC5ls/rALwSq
P+IOPHO4NYQi+NyD3IeVf3Q79eNQeisYOsPFixwffLB3kQa/6O2Qoj24`,
  `MIIBmTCCAT+gAwIBAgIUZBJ8nTA17h+VZ69zY1eHUpb72wswCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHZm9yZWlnbjAgFw0yNjExMTUwNjE5MzdaGA8yMTI2MTAyMjA2
MTkzN1owEjEQMA4GA1UEAwwHZm9yZWlnbjBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABHSvcb5e71MD0KQUo1mcLmWz+sAvBKo/4g48c7g1hCL43IPch5V/dDv141B6
Kxg6w8WLHB98sHeRBr/o7ZCiPbijcTBvMB0GA1UdDgQWBBTRIrcqMJGwkizTK+oY
CDmvJd3jKTAfBgNVHSMEGDAWgBTRIrcqMJGwkizTK+oYCDmvJd3jKTAPBgNVHRMB
Af8EBTADAQH/MBwGA1UdEQQVMBOCEWVsc2V3aGVyZS5leGFtcGxlMAoGCCqGSM49
BAMCA0gAMEUCIQCJ830h9FJRKLh1erVV7CAPGD/Px4IgJSr+SXebN18BAQIgWDYh
HI1ddml87MaKdgUEnJRGWrKcrQ9sXwNXCjxfHuU=`,
)

/** For localhost, in January 2020. */
const expired = identity(
  `MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgNuQiM1yzb7teKxR5
zRIBtgv7z+uGn/KSmB5ODoDXVb2hRANCAAQQh3Vp/Plh0dtpnImV/yMMykjqTDsz
tQgiy52uXb7hsl5OYrjgud0aDtkAd1rDrPzOFdRP3tqXIv9MpXqEoM/H`,
  `MIIBeTCCAR+gAwIBAgIBATAKBggqhkjOPQQDAjASMRAwDgYDVQQDDAdleHBpcmVk
MB4XDTIwMDEwMTAwMDAwMFoXDTIwMDIwMTAwMDAwMFowEjEQMA4GA1UEAwwHZXhw
aXJlZDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABBCHdWn8+WHR22mciZX/IwzK
SOpMOzO1CCLLna5dvuGyXk5iuOC53RoO2QB3WsOs/M4V1E/e2pci/0yleoSgz8ej
ZjBkMBQGA1UdEQQNMAuCCWxvY2FsaG9zdDAMBgNVHRMEBTADAQH/MB0GA1UdDgQW
BBSlpbLpNArFcG0S2N93y82jbNFVBTAfBgNVHSMEGDAWgBSlpbLpNArFcG0S2N93
y82jbNFVBTAKBggqhkjOPQQDAgNIADBFAiB1qry8rM/pw0yQwIc0ptMOKcc7Efg2
0sbxQhxFZf60OQIhAOEL1wP+k40yJ0UG6Znc4/xY7fDEBSBJz04rvlM2HqmM`,
)

interface Outcome {
  result: string | undefined
  /** Bytes of the request that reached the server in the clear of its TLS layer. */
  receivedBytes: number
  serverName: string | undefined
}

async function call(
  server: Identity,
  host: string,
  tls: { ca?: string; rejectUnauthorized?: boolean },
  body = '{}',
): Promise<Outcome> {
  let receivedBytes = 0
  let serverName: string | undefined
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    tls: { key: server.key, cert: server.cert },
    socket: {
      data(socket, data) {
        if (receivedBytes === 0) serverName = socket.getServername()
        receivedBytes += data.length
        if (receivedBytes < body.length) return
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      },
      error() {},
    },
  })
  const http = createHttpClient({ tls })
  const post = http.post(`https://${host}:${listener.port}/`, {}, body, LIMITS)
  const result = await post.answer.then(
    (answer) => answer.text(100),
    (error: unknown) => (error instanceof HttpError ? error.kind : String(error)),
  )
  http.close()
  await Bun.sleep(5)
  listener.stop(true)
  return { result, receivedBytes, serverName }
}

describe('TLS', () => {
  test('accepts a certificate of a known authority and names the host', async () => {
    const outcome = await call(local, 'localhost', { ca: local.cert })
    expect(outcome.result).toBe('ok')
    expect(outcome.serverName).toBe('localhost')
  })

  test('accepts an address the certificate names', async () => {
    expect((await call(local, '127.0.0.1', { ca: local.cert })).result).toBe('ok')
  })

  test('an address without a name is verified, too, when no authority is given', async () => {
    expect(await call(local, '127.0.0.1', {})).toMatchObject({ result: 'tls', receivedBytes: 0 })
  })

  test('sends a large request whole', async () => {
    const body = 'x'.repeat(5_000_000)
    const outcome = await call(local, 'localhost', { ca: local.cert }, body)
    expect(outcome.result).toBe('ok')
    expect(outcome.receivedBytes).toBeGreaterThanOrEqual(body.length)
  })

  test('pauses a server nobody reads from and loses nothing of a body that ends with it', async () => {
    const sizeBytes = 20 * 1024 * 1024
    const piece = Buffer.alloc(256 * 1024, 'x')
    let sentBytes = 0
    const server = createServer({ key: local.key, cert: local.cert }, (socket) => {
      const more = () => {
        while (sentBytes < sizeBytes) {
          sentBytes += piece.length
          if (!socket.write(piece)) return
        }
        socket.end()
      }
      socket.on('error', () => {})
      socket.on('drain', more)
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        more()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const http = createHttpClient({ tls: { ca: local.cert } })
    const answer = await http.post(`https://localhost:${port}/`, {}, '', LIMITS).answer
    for (let before = -1; before !== sentBytes; await Bun.sleep(100)) before = sentBytes
    expect(sentBytes).toBeLessThan(sizeBytes)
    let readBytes = 0
    for (;;) {
      const bytes = await answer.read()
      if (bytes === undefined) break
      readBytes += bytes.length
    }
    expect(readBytes).toBe(sizeBytes)
    server.close()
  })

  test('refuses an unknown authority before sending anything', async () => {
    expect(await call(local, 'localhost', {})).toMatchObject({ result: 'tls', receivedBytes: 0 })
    const other = await call(local, 'localhost', { ca: foreign.cert })
    expect(other).toMatchObject({ result: 'tls', receivedBytes: 0 })
  })

  test('refuses another name before sending anything', async () => {
    const named = await call(foreign, 'localhost', { ca: foreign.cert })
    expect(named).toMatchObject({ result: 'tls', receivedBytes: 0 })
    const address = await call(foreign, '127.0.0.1', { ca: foreign.cert })
    expect(address).toMatchObject({ result: 'tls', receivedBytes: 0 })
  })

  test('refuses an expired certificate before sending anything', async () => {
    const outcome = await call(expired, 'localhost', { ca: expired.cert })
    expect(outcome).toMatchObject({ result: 'tls', receivedBytes: 0 })
  })

  test('accepts any certificate only when told to', async () => {
    expect((await call(foreign, 'localhost', { rejectUnauthorized: false })).result).toBe('ok')
  })

  test('refuses a server that does not speak TLS, verified or not', async () => {
    const plain = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: { data: (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n') },
    })
    for (const rejectUnauthorized of [true, false]) {
      const http = createHttpClient({ tls: { rejectUnauthorized } })
      const post = http.post(`https://127.0.0.1:${plain.port}/`, {}, '', LIMITS)
      const kind = await post.answer.then(
        () => 'answered',
        (error: unknown) => (error instanceof HttpError ? error.kind : String(error)),
      )
      expect(kind).toBe('tls')
    }
    plain.stop(true)
  })
})
