// An upstream of long-running operations and the store its files lie in, each an origin of its own.
// A prompt says which file the operation made; the path of a file says how it is handed over.
import { createServer, type Socket } from 'node:net'

export interface AskedFile {
  path: string
  /** Lower case, as it came. */
  head: string
}

export interface FileUpstream {
  url: string
  /** Where the files lie. */
  files: string
  asked: AskedFile[]
  /** How often each operation was asked for. */
  polls: Map<string, number>
  /** Bytes that the kernel took, for each connection that is sent a large file. */
  sent: { bytes: number }[]
  stop(): Promise<void>
}

export const smallFile = Buffer.alloc(300_000, 'small file ')
export const brokenFile = Buffer.alloc(6_000_000, 'broken file ')
export const largeBytes = 50_000_000
export const fileTag = '"of-the-file"'
const piece = Buffer.alloc(64 * 1024, 'large file ')

export async function startFileUpstream(): Promise<FileUpstream> {
  const asked: AskedFile[] = []
  const polls = new Map<string, number>()
  const sent: { bytes: number }[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.once('data', (bytes) => {
      const head = String(bytes).toLowerCase()
      const path = head.split(' ')[1] ?? ''
      asked.push({ path, head })
      handOver(socket, path, head, sent)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const files = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  const api = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => answerApi(request, files, asked, polls),
  })
  return {
    url: `http://127.0.0.1:${api.port}`,
    ...{ files, asked, polls, sent },
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await api.stop(true)
    },
  }
}

/** The prompt is the addresses it made, each look giving the next of them, the last for ever. */
async function answerApi(
  request: Request,
  files: string,
  asked: AskedFile[],
  polls: Map<string, number>,
): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (request.method === 'POST') {
    const { instances } = (await request.json()) as { instances: [{ prompt: string }] }
    const name = Buffer.from(instances[0].prompt).toString('base64url')
    return Response.json({ name: `operations/${name}` })
  }
  if (pathname.startsWith('/v1beta/files/')) {
    const head = [...request.headers].map(([name, value]) => `${name}: ${value}`).join('\r\n')
    asked.push({ path: pathname, head })
    return new Response(null, { status: 302, headers: { location: `${files}/small` } })
  }
  const name = pathname.slice(pathname.lastIndexOf('/') + 1)
  const addresses = Buffer.from(name, 'base64url').toString().split(' ')
  const poll = polls.get(name) ?? 0
  polls.set(name, poll + 1)
  const uri = addresses[Math.min(poll, addresses.length - 1)]
  const generateVideoResponse = { generatedSamples: [{ video: { uri } }] }
  return Response.json({
    name: `operations/${name}`,
    done: true,
    response: { generateVideoResponse },
  })
}

const write = (socket: Socket, status: number, headers: object, body: Uint8Array | string = '') => {
  const all = { 'content-length': body.length, 'content-type': 'text/html', ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} Said\r\nset-cookie: a=b\r\n${lines.join('')}\r\n`)
  if (body.length > 0) socket.write(body)
}

function handOver(socket: Socket, path: string, head: string, sent: { bytes: number }[]): void {
  const range = /\r\nrange: bytes=(\d+)-(\d*)\r\n/.exec(head)
  const isBroken = path.startsWith('/broken')
  if (path.startsWith('/gone')) write(socket, 403, {}, '<Error>expired</Error>')
  else if (path.startsWith('/whole')) write(socket, 200, { etag: fileTag }, smallFile)
  else if (path.startsWith('/large')) pushLarge(socket, sent)
  else if (isBroken && range === null) breakOff(socket)
  else writePart(socket, isBroken ? brokenFile : smallFile, range)
}

/** Half of it, and then a reset that the reader cannot take for the end. */
function breakOff(socket: Socket): void {
  const half = brokenFile.subarray(0, brokenFile.length / 2)
  write(socket, 200, { 'content-length': brokenFile.length }, half)
  setTimeout(() => socket.resetAndDestroy(), 200)
}

function writePart(socket: Socket, file: Buffer, range: RegExpExecArray | null): void {
  const size = file.length
  const first = Number(range?.[1] ?? 0)
  const last = Math.min(Number(range?.[2] || size - 1), size - 1)
  if (range === null) write(socket, 200, { etag: fileTag }, file)
  else if (first >= size) write(socket, 416, { 'content-range': `bytes */${size}` })
  else {
    const told = { etag: fileTag, 'content-range': `bytes ${first}-${last}/${size}` }
    write(socket, 206, told, file.subarray(first, last + 1))
  }
}

/** As fast as it is taken. */
function pushLarge(socket: Socket, sent: { bytes: number }[]): void {
  const mine = { bytes: 0 }
  sent.push(mine)
  const more = () => {
    while (mine.bytes < largeBytes) {
      const part = piece.subarray(0, Math.min(piece.length, largeBytes - mine.bytes))
      mine.bytes += part.length
      if (!socket.write(part)) return
    }
  }
  socket.on('drain', more)
  write(socket, 200, { 'content-length': largeBytes })
  more()
}
