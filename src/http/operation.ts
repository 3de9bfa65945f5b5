// The description of one operation for documents: request, answers and refusals. Each surface and each
// admin resource has a list of them; no call runs any of this.
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
  /** For a stream: the schema of its events, and the text that ends it. */
  events?: { schema: Schema; end?: string }
  /** By name; tests send the ones of requests. */
  examples?: Readonly<Record<string, unknown>>
}

export interface Answer {
  status: number
  description: string
  /** By media type; absent: no body. */
  content?: Readonly<Record<string, Content>>
  /** Names from the header table, besides those of every answer. */
  headers?: readonly HeaderName[]
}

export interface Operation {
  id: string
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** `/v1/videos/{id}` */
  path: string
  /** The router's pattern, where it differs. */
  routed?: string
  tag: string
  summary: string
  description?: string
  /** `token`: wherever the surface with this path accepts one. */
  credential: 'token' | 'admin' | 'none'
  parameters?: readonly Parameter[]
  body?: { content: Readonly<Record<string, Content>>; required?: boolean }
  answers: readonly Answer[]
  refusals: readonly RefusalCode[]
  /** The callback that is posted to the address in this field of the body. */
  callback?: { field: string; schema: Schema }
}

const headerTexts = {
  'retry-after': 'Seconds to wait before the next attempt or the next poll.',
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

/** `invalid_request`: for a request target that is not a valid path. */
const always: readonly RefusalCode[] = ['internal_error', 'overloaded', 'invalid_request']

/** For every operation that needs a token. */
export const callerRefusals: readonly RefusalCode[] = [
  ...always,
  'invalid_api_key',
  'ip_not_allowed',
  'data_policy',
]

/** For every operation with a JSON or form body. */
export const bodyRefusals: readonly RefusalCode[] = [
  'invalid_json',
  'request_too_large',
  'unsupported_media_type',
]

/** For every operation that is admitted, routed and charged. */
export const workRefusals: readonly RefusalCode[] = [
  ...callerRefusals,
  ...bodyRefusals,
  'insufficient_quota',
  'budget_exhausted',
  'model_not_found',
  'model_not_supported',
  'rate_limit_exceeded',
  'upstream_rate_limited',
  'upstream_permission_denied',
  'upstream_invalid_request',
  'context_length_exceeded',
  'content_policy_violation',
  'upstream_error',
  'upstream_invalid_response',
  'upstream_unreachable',
  'upstream_timeout',
  'no_available_channel',
  'account_stopped',
]

export const openRefusals = always
