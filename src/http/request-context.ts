// One request and its answer: the id on every response, and the only place that makes responses.
import type { AnswerStream, OwnCall } from '../contract/caller-api.ts'
import type { Viewer } from '../contract/people.ts'
import type { CallTrace } from '../contract/requests.ts'
import { newId } from '../lib/crypto/ids.ts'
import { type Dialect, plainDialect } from './dialect.ts'
import { bodyOf } from './stream-body.ts'

export interface RequestContext {
  readonly requestId: string
  readonly atMs: number
  readonly request: Request
  /** Of the surface that serves it: some have other paths that stand for theirs. */
  path: string
  readonly connection: Connection
  /** That of the surface with this path. */
  dialect: Dialect
  /** On the admin API: the caller. */
  viewer?: Viewer
  /** The trace it belongs to, if any. */
  trace?: CallTrace
  /** The account whose token it came with. */
  payer?: string
  /** Set when the gateway makes it itself: whose it is is known. */
  own?: OwnCall
  /** Gives back the room that a large body has taken; called with the answer. */
  releaseBody?: () => void
}

export interface Connection {
  /** The caller's address, also behind trusted proxies. */
  ip(): string | undefined
  /** From here on the connection may be idle until the answer is complete, or for this long. */
  keepOpen(idleSeconds?: number): void
  /** The answer is complete: from here on only the caller delays it, which has a short limit. */
  answerReady?(): void
}

export function newRequestContext(
  request: Request,
  connection: Connection,
  atMs: number = Date.now(),
  dialectAt?: (path: string) => Dialect,
): RequestContext {
  const path = pathOf(request.url)
  const dialect = dialectAt?.(path) ?? plainDialect
  return { requestId: newId('req', atMs), atMs, request, path, connection, dialect }
}

/**
 * The path of a URL without parsing all of it; callers of HTTP/1.0 may send only the path. A slash at the
 * end is ignored, except in the console, whose pages are below one.
 */
function pathOf(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  if (start === -1) return '/'
  const query = url.indexOf('?', start)
  const end = query === -1 ? url.length : query
  const isSlashed = url.charCodeAt(end - 1) === 0x2f && end - start > 1
  return isSlashed && !url.startsWith('/console/', start)
    ? url.slice(start, end - 1)
    : url.slice(start, end)
}

export type AnswerHeaders = Record<string, string>

/** Headers of every answer: the request id under each name an SDK looks for, and CORS if asked. */
export function answerHeaders(x: RequestContext, contentType: string): AnswerHeaders {
  const headers: AnswerHeaders = {
    'content-type': contentType,
    'x-gateway-request-id': x.requestId,
    'x-request-id': x.requestId,
    'request-id': x.requestId,
  }
  const origin = x.request.headers.get('origin')
  if (origin !== null && x.dialect.browsers) {
    headers['access-control-allow-origin'] = origin
    headers['access-control-expose-headers'] = exposed
    headers['vary'] = 'origin'
  }
  return headers
}

export function answerJson(
  x: RequestContext,
  body: string | Uint8Array<ArrayBuffer>,
  status = 200,
  extra?: AnswerHeaders,
): Response {
  const headers = answerHeaders(x, 'application/json')
  x.connection.answerReady?.()
  if (extra !== undefined) Object.assign(headers, extra)
  return new Response(body, { status, headers })
}

export function answerStream(
  x: RequestContext,
  stream: AnswerStream,
  extra?: AnswerHeaders,
): Response {
  return new Response(
    bodyOf(stream, () => x.connection.keepOpen(1)),
    { headers: streamHeaders(x, extra) },
  )
}

/** Events that are all there. */
export const answerEvents = (x: RequestContext, events: string): Response =>
  new Response(events, { headers: streamHeaders(x) })

function streamHeaders(x: RequestContext, extra?: AnswerHeaders): AnswerHeaders {
  const headers = answerHeaders(x, 'text/event-stream; charset=utf-8')
  if (extra !== undefined) Object.assign(headers, extra)
  headers['cache-control'] = 'no-cache'
  headers['x-accel-buffering'] = 'no'
  return headers
}

const exposed =
  'x-gateway-request-id, x-request-id, request-id, retry-after, x-should-retry, ' +
  'openai-poll-after-ms, x-gateway-estimated, x-gateway-translation, x-gateway-translation-loss, ' +
  'x-gateway-served-model, x-gateway-charge, x-gateway-currency, ' +
  'idempotent-replayed, ' +
  'accept-ranges, content-range, content-disposition, etag, ' +
  ['limit', 'remaining', 'reset']
    .flatMap((what) => [`x-ratelimit-${what}-requests`, `x-ratelimit-${what}-tokens`])
    .join(', ')

/** The answer to a CORS preflight. Cookies are never allowed. */
export function answerPreflight(x: RequestContext): Response {
  const headers = answerHeaders(x, 'text/plain')
  const asked = x.request.headers.get('access-control-request-headers')
  headers['access-control-allow-methods'] = 'GET, HEAD, POST, DELETE, OPTIONS'
  headers['access-control-allow-headers'] = asked ?? 'authorization, content-type'
  headers['access-control-max-age'] = '86400'
  return new Response(null, { status: 204, headers })
}
