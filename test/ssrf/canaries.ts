// Ears on every address there is, inside a namespace in which all of them are this machine: one is
// allowed, one is public, and on every other one whoever arrives is written down.
import { readFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'

export const allowedAddress = '203.0.113.10'
/** Nobody has to allow it. */
export const publicAddress = '8.8.8.8'
const ports = [80, 443, 22, 53, 2375, 3128, 5432, 6379, 8080, 8443, 9200, 11211]
const arrivalMs = 100
const maxVisitMs = 1_000

/** Taken for a picture and for a film alike. */
export const file = Buffer.from('\x89PNG\r\n\x1a\nof the allowed address', 'latin1')

export interface Canaries {
  /** Who came where they may not, by what they asked for there. */
  arrived: string[]
  /** Paths asked for at the allowed address. */
  allowed: string[]
  close(): void
}

/** The allowed address sends whoever asks for this path to the address. */
export const wayTo = (url: string) => `/to/${Buffer.from(url).toString('base64url')}`

export async function startCanaries(): Promise<Canaries> {
  const arrived: string[] = []
  const allowed: string[] = []
  const listen = (socket: Socket) => {
    const at = `${socket.localAddress?.replace('::ffff:', '')}`
    socket.on('error', () => {})
    if (at === allowedAddress || at === publicAddress) return serve(socket, allowed)
    const place = arrived.push(`${at} port ${socket.localPort}`) - 1
    socket.once('data', (bytes) => {
      arrived[place] += ` ${String(bytes).split('\r\n')[0]}`
      answer(socket, 200, '')
    })
    setTimeout(() => socket.end(), maxVisitMs)
  }
  const servers = ports.map(() => createServer(listen))
  for (const [index, server] of servers.entries()) {
    await new Promise<void>((resolve) => server.listen(ports[index], '::', resolve))
  }
  return {
    arrived,
    allowed,
    close: () => {
      for (const server of servers) server.close()
    },
  }
}

function serve(socket: Socket, allowed: string[]): void {
  let head = ''
  let isAnswered = false
  socket.on('data', (bytes) => {
    head += String(bytes)
    if (isAnswered || !head.includes('\r\n\r\n')) return
    isAnswered = true
    const path = head.split(' ')[1] ?? ''
    allowed.push(path)
    const way = /^\/to\/([\w-]+)$/.exec(path)
    if (way === null) answer(socket, 200, '')
    else answer(socket, 302, Buffer.from(way[1]!, 'base64url').toString())
  })
}

/** Redirects are written as they are: only line ends are left out, which would end the header. */
function answer(socket: Socket, status: number, location: string): void {
  const to = location === '' ? '' : `Location: ${location.replace(/[\r\n\0]/g, '')}\r\n`
  const head = `HTTP/1.1 ${status} Said\r\n${to}Content-Type: image/png\r\n`
  socket.write(`${head}Content-Length: ${file.length}\r\nConnection: close\r\n\r\n`)
  socket.end(file)
}

/** How many connections anybody in the namespace has tried to open, to any address and port. */
export function openedConnections(): number {
  const lines = readFileSync('/proc/net/snmp', 'utf8').split('\n')
  const [names, values] = lines.filter((line) => line.startsWith('Tcp:'))
  return Number(values!.split(' ')[names!.split(' ').indexOf('ActiveOpens')])
}

/** Whoever is still on the way is given time to arrive. */
export const settle = () => Bun.sleep(arrivalMs)
