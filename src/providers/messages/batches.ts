// Batches of upstreams of the messages style: the requests come with the create, and results are a list. A batch
// has no name of its own: one whose create was cut off is told by the ids in its results.
import type {
  BatchProvider,
  BatchReport,
  BatchResult,
  Stop,
  Upstream,
} from '../../contract/provider.ts'
import { isObject } from '../../lib/json/parse.ts'
import { spansIn } from '../../lib/json/spans.ts'
import { askJson, headersFor, isFinal, notOne, readResults } from '../batches/ask.ts'
import { failure } from '../common/errors.ts'
import { isPlainId } from '../tasks/fields.ts'
import type { Json, TextStyle } from '../text/style.ts'

const pageRows = 100
/** Clocks differ. */
const skewMs = 120_000

export const messageBatches = (style: TextStyle): BatchProvider => {
  const root = `${style.path}/batches`
  const get = (upstream: Upstream, path: string) =>
    upstream.http.get(upstream.baseUrl + path, headersFor(style, upstream), upstream.timeouts)
  const post = (upstream: Upstream, path: string, body: string) => {
    const headers = { ...headersFor(style, upstream), 'content-type': 'application/json' }
    return upstream.http.post(upstream.baseUrl + path, headers, body, upstream.timeouts)
  }
  const resultsOf = async function* (id: string, upstream: Upstream, stop: Stop) {
    const sent = get(upstream, `${root}/${encodeURIComponent(id)}/results`)
    for await (const { text } of readResults(sent, upstream, stop)) {
      const result = resultIn(text)
      if (result !== undefined) yield result
    }
  }
  return {
    idOf: ({ number }, marker) => `${marker}-${number}`,
    line: (id, body) => `{"custom_id":${JSON.stringify(id)},"params":${body}}`,

    async create({ lines }, upstream, stop) {
      const body = `{"requests":[${lines.trimEnd().replaceAll('\n', ',')}]}`
      const asked = await askJson(post(upstream, root, body), upstream, stop)
      if ('error' in asked) {
        const kind = !('cause' in asked) && isFinal(asked.error) ? 'refused' : 'unknown'
        return { kind, error: asked.error }
      }
      const upstreamId = idIn(asked.body)
      return upstreamId === undefined
        ? { kind: 'unknown', error: notOne() }
        : { kind: 'created', upstreamId }
    },

    async find({ marker, fromMs }, upstream, stop) {
      const asked = await askJson(get(upstream, `${root}?limit=${pageRows}`), upstream, stop)
      if ('error' in asked) return { kind: 'failed', error: asked.error }
      const { data } = asked.body
      for (const row of (Array.isArray(data) ? data : []).filter(isObject)) {
        const upstreamId = idIn(row)
        if (upstreamId === undefined || Date.parse(String(row['created_at'])) < fromMs - skewMs) {
          continue
        }
        // Whose it is shows at its end.
        if (row['processing_status'] !== 'ended') return { kind: 'failed', error: notYet }
        for await (const { id } of resultsOf(upstreamId, upstream, stop)) {
          if (id.startsWith(`${marker}-`)) return { kind: 'found', upstreamId }
          break
        }
      }
      return { kind: 'found' }
    },

    async check(upstreamId, upstream, stop) {
      const path = `${root}/${encodeURIComponent(upstreamId)}`
      const asked = await askJson(get(upstream, path), upstream, stop)
      if ('error' in asked) return { kind: 'failed', error: asked.error }
      const report = reportOf(asked.body, upstreamId)
      return report === undefined ? { kind: 'failed', error: notOne() } : { kind: 'report', report }
    },

    async cancel(upstreamId, upstream, stop) {
      const path = `${root}/${encodeURIComponent(upstreamId)}/cancel`
      await askJson(post(upstream, path, '{}'), upstream, stop)
    },

    async *results({ results }, upstream, stop) {
      for (const id of results) yield* resultsOf(id, upstream, stop)
    },
  }
}

const notYet = failure('upstream_error', 'whether the batch was made is not known yet')

const idIn = ({ id }: Json): string | undefined =>
  typeof id === 'string' && isPlainId(id) ? id : undefined

function reportOf({ processing_status: status }: Json, id: string): BatchReport | undefined {
  if (status === 'ended') return { state: 'ended', results: [id] }
  const isRunning = status === 'in_progress' || status === 'canceling'
  return isRunning ? { state: 'running', results: [] } : undefined
}

const unrunTypes: Readonly<Record<string, 'expired' | 'cancelled'>> = {
  expired: 'expired',
  canceled: 'cancelled',
}

/** Undefined: no result. */
function resultIn(text: string): BatchResult | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(value) || typeof value['custom_id'] !== 'string') return undefined
  const { custom_id: id, result } = value
  if (!isObject(result)) return undefined
  const { type, message, error } = result
  if (type === 'succeeded' && isObject(message)) {
    const within = (start: number, name: string) =>
      spansIn(text, start).findLast(({ key }) => key === name)!
    const { start, end } = within(within(text.indexOf('{'), 'result').start, 'message')
    return { id, status: 200, body: text.slice(start, end) }
  }
  const unrun = unrunTypes[String(type)]
  if (unrun !== undefined) return { id, unrun, message: '' }
  return { id, status: statusOf(error), body: JSON.stringify(error ?? {}) }
}

/** What its call would have been answered with. */
function statusOf(error: unknown): number {
  const inner = isObject(error) && isObject(error['error']) ? error['error'] : error
  return isObject(inner) && inner['type'] === 'invalid_request_error' ? 400 : 500
}
