// Batches of upstreams that take them as files: the lines are uploaded, a batch is made of the file, and its
// results are files again. One that was made although its create was cut off is found by its file.
import type { BatchSource } from '../../../contract/batches/upstream.ts'
import type { BatchProvider, BatchReport, Stop, Upstream } from '../../../contract/provider.ts'
import { isObject } from '../../../lib/json/parse.ts'
import { readErrorEvent } from '../../common/errors.ts'
import type { Json, TextStyle } from '../style.ts'
import { askJson, createdIn, headersFor, idIn, notOne, readResults, reportIn } from './ask.ts'

const boundary = 'model-gateway-batch'
/** Of a list of batches, newest first. */
const pageRows = 100
const maxPages = 20

export class FileBatches implements BatchProvider {
  readonly #style: TextStyle
  readonly #url: string

  constructor(style: TextStyle) {
    this.#style = style
    this.#url = `/v1${style.path}`
  }

  #get(upstream: Upstream, path: string) {
    const headers = headersFor(this.#style, upstream)
    return upstream.http.get(upstream.baseUrl + path, headers, upstream.timeouts)
  }

  #post(upstream: Upstream, path: string, body: string, type = 'application/json') {
    const headers = { ...headersFor(this.#style, upstream), 'content-type': type }
    return upstream.http.post(upstream.baseUrl + path, headers, body, upstream.timeouts)
  }

  idOf({ customId }: { customId: string }): string {
    return customId
  }

  line(id: string, body: string): string {
    const named = `"custom_id":${JSON.stringify(id)},"method":"POST","url":"${this.#url}"`
    return `{${named},"body":${oneLine(body)}}`
  }

  async upload(source: BatchSource, upstream: Upstream, stop: Stop) {
    const type = `multipart/form-data; boundary=${boundary}`
    const sent = this.#post(upstream, '/files', formOf(source), type)
    const asked = await askJson(sent, upstream, stop)
    if ('error' in asked) return { kind: 'failed', error: asked.error } as const
    const fileId = idIn(asked.body)
    if (fileId === undefined) return { kind: 'failed', error: notOne() } as const
    return { kind: 'uploaded', fileId } as const
  }

  async create({ marker, fileId }: BatchSource, upstream: Upstream, stop: Stop) {
    const body = JSON.stringify({
      input_file_id: fileId,
      endpoint: this.#url,
      completion_window: '24h',
      metadata: { gateway_part: marker },
    })
    return createdIn(await askJson(this.#post(upstream, '/batches', body), upstream, stop))
  }

  async find({ fileId }: { fileId?: string }, upstream: Upstream, stop: Stop) {
    let after = ''
    for (let page = 0; page < maxPages; page++) {
      const path = `/batches?limit=${pageRows}${after}`
      const asked = await askJson(this.#get(upstream, path), upstream, stop)
      if ('error' in asked) return { kind: 'failed', error: asked.error } as const
      const { data, has_more: hasMore } = asked.body
      const rows = (Array.isArray(data) ? data : []).filter(isObject)
      const same = rows.find((row) => row['input_file_id'] === fileId && isLive(row))
      const upstreamId = same && idIn(same)
      if (upstreamId !== undefined) return { kind: 'found', upstreamId } as const
      const last = rows.at(-1)?.['id']
      if (hasMore !== true || typeof last !== 'string') break
      after = `&after=${encodeURIComponent(last)}`
    }
    return { kind: 'found' } as const
  }

  async check(upstreamId: string, upstream: Upstream, stop: Stop) {
    const path = `/batches/${encodeURIComponent(upstreamId)}`
    return reportIn(await askJson(this.#get(upstream, path), upstream, stop), reportOf)
  }

  async cancel(upstreamId: string, upstream: Upstream, stop: Stop): Promise<void> {
    const path = `/batches/${encodeURIComponent(upstreamId)}/cancel`
    await askJson(this.#post(upstream, path, '{}'), upstream, stop)
  }

  async *results({ results }: BatchReport, upstream: Upstream, stop: Stop) {
    for (const fileId of results) {
      const sent = this.#get(upstream, `/files/${encodeURIComponent(fileId)}/content`)
      yield* readResults(sent, 'file', upstream, stop)
    }
  }

  async remove(files: readonly string[], upstream: Upstream, stop: Stop): Promise<void> {
    const headers = headersFor(this.#style, upstream)
    for (const fileId of files) {
      const path = `${upstream.baseUrl}/files/${encodeURIComponent(fileId)}`
      await askJson(upstream.http.delete(path, headers, upstream.timeouts), upstream, stop)
    }
  }
}

/** White space between values may contain line ends; within texts they are escaped. */
const oneLine = (json: string): string => json.replaceAll(/[\r\n]+/g, ' ')

const formOf = ({ marker, lines }: BatchSource): string =>
  [
    `--${boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n`,
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${marker}.jsonl"\r\n`,
    `content-type: application/jsonl\r\n\r\n${lines}\r\n--${boundary}--\r\n`,
  ].join('')

/** One that came to nothing is not the one that is looked for. */
const isLive = ({ status }: Json): boolean => status !== 'failed'

const running: ReadonlySet<unknown> = new Set([
  'validating',
  'in_progress',
  'finalizing',
  'cancelling',
])

function reportOf(batch: Json): BatchReport | undefined {
  const { status, output_file_id: output, error_file_id: errors } = batch
  if (typeof status !== 'string') return undefined
  const results = [output, errors].filter((id): id is string => typeof id === 'string' && id !== '')
  if (status === 'failed') return { state: 'failed', results: [], error: firstError(batch) }
  if (status === 'completed') return { state: 'ended', results }
  if (status === 'expired' || status === 'cancelled') {
    return { state: 'ended', results, unrun: status }
  }
  return running.has(status) ? { state: 'running', results: [] } : undefined
}

function firstError({ errors }: Json) {
  const list = isObject(errors) ? errors['data'] : errors
  return readErrorEvent(Array.isArray(list) ? list[0] : list, undefined)
}
