// Batches of upstreams of the messages style: the requests come with the create, and results are a list. A batch
// has no name of its own: one whose create was cut off is told by the ids in its results.
import type { BatchSource } from '../../contract/batches/upstream.ts'
import type { BatchProvider, BatchReport, Stop, Upstream } from '../../contract/provider.ts'
import { isObject } from '../../lib/json/parse.ts'
import { failure } from '../common/errors.ts'
import { askJson, createdIn, headersFor, idIn, readResults, reportIn } from '../text/batches/ask.ts'
import type { Json, TextStyle } from '../text/style.ts'

const pageRows = 100
/** Clocks differ. */
const skewMs = 120_000

export class MessageBatches implements BatchProvider {
  readonly #style: TextStyle
  readonly #root: string

  constructor(style: TextStyle) {
    this.#style = style
    this.#root = `${style.path}/batches`
  }

  #get(upstream: Upstream, path: string) {
    const url = upstream.baseUrl + this.#root + path
    return upstream.http.get(url, headersFor(this.#style, upstream), upstream.timeouts)
  }

  #post(upstream: Upstream, path: string, body: string) {
    const headers = { ...headersFor(this.#style, upstream), 'content-type': 'application/json' }
    const url = upstream.baseUrl + this.#root + path
    return upstream.http.post(url, headers, body, upstream.timeouts)
  }

  idOf({ number }: { number: number }, marker: string): string {
    return `${marker}-${number}`
  }

  line(id: string, body: string): string {
    return `{"custom_id":${JSON.stringify(id)},"params":${body}}`
  }

  async create({ lines }: BatchSource, upstream: Upstream, stop: Stop) {
    const body = `{"requests":[${lines.trimEnd().replaceAll('\n', ',')}]}`
    return createdIn(await askJson(this.#post(upstream, '', body), upstream, stop))
  }

  async find(
    { marker, fromMs }: { marker: string; fromMs: number },
    upstream: Upstream,
    stop: Stop,
  ) {
    const asked = await askJson(this.#get(upstream, `?limit=${pageRows}`), upstream, stop)
    if ('error' in asked) return { kind: 'failed', error: asked.error } as const
    const { data } = asked.body
    for (const row of (Array.isArray(data) ? data : []).filter(isObject)) {
      const upstreamId = idIn(row)
      const isOlder = Date.parse(String(row['created_at'])) < fromMs - skewMs
      if (upstreamId === undefined || isOlder) continue
      // Whose it is shows at its end.
      if (row['processing_status'] !== 'ended') return { kind: 'failed', error: notYet } as const
      for await (const { id } of this.#resultsOf(upstreamId, upstream, stop)) {
        if (id.startsWith(`${marker}-`)) return { kind: 'found', upstreamId } as const
        break
      }
    }
    return { kind: 'found' } as const
  }

  async check(upstreamId: string, upstream: Upstream, stop: Stop) {
    const sent = this.#get(upstream, `/${encodeURIComponent(upstreamId)}`)
    return reportIn(await askJson(sent, upstream, stop), (batch) => reportOf(batch, upstreamId))
  }

  async cancel(upstreamId: string, upstream: Upstream, stop: Stop): Promise<void> {
    const path = `/${encodeURIComponent(upstreamId)}/cancel`
    await askJson(this.#post(upstream, path, '{}'), upstream, stop)
  }

  async *results({ results }: BatchReport, upstream: Upstream, stop: Stop) {
    for (const id of results) yield* this.#resultsOf(id, upstream, stop)
  }

  async *#resultsOf(id: string, upstream: Upstream, stop: Stop) {
    const sent = this.#get(upstream, `/${encodeURIComponent(id)}/results`)
    yield* readResults(sent, 'messages', upstream, stop)
  }
}

const notYet = failure('upstream_error', 'whether the batch was made is not known yet')

function reportOf({ processing_status: status }: Json, id: string): BatchReport | undefined {
  if (status === 'ended') return { state: 'ended', results: [id] }
  const isRunning = status === 'in_progress' || status === 'canceling'
  return isRunning ? { state: 'running', results: [] } : undefined
}
