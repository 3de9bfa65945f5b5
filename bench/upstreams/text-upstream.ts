// The fake upstream of the CPU figures, its own process: answers every POST from bytes made
// beforehand. Refuses to know who asks. Arguments: events per network write; how it is reached, and a
// folder with key.pem and cert.pem for TLS. Prints its port.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Link } from '../cpu/cases.ts'
import { payloads, type Style, styles } from '../payload/index.ts'
import {
  asksUsage,
  frameChunk,
  jsonResponse,
  modelOf,
  type Peer,
  pathOf,
  send,
  serveRaw,
  streamEnd,
  streamHead,
  wantsStream,
} from './raw-server.ts'

interface Answers {
  json: Buffer
  stream: Buffer[]
}

/** The stream being sent and how much of it is out. */
interface Sending {
  writes: Buffer[]
  sent: number
}

const answersByKey = new Map<string, Answers>()
const styleByPath = new Map<string, Style>(
  styles.map((style) => [payloads[style].pathOf('json', ''), style]),
)
const generatePath = /:(?:g|streamG)enerateContent(?:\?|$)/

const styleAt = (path: string): Style | undefined =>
  generatePath.test(path) ? 'generate' : styleByPath.get(path)

const [eventsPerWriteText = '1', link = 'plain', keyDir = ''] = process.argv.slice(2) as [
  string?,
  Link?,
  string?,
]
let streaming: Peer<Sending>[] = []

/** Says that the connection ends with this answer, where it does. */
const closes = (answer: Buffer): Buffer =>
  link === 'closing'
    ? Buffer.from(answer.toString('latin1').replace('\r\n', '\r\nconnection: close\r\n'), 'latin1')
    : answer

/** One buffer per network write; the response head travels with the first event. */
export function streamWrites(
  style: Style,
  model: string,
  eventsPerWrite: number,
  hasUsage = true,
): Buffer[] {
  const events = payloads[style].stream?.events(model, hasUsage) ?? []
  const last = events.pop()
  if (last === undefined) return []
  const writes: Buffer[] = []
  for (let i = 0; i < events.length; i += eventsPerWrite) {
    const text = events
      .slice(i, i + eventsPerWrite)
      .map(frameChunk)
      .join('')
    writes.push(Buffer.from(i === 0 ? streamHead + text : text))
  }
  writes.push(Buffer.from(frameChunk(last) + streamEnd))
  return writes
}

function answersFor(request: string, eventsPerWrite: number): Answers {
  const path = pathOf(request)
  const model = modelOf(request)
  const hasUsage = asksUsage(request)
  const key = `${path} ${model} ${hasUsage}`
  const known = answersByKey.get(key)
  if (known !== undefined) return known
  const style = styleAt(path)
  if (style === undefined) return { json: jsonResponse('{}', '404 Not Found'), stream: [] }
  const made = {
    json: closes(jsonResponse(payloads[style].jsonAnswer(model))),
    stream: streamWrites(style, model, eventsPerWrite, style !== 'chat' || hasUsage),
  }
  answersByKey.set(key, made)
  return made
}

/** One write of every running stream per turn of the event loop, so that streams interleave. */
function stepStreams(): void {
  const running = streaming
  streaming = []
  for (const peer of running) {
    const { work } = peer.data
    if (work === undefined) continue
    send(peer, work.writes[work.sent++]!)
    if (work.sent < work.writes.length) streaming.push(peer)
    else peer.data.work = undefined
  }
  if (streaming.length > 0) setImmediate(stepStreams)
}

function answer(peer: Peer<Sending>, request: string, eventsPerWrite: number): void {
  const { json, stream } = answersFor(request, eventsPerWrite)
  if (!wantsStream(request) || stream.length === 0) {
    send(peer, json)
    if (link === 'closing') peer.end()
    return
  }
  peer.data.work = { writes: stream, sent: 0 }
  streaming.push(peer)
  if (streaming.length === 1) setImmediate(stepStreams)
}

if (import.meta.main) {
  process.stdin.on('end', () => process.exit(0)).resume()
  const eventsPerWrite = Number(eventsPerWriteText)
  const fileIn = (name: string) => readFileSync(join(keyDir, name), 'utf8')
  const tls = link === 'tls' ? { key: fileIn('key.pem'), cert: fileIn('cert.pem') } : undefined
  const received = (peer: Peer<Sending>, request: string) => answer(peer, request, eventsPerWrite)
  console.log(serveRaw<Sending>({ received }, tls))
}
