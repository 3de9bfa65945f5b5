// What a row of the fault table is made of, and the bytes that most rows share.
import { until } from '../support/read.ts'
import { settle, type Wire } from './raw-upstream.ts'
import { good, type Style, type StyleName, type Told } from './styles.ts'

export type Mode = 'json' | 'stream'

/** What the caller gets. */
export type Seen =
  /** An error before anything was sent. */
  | { kind: 'error'; status: number; code: string | readonly string[]; retryAfter?: string }
  /** A stream that has begun and ends in the style's own error event. */
  | { kind: 'broken'; code: string | readonly string[] }
  /** The answer that was asked for. */
  | { kind: 'good'; pays: 'usage' | 'count'; exact: boolean }
  /** An answer or an upstream's error, and in no case one of the gateway's own. */
  | { kind: 'sane' }

export interface Scene {
  /** The upstream's. */
  style: Style
  /** The caller's, where the call is translated. */
  caller?: Style
  mode: Mode
  model: string
  /** What the caller has received so far. */
  received: () => string
  /** Address of a server that nobody may be sent to. */
  trap: string
}

export interface Fault {
  row: string
  name: string
  styles: readonly StyleName[]
  modes: readonly Mode[]
  seen: Seen | ((style: StyleName, mode: Mode) => Seen)
  /** What the upstream does; left out: `at` leads nowhere. */
  script?: (wire: Wire, scene: Scene) => Promise<void> | void
  /** Where the channel leads, when not to the raw upstream. */
  at?: Place
  timeouts?: Readonly<Record<string, string>>
  /** The usage that stands in a good answer; null: none. Left out: usual usage. */
  told?: Told | null
  /** Words of the upstream that the caller still reads. */
  says?: string
  /** The upstream's name for the request, when the caller is told. */
  upstreamId?: boolean
}

export type Place =
  | 'refused'
  | 'nameless'
  | 'unknown'
  | 'expired'
  | 'foreign'
  | 'local'
  | 'mute'
  | 'plain'

export const short = { first_byte: '1s', idle: '1s', total: '4s', connect: '20s' }

export const canary = 'upk-canary-7d1f0a93c2e84b56'
export const upstreamId = 'up-id-4711'
/** What an upstream may blurt out and no caller may read. */
export const leak =
  `refused key ${canary} of http://10.12.0.7:8443/v2/run and node7.cluster.internal\n` +
  '    at InferenceWorker.run (/srv/inference/worker.js:10:5)'
export const leaked = ['10.12.0.7', 'node7.cluster', '/srv/inference', 'worker.js', 'c00kie']

/** Headers that are nobody's business but the upstream's. */
export const privateHeaders =
  `server: engine-x\r\nset-cookie: session=c00kie\r\nx-internal-node: 10.12.0.7\r\n` +
  `x-powered-by: node7.cluster.internal\r\nx-request-id: ${upstreamId}\r\n`

export const head = (type: string, framing: string, status = '200 OK'): string =>
  `HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\n${privateHeaders}${framing}\r\n`

export const sized = (body: string | Uint8Array): string =>
  `content-length: ${Buffer.byteLength(body)}\r\n`
export const chunkedLine = 'transfer-encoding: chunked\r\n'

export const asChunk = (text: string): string =>
  `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

export const goodBody = ({ style, model }: Scene, told: Told | undefined = good): string =>
  JSON.stringify(style.answer(model, told))

export const goodEvents = ({ style, model }: Scene, told: Told | undefined = good): string[] =>
  style.events(model, told)

/** A whole answer of whatever was asked for. */
export function wholeAnswer(scene: Scene, told: Told | undefined): string {
  if (scene.mode === 'json') {
    const body = JSON.stringify(scene.style.answer(scene.model, told))
    return head('application/json', sized(body)) + body
  }
  const events = scene.style.events(scene.model, told)
  return `${head('text/event-stream', chunkedLine)}${events.map(asChunk).join('')}0\r\n\r\n`
}

/** A whole answer with this status and body. */
export const answered = (status: string, body: string, type = 'application/json', more = '') =>
  head(type, more + sized(body), status) + body

export const jsonHead = (body: string): string => head('application/json', sized(body))
/** A stream whose end is the end of its connection. */
export const openStream = head('text/event-stream', 'connection: close\r\n')
export const chunkedStream = head('text/event-stream', chunkedLine)

/** Until the caller has this; what breaks afterwards breaks under its eyes. */
export const callerHas = (scene: Scene, text: string): Promise<unknown> => {
  if (scene.caller !== undefined && !beginsAtOnce(scene)) return settle()
  return until(`the caller of ${scene.model} to see ${text}`, () =>
    hasSeen(scene, text) ? (true as const) : undefined,
  )
}

/** A stream that is translated looks different: any of it will do. */
const hasSeen = ({ caller, received }: Scene, text: string): boolean =>
  caller === undefined ? withoutMarks(received()).includes(text) : received().includes('data: ')

/** Whether the upstream's first event has output: a translated answer begins with some. */
export const beginsAtOnce = ({ style }: Pick<Scene, 'style'>): boolean =>
  style.name === 'chat' || style.name === 'generate'

/** Ids of responses and their items have a mark behind them. */
export const withoutMarks = (text: string): string => text.replaceAll(/_gw[0-9a-f]{44}(?=")/g, '')

export const error = (
  status: number,
  code: string | readonly string[],
  retryAfter?: string,
): Seen => ({ kind: 'error', status, code, ...(retryAfter !== undefined && { retryAfter }) })
export const broken = (code: string | readonly string[]): Seen => ({ kind: 'broken', code })
export const fine: Seen = { kind: 'good', pays: 'usage', exact: true }
export const converted: Seen = { kind: 'good', pays: 'usage', exact: false }
export const sane: Seen = { kind: 'sane' }
export const counted: Seen = { kind: 'good', pays: 'count', exact: true }
