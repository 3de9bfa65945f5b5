// Batches of upstreams that take them as files: the lines are uploaded, a batch is made of the file, and its
// results are files again. One that was made although its create was cut off is found by its file.
import type {
  BatchProvider,
  BatchReport,
  BatchResult,
  BatchSource,
  Stop,
  Upstream,
} from '../../contract/provider.ts'
import { isObject } from '../../lib/json/parse.ts'
import { spansIn } from '../../lib/json/spans.ts'
import { readErrorEvent } from '../common/errors.ts'
import { isPlainId } from '../tasks/fields.ts'
import type { Json, TextStyle } from '../text/style.ts'
import { askJson, headersFor, isFinal, notOne, readResults } from './ask.ts'

const boundary = 'model-gateway-batch'
/** Of a list of batches, newest first. */
const pageRows = 100
const maxPages = 20

export const fileBatches = (style: TextStyle): BatchProvider => {
  const url = `/v1${style.path}`
  const at = (upstream: Upstream, path: string) => upstream.baseUrl + path
  const get = (upstream: Upstream, path: string) =>
    upstream.http.get(at(upstream, path), headersFor(style, upstream), upstream.timeouts)
  const post = (upstream: Upstream, path: string, body: string, type = 'application/json') => {
    const headers = { ...headersFor(style, upstream), 'content-type': type }
    return upstream.http.post(at(upstream, path), headers, body, upstream.timeouts)
  }
  return {
    idOf: ({ customId }) => customId,
    line: (id, body) =>
      `{"custom_id":${JSON.stringify(id)},"method":"POST","url":"${url}","body":${oneLine(body)}}`,

    async upload(source, upstream, stop) {
      const type = `multipart/form-data; boundary=${boundary}`
      const asked = await askJson(post(upstream, '/files', formOf(source), type), upstream, stop)
      if ('error' in asked) return { kind: 'failed', error: asked.error }
      const fileId = idIn(asked.body)
      return fileId === undefined
        ? { kind: 'failed', error: notOne() }
        : { kind: 'uploaded', fileId }
    },

    async create({ marker, fileId }, upstream, stop) {
      const body = JSON.stringify({
        input_file_id: fileId,
        endpoint: url,
        completion_window: '24h',
        metadata: { gateway_part: marker },
      })
      const asked = await askJson(post(upstream, '/batches', body), upstream, stop)
      if ('error' in asked) {
        const kind = !('cause' in asked) && isFinal(asked.error) ? 'refused' : 'unknown'
        return { kind, error: asked.error }
      }
      const upstreamId = idIn(asked.body)
      return upstreamId === undefined
        ? { kind: 'unknown', error: notOne() }
        : { kind: 'created', upstreamId }
    },

    async find({ fileId }, upstream, stop) {
      let after = ''
      for (let page = 0; page < maxPages; page++) {
        const path = `/batches?limit=${pageRows}${after}`
        const asked = await askJson(get(upstream, path), upstream, stop)
        if ('error' in asked) return { kind: 'failed', error: asked.error }
        const { data, has_more: hasMore } = asked.body
        const rows = (Array.isArray(data) ? data : []).filter(isObject)
        const same = rows.find((row) => row['input_file_id'] === fileId && isLive(row))
        const upstreamId = same && idIn(same)
        if (upstreamId !== undefined) return { kind: 'found', upstreamId }
        const last = rows.at(-1)?.['id']
        if (hasMore !== true || typeof last !== 'string') break
        after = `&after=${encodeURIComponent(last)}`
      }
      return { kind: 'found' }
    },

    async check(upstreamId, upstream, stop) {
      const path = `/batches/${encodeURIComponent(upstreamId)}`
      const asked = await askJson(get(upstream, path), upstream, stop)
      if ('error' in asked) return { kind: 'failed', error: asked.error }
      const report = reportOf(asked.body)
      return report === undefined ? { kind: 'failed', error: notOne() } : { kind: 'report', report }
    },

    async cancel(upstreamId, upstream, stop) {
      const path = `/batches/${encodeURIComponent(upstreamId)}/cancel`
      await askJson(post(upstream, path, '{}'), upstream, stop)
    },

    async *results({ results }, upstream, stop) {
      for (const fileId of results) {
        const sent = get(upstream, `/files/${encodeURIComponent(fileId)}/content`)
        for await (const { text } of readResults(sent, upstream, stop)) {
          const result = resultIn(text)
          if (result !== undefined) yield result
        }
      }
    },

    async remove(files, upstream, stop: Stop) {
      for (const fileId of files) {
        const path = at(upstream, `/files/${encodeURIComponent(fileId)}`)
        const headers = headersFor(style, upstream)
        await askJson(upstream.http.delete(path, headers, upstream.timeouts), upstream, stop)
      }
    },
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

const idIn = ({ id }: Json): string | undefined =>
  typeof id === 'string' && isPlainId(id) ? id : undefined

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

/** Undefined: no line of ours. */
function resultIn(text: string): BatchResult | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(value) || typeof value['custom_id'] !== 'string') return undefined
  const { custom_id: id, response, error } = value
  const status = isObject(response) ? response['status_code'] : undefined
  if (isObject(response) && typeof status === 'number' && response['body'] != null) {
    const { request_id: requestId } = response
    return {
      ...{ id, status, body: bodyIn(text) },
      ...(typeof requestId === 'string' && { upstreamRequestId: requestId }),
    }
  }
  const { code, message } = isObject(error) ? error : {}
  const unrun =
    code === 'batch_expired' ? 'expired' : code === 'batch_cancelled' ? 'cancelled' : 'failed'
  return { id, unrun, message: typeof message === 'string' ? message : '' }
}

/** As it stands there. */
function bodyIn(text: string): string {
  const within = (start: number, name: string) =>
    spansIn(text, start).findLast(({ key }) => key === name)!
  const { start, end } = within(within(text.indexOf('{'), 'response').start, 'body')
  return text.slice(start, end)
}
