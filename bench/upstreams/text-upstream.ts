// The fake upstream of the CPU figures, its own process: answers every POST from bytes made
// beforehand. Refuses to know who asks. Argument: events per network write. Prints its port.

import { payloads, type Style, styles } from '../payload/index.ts'
import {
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

let streaming: Peer<Sending>[] = []

/** One buffer per network write; the response head travels with the first event. */
export function streamWrites(style: Style, model: string, eventsPerWrite: number): Buffer[] {
  const events = payloads[style].stream?.events(model) ?? []
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
  const key = `${path} ${model}`
  const known = answersByKey.get(key)
  if (known !== undefined) return known
  const style = styleAt(path)
  if (style === undefined) return { json: jsonResponse('{}', '404 Not Found'), stream: [] }
  const made = {
    json: jsonResponse(payloads[style].jsonAnswer(model)),
    stream: streamWrites(style, model, eventsPerWrite),
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
    return
  }
  peer.data.work = { writes: stream, sent: 0 }
  streaming.push(peer)
  if (streaming.length === 1) setImmediate(stepStreams)
}

if (import.meta.main) {
  process.stdin.on('end', () => process.exit(0)).resume()
  const eventsPerWrite = Number(process.argv[2] ?? '1')
  const port = serveRaw<Sending>({
    received: (peer, request) => answer(peer, request, eventsPerWrite),
  })
  console.log(port)
}
