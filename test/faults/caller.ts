// A caller that keeps one connection and looks at every byte that comes back on it.
import { connect, type Socket } from 'node:net'

export interface Answer {
  status: number
  /** Lower-case names; values of repeated ones joined. */
  headers: Record<string, string>
  body: Buffer
  text: string
  /** Head and body as they came. */
  raw: string
  /** The body came to its proper end. */
  whole: boolean
}

export interface Caller {
  post(path: string, token: string, body: unknown): Promise<Answer>
  /** Any method but HEAD; `more` are headers. */
  ask(
    method: string,
    path: string,
    token: string,
    body?: unknown,
    more?: Readonly<Record<string, string>>,
  ): Promise<Answer>
  /** What has come of the present answer so far. */
  received(): string
  readonly open: boolean
  close(): void
  /** From now on nothing is taken from the connection. */
  stopReading(): void
  startReading(): void
}

const limitMs = 25_000

export async function openCaller(url: string): Promise<Caller> {
  const { hostname, port } = new URL(url)
  const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', () => resolve())
    socket.once('error', reject)
  })
  let received: Buffer[] = []
  let waiting: (() => void) | undefined
  let open = true
  socket.on('error', () => {})
  socket.on('close', () => {
    open = false
    waiting?.()
  })
  socket.on('data', (bytes: Buffer) => {
    received.push(bytes)
    waiting?.()
  })
  const answer = () =>
    new Promise<Answer>((resolve, reject) => {
      const timer = setTimeout(() => {
        socket.destroy()
        reject(new Error(`no whole answer in ${limitMs} ms, only: ${Buffer.concat(received)}`))
      }, limitMs)
      const poll = () => {
        const found = parseAnswer(Buffer.concat(received))
        if (!found.whole && open) return
        clearTimeout(timer)
        waiting = undefined
        resolve(found)
      }
      waiting = poll
      poll()
    })
  const ask: Caller['ask'] = (method, path, token, body, more = {}) => {
    received = []
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
    const headers: Record<string, string> = { host: 'gateway', authorization: `Bearer ${token}` }
    if (body !== undefined) {
      headers['content-type'] = 'application/json'
      headers['content-length'] = String(Buffer.byteLength(text))
    }
    const lines = Object.entries({ ...headers, ...more }).map((pair) => `${pair.join(': ')}\r\n`)
    socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`)
    return answer()
  }
  return {
    get open() {
      return open
    },
    received: () => Buffer.concat(received).toString('latin1'),
    close: () => void socket.destroy(),
    stopReading: () => void socket.pause(),
    startReading: () => void socket.resume(),
    ask,
    post: (path, token, body) => ask('POST', path, token, body),
  }
}

function parseAnswer(bytes: Buffer): Answer {
  const end = bytes.indexOf('\r\n\r\n')
  const head = bytes.toString('latin1', 0, end === -1 ? bytes.length : end)
  const [first = '', ...lines] = head.split('\r\n')
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  const rest = end === -1 ? Buffer.alloc(0) : bytes.subarray(end + 4)
  const chunked = headers['transfer-encoding'] === 'chunked'
  const length = Number(headers['content-length'] ?? Number.NaN)
  const { body, whole } = chunked
    ? unchunk(rest)
    : { body: rest, whole: end !== -1 && rest.length === length }
  const raw = bytes.toString('utf8')
  return { status: Number(first.split(' ')[1]), headers, body, text: body.toString(), raw, whole }
}

function unchunk(bytes: Buffer): { body: Buffer; whole: boolean } {
  const parts: Buffer[] = []
  let at = 0
  for (;;) {
    const line = bytes.indexOf('\r\n', at)
    if (line === -1) return { body: Buffer.concat(parts), whole: false }
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    const start = line + 2
    if (size === 0) {
      return { body: Buffer.concat(parts), whole: bytes.indexOf('\r\n', start) === start }
    }
    parts.push(bytes.subarray(start, Math.min(bytes.length, start + size)))
    if (start + size + 2 > bytes.length) return { body: Buffer.concat(parts), whole: false }
    at = start + size + 2
  }
}
