// Calls to the gateway that served this page. A refusal becomes an ApiError with the gateway's own text;
// the end of a session is an event.
import { reportUnreachable, watched } from './connection.ts'

export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly param: string | undefined
  readonly requestId: string

  constructor(
    status: number,
    error: { message?: string; code?: string; param?: string },
    id: string,
  ) {
    super(error.message ?? `status ${status}`)
    this.status = status
    this.code = error.code ?? ''
    this.param = error.param
    this.requestId = id
  }
}

/** The gateway could not be reached. */
export class NoAnswer extends Error {}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

export const signedOut = new EventTarget()

export function queryString(query: Query = {}): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') params.set(name, String(value))
  }
  return params.size === 0 ? '' : `?${params}`
}

interface ApiOptions {
  query?: Query
  body?: unknown
  signal?: AbortSignal
  /** What is sent again under the same key is done once. */
  idempotencyKey?: string
}

/** One call of the admin API; the parsed answer. */
export async function api<T>(method: string, path: string, options: ApiOptions = {}): Promise<T> {
  const { query, body, signal, idempotencyKey } = options
  const response = await reach(`/admin/v1${path}${queryString(query)}`, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  })
  return parseResponse<T>(response)
}

/** As fetch; a call without an answer is reported, unless it was given up here. */
async function reach(address: string, init: RequestInit): Promise<Response> {
  try {
    return await watched(fetch(address, init))
  } catch (error) {
    if (init.signal?.aborted === true) throw error
    reportUnreachable()
    throw new NoAnswer(String(error))
  }
}

export async function parseResponse<T>(response: Response): Promise<T> {
  const id = response.headers.get('x-gateway-request-id') ?? ''
  const text = await response.text()
  let answer: unknown
  try {
    answer = text === '' ? null : JSON.parse(text)
  } catch {
    throw new ApiError(response.status, { message: text.slice(0, 500) }, id)
  }
  if (response.ok) return answer as T
  const { error = {} } = (answer ?? {}) as { error?: object }
  if (response.status === 401) signedOut.dispatchEvent(new Event('signed-out'))
  throw new ApiError(response.status, error, id)
}

export interface Page<T> {
  items: T[]
  next_cursor: string | null
}

/** Links the gateway hands out name its public address; here they are opened where we are. */
export function localPath(link: string): string {
  const url = URL.parse(link, location.origin)
  if (url === null || !isWebAddress(url.href)) return '/'
  // Two slashes would be another host.
  return url.pathname.replace(/^\/+/, '/') + url.search
}

/** Whether a browser that opens it goes to a site; everything else could run as ours. */
export const isWebAddress = (link: string): boolean =>
  /^https?:$/.test(URL.parse(link)?.protocol ?? '')
