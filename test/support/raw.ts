// HTTP by hand over a socket, for requests that no proper client would send.
import { connect } from 'node:net'

export interface RawAnswer {
  status: number
  /** Lower-case names; the last value of a repeated one. */
  headers: Record<string, string>
  body: string
  /** Everything as it came. */
  text: string
}

/**
 * Writes the text and reads until one whole answer is there or the connection ends. The request is
 * never closed from our side, so an answer means that the server did not wait for more.
 */
export function rawRequest(url: string, text: string, limitMs = 5_000): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(Number(port), hostname, () => socket.write(text))
    const timer = setTimeout(() => {
      socket.destroy()
      reject(new Error(`no whole answer in ${limitMs} ms, only: ${received}`))
    }, limitMs)
    const done = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve(parseAnswer(received))
    }
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
      if (isWhole(received)) done()
    })
    socket.on('close', done)
    socket.on('error', done)
  })
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))
  return length !== null && text.length >= end + 4 + Number(length[1])
}

function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = text.slice(0, end === -1 ? undefined : end).split('\r\n')
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
  }
  const status = Number(first.split(' ')[1] ?? 0)
  return { status, headers, body: end === -1 ? '' : text.slice(end + 4), text }
}
