// HTTP to the gateway: one call, its JSON answer, or a Stop that says in one sentence what went
// wrong. It knows no resource and prints nothing.
import { isObject } from '../../lib/json/parse.ts'
import { printable } from './show.ts'
import { exitCodes, misuse, Refused, Stop } from './stop.ts'

/** A recomputation of every balance is the slowest call there is. */
const adminTimeoutMs = 300_000

interface Ask {
  query?: Readonly<Record<string, string | number | undefined>>
  /** Sent as JSON; a blob is sent as it is, with its type. */
  body?: unknown
  headers?: Readonly<Record<string, string>>
}

export interface Admin {
  ask(method: string, path: string, options?: Ask): Promise<unknown>
  /** An answer that is no JSON, to be read bit by bit; without a limit of time. */
  open(method: string, path: string, options?: Ask): Promise<Response>
}

export function openAdmin(url: string, findToken: () => string | undefined): Admin {
  const send = async (
    method: string,
    path: string,
    { query = {}, body, headers: more = {} }: Ask,
    limit?: AbortSignal,
  ) => {
    const token = findToken()
    const headers: Record<string, string> = { accept: 'application/json, */*', ...more }
    if (token !== undefined) headers['authorization'] = `Bearer ${token}`
    if (body !== undefined) headers['content-type'] = typeOf(body)
    const response = await reach(url, `/admin/v1${path}${queryOf(query)}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: body instanceof Blob ? body : JSON.stringify(body) }),
      ...(limit !== undefined && { signal: limit }),
    })
    if (response.status === 401 && token === undefined) {
      await response.body?.cancel()
      throw noAdminToken
    }
    return response
  }
  return {
    ask: async (method, path, options = {}) =>
      answerOf(await send(method, path, options, AbortSignal.timeout(adminTimeoutMs)), url),
    async open(method, path, options = {}) {
      const response = await send(method, path, options)
      // A refusal says why, as everywhere.
      if (!response.ok) await answerOf(response, url)
      return response
    },
  }
}

const typeOf = (body: unknown): string => (body instanceof Blob ? body.type : 'application/json')

const noAdminToken = new Stop(
  exitCodes.refused,
  'no admin token: give --admin-token, set GATEWAY_ADMIN_TOKEN, or point ' +
    "GATEWAY_DATA_DIR at the gateway's data, where the file admin-token lies",
)

function queryOf(query: Readonly<Record<string, string | number | undefined>>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) params.set(name, String(value))
  }
  return params.size === 0 ? '' : `?${params}`
}

/** Redirects are not followed: the bearer token is meant for this address alone. */
export async function reach(url: string, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url + path, { ...init, redirect: 'manual' })
  } catch (error) {
    throw connectionStop(error, url)
  }
}

function connectionStop(error: unknown, url: string): Stop {
  const { name, code } = error as { name?: string; code?: string }
  if (name === 'TimeoutError') {
    return new Stop(exitCodes.unreachable, `the gateway at ${url} did not answer in time`)
  }
  // A header with a line break in it never leaves this machine.
  if (name === 'TypeError' && code === undefined) return misuse('the token holds odd characters')
  return new Stop(
    exitCodes.unreachable,
    `no gateway answers at ${url} (${code ?? name ?? 'no connection'}): ` +
      'start it with gateway start, or name its address with --url or GATEWAY_URL',
  )
}

/** The parsed answer of a success; null for an empty one. */
export async function answerOf(response: Response, url: string): Promise<unknown> {
  let text: string
  try {
    text = await response.text()
  } catch (error) {
    throw connectionStop(error, url)
  }
  const answer = parseJson(text)
  if (!response.ok) {
    throw new Refused(
      refusalSentence(response.status, answer, requestId(response)),
      response.status,
    )
  }
  if (answer === undefined) {
    throw new Stop(exitCodes.refused, `${url} answered without JSON: is that the gateway?`)
  }
  return answer
}

export const requestId = (response: Response): string | undefined =>
  response.headers.get('x-gateway-request-id') ?? undefined

function parseJson(text: string): unknown {
  if (text.trim() === '') return null
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The gateway's own message; the request id is added where the message does not hold it. */
export function refusalSentence(status: number, answer: unknown, headerId?: string): string {
  const error = isObject(answer) && isObject(answer['error']) ? answer['error'] : {}
  const message = typeof error['message'] === 'string' ? error['message'] : `status ${status}`
  const id = typeof error['request_id'] === 'string' ? error['request_id'] : headerId
  const sentence = printable(message).replace(/\s+/g, ' ').trim()
  return id === undefined || sentence.includes(id) ? sentence : `${sentence} (request id ${id})`
}
