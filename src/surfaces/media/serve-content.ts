// A finished file as a download: the bytes under the gateway's own headers, whole or a part. Knows no
// dialect.

import type { CallerApi, Content, ContentBody, ContentOptions } from '../../contract/caller-api.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { OutputMedia, Task } from '../../contract/task.ts'
import { answerRefusal } from '../../http/render-error.ts'
import { answerHeaders, type RequestContext } from '../../http/request-context.ts'
import { hasTag } from '../../lib/http/byte-range.ts'

/** A `fileName` without an extension gets that of its type. */
export async function serveContent(
  api: CallerApi,
  x: RequestContext,
  task: Task,
  fileName: string,
  file: OutputMedia['kind'] | number = 'video',
): Promise<Response | Refusal> {
  x.connection.keepOpen()
  const content = await api.openContent(task, { ...inputOf(x), file })
  return content instanceof Refusal ? content : answerContent(x, content, fileName)
}

/** Only a GET has a range. */
export function inputOf({ request: { method, headers, signal } }: RequestContext): ContentOptions {
  const range = method === 'GET' ? rangeIn(headers.get('range')) : undefined
  const ifRange = headers.get('if-range')?.trim()
  return { signal, range, ...(range !== undefined && { ifRange }) }
}

/** Several ranges, or an invalid one, mean the whole file. */
function rangeIn(text: string | null): string | undefined {
  const range = text?.trim() ?? ''
  const parts = /^bytes=(?:(\d{1,15})-(\d{0,15})|-\d{1,15})$/.exec(range)
  if (parts === null) return undefined
  const [, first, last] = parts
  return first !== undefined && last !== '' && Number(last) < Number(first) ? undefined : range
}

export async function answerContent(
  x: RequestContext,
  content: Content,
  fileName: string,
): Promise<Response | Refusal> {
  if (content.status === 416) return unsatisfiable(x, content.sizeBytes)
  if (content.status === 302) return redirect(x, content.location)
  const headers = contentHeaders(x, fileName, content)
  const { etag } = content
  const known = x.request.headers.get('if-none-match') ?? undefined
  if (etag !== undefined && hasTag(known, etag)) {
    await dropContent(content)
    return new Response(null, { status: 304, headers: withoutLength(headers) })
  }
  if (x.request.method === 'HEAD') {
    await dropContent(content)
    return new Response(null, { status: content.status, headers })
  }
  const body = await bodyOf(content)
  x.connection.keepOpen(readerIdleSeconds)
  return body instanceof Refusal ? body : new Response(body, { status: content.status, headers })
}

/** An open body that is not read occupies its connection. */
async function dropContent({ body }: ContentBody): Promise<void> {
  if (body instanceof ReadableStream) await body.cancel().catch(() => {})
}

const withoutLength = ({ 'content-length': _, ...rest }: Record<string, string>) => rest

function unsatisfiable(x: RequestContext, sizeBytes: number | undefined): Response {
  const answer = answerRefusal(x, refuse('range_not_satisfiable', 'the file has no such part'))
  if (sizeBytes !== undefined) answer.headers.set('content-range', `bytes */${sizeBytes}`)
  return answer
}

function redirect(x: RequestContext, location: string): Response {
  const headers = answerHeaders(x, 'text/plain')
  // The address is valid for a limited time.
  return new Response(null, {
    status: 302,
    headers: { ...headers, location, 'cache-control': 'no-store' },
  })
}

/** A reader that takes nothing for this long has left; it is the maximum of the server. */
const readerIdleSeconds = 240

/** Up to this size a body is read before it is sent. */
const wholeBytes = 2 * 1024 * 1024

/**
 * The server sends a stream in chunks, without a length. A short body, such as the ranges that players
 * request, is read first: then it has a length, and a broken one is an error.
 */
async function bodyOf({
  body,
  lengthBytes,
}: ContentBody): Promise<ContentBody['body'] | Buffer<ArrayBuffer> | Refusal> {
  if (body instanceof Blob || lengthBytes === undefined || lengthBytes > wholeBytes) return body
  const whole = Buffer.allocUnsafeSlow(lengthBytes)
  let size = 0
  try {
    for await (const chunk of body) {
      if (size + chunk.byteLength > lengthBytes) return brokenOff('more bytes than announced')
      whole.set(chunk, size)
      size += chunk.byteLength
    }
  } catch (cause) {
    return brokenOff(cause)
  }
  return size === lengthBytes ? whole : brokenOff(`${size} bytes`)
}

const brokenOff = (cause: unknown): Refusal =>
  refuse('upstream_invalid_response', 'the file could not be read completely', { cause })

const endings: Readonly<Record<string, string>> = {
  'video/mp4': '.mp4',
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/webp': '.webp',
}

/** The file is not ours: opened by itself it may be shown and played, but runs nothing. */
const inert = "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'"

function contentHeaders(
  x: RequestContext,
  fileName: string,
  { contentType, lengthBytes, contentRange, etag }: ContentBody,
): Record<string, string> {
  const headers = answerHeaders(x, contentType)
  const ending = fileName.includes('.') ? '' : (endings[contentType] ?? '')
  headers['accept-ranges'] = 'bytes'
  const isKnown = Object.hasOwn(endings, contentType)
  headers['content-disposition'] =
    `${isKnown ? 'inline' : 'attachment'}; filename="${fileName}${ending}"`
  headers['x-content-type-options'] = 'nosniff'
  headers['content-security-policy'] = inert
  if (lengthBytes !== undefined) headers['content-length'] = String(lengthBytes)
  if (contentRange !== undefined) headers['content-range'] = contentRange
  if (etag !== undefined) headers['etag'] = etag
  return headers
}
