// One call of an interface as documents tell of it: what goes in, what comes out, and which refusals
// can. Beside each surface and each admin resource lies such a list; nothing here is run for a call.
import type { RefusalCode } from '../contract/errors.ts'
import type { Schema } from './schema.ts'

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  schema: Schema
  description?: string
  required?: boolean
}

export interface Content {
  schema: Schema
  /** Of a stream: what each event is, and the text that ends it. */
  events?: { schema: Schema; end?: string }
  /** By name; tests send those of requests. */
  examples?: Readonly<Record<string, unknown>>
}

export interface Answer {
  status: number
  description: string
  /** By media type; none: there is no body. */
  content?: Readonly<Record<string, Content>>
  /** Names of the table of headers, besides those of every answer. */
  headers?: readonly HeaderName[]
}

export interface Operation {
  id: string
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** `/v1/videos/{id}` */
  path: string
  /** As the router has it, where that is not the same. */
  routed?: string
  tag: string
  summary: string
  description?: string
  /** `token`: in the ways of the surface whose path it is. */
  credential: 'token' | 'admin' | 'none'
  parameters?: readonly Parameter[]
  body?: { content: Readonly<Record<string, Content>>; required?: boolean }
  answers: readonly Answer[]
  refusals: readonly RefusalCode[]
  /** What is posted to the address in this field of the body. */
  callback?: { field: string; schema: Schema }
}

const headerTexts = {
  'retry-after': 'Seconds to wait before the next try or the next look.',
  'openai-poll-after-ms': 'The same in milliseconds, for SDKs that poll.',
  'x-should-retry': '`false`: the same request will not do better.',
  'x-gateway-estimated': '`true`: the gateway counted, no upstream did.',
  'idempotent-replayed': '`true`: the answer to the first request with this key.',
  'x-ratelimit-limit-requests': 'Requests per minute of this token.',
  'x-ratelimit-remaining-requests': 'How many of them are left now.',
  'x-ratelimit-reset-requests': 'Until all of them are back, such as `1.5s`.',
  'x-ratelimit-limit-tokens': 'Text tokens per minute of this token.',
  'x-ratelimit-remaining-tokens': 'How many of them are left now.',
  'x-ratelimit-reset-tokens': 'Until all of them are back, such as `1.5s`.',
  'content-disposition': 'Whether to show or to keep the file, and its name.',
  'content-length': 'Bytes of the body, where they are known before.',
  'content-range': 'Which bytes of how many.',
  'accept-ranges': '`bytes`',
  etag: 'Names this content; for `If-None-Match` and `If-Range`.',
  location: 'Where it is.',
  'set-cookie': 'The session, or its end.',
  allow: 'Methods that this path does take.',
} as const

export type HeaderName = keyof typeof headerTexts
export const headerTable: Readonly<Record<HeaderName, string>> = headerTexts

/** On every answer, all with the same value. */
export const idHeaders = ['x-gateway-request-id', 'x-request-id', 'request-id'] as const

export const rateNames = (Object.keys(headerTexts) as HeaderName[]).filter((name) =>
  name.startsWith('x-ratelimit-'),
)

export const json = (
  schema: Schema,
  examples?: Content['examples'],
): Readonly<Record<string, Content>> => ({
  'application/json': { schema, ...(examples !== undefined && { examples }) },
})

export const answered = (
  schema: Schema,
  description: string,
  more: Partial<Answer> = {},
): Answer => ({ status: 200, description, content: json(schema), ...more })

const parameter =
  (place: Parameter['in'], required: boolean) =>
  (name: string, schema: Schema, description?: string): Parameter => ({
    name,
    in: place,
    schema,
    required,
    ...(description !== undefined && { description }),
  })

export const inPath = parameter('path', true)
export const inQuery = parameter('query', false)
export const inHeader = parameter('header', false)

/** `invalid_request`: of a target that no path may be written as. */
const always: readonly RefusalCode[] = ['internal_error', 'overloaded', 'invalid_request']

/** Of whatever is asked with a token. */
export const callerRefusals: readonly RefusalCode[] = [
  ...always,
  'invalid_api_key',
  'ip_not_allowed',
]

/** Of whatever has a body of JSON or a form. */
export const bodyRefusals: readonly RefusalCode[] = [
  'invalid_json',
  'request_too_large',
  'unsupported_media_type',
]

/** Of whatever is admitted, routed and charged. */
export const workRefusals: readonly RefusalCode[] = [
  ...callerRefusals,
  ...bodyRefusals,
  'insufficient_quota',
  'model_not_found',
  'model_not_supported',
  'rate_limit_exceeded',
  'upstream_rate_limited',
  'upstream_permission_denied',
  'upstream_invalid_request',
  'content_policy_violation',
  'upstream_error',
  'upstream_invalid_response',
  'upstream_unreachable',
  'upstream_timeout',
  'no_available_channel',
  'account_stopped',
]

export const openRefusals = always
