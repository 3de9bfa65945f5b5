// The one table of refusals: every error a caller can get, with its HTTP status and type. Public
// text and private cause are separate fields; http/ renders them.
import type { RateView } from './rate.ts'

type ErrorType =
  | 'authentication_error'
  | 'permission_error'
  | 'insufficient_quota'
  | 'invalid_request_error'
  | 'rate_limit_error'
  | 'upstream_error'
  | 'server_error'

const row = (status: number, type: ErrorType, retry?: boolean) => ({ status, type, retry })

export const refusals = {
  invalid_api_key: row(401, 'authentication_error', false),
  ip_not_allowed: row(403, 'permission_error', false),
  not_permitted: row(403, 'permission_error', false),
  data_policy: row(403, 'permission_error', false),
  insufficient_quota: row(402, 'insufficient_quota', false),
  budget_exhausted: row(402, 'insufficient_quota', false),
  model_not_found: row(404, 'invalid_request_error', false),
  model_not_supported: row(400, 'invalid_request_error', false),
  invalid_request: row(400, 'invalid_request_error', false),
  invalid_duration: row(400, 'invalid_request_error', false),
  invalid_resolution: row(400, 'invalid_request_error', false),
  invalid_seed: row(400, 'invalid_request_error', false),
  too_many_images: row(400, 'invalid_request_error', false),
  task_not_found: row(404, 'invalid_request_error', false),
  video_not_found: row(404, 'invalid_request_error', false),
  operation_not_found: row(404, 'invalid_request_error', false),
  response_not_found: row(404, 'invalid_request_error', false),
  file_not_found: row(404, 'invalid_request_error', false),
  batch_not_found: row(404, 'invalid_request_error', false),
  video_not_ready: row(409, 'invalid_request_error', false),
  video_not_available: row(409, 'invalid_request_error', false),
  video_expired: row(410, 'invalid_request_error', false),
  range_not_satisfiable: row(416, 'invalid_request_error', false),
  task_not_cancellable: row(409, 'invalid_request_error', false),
  upstream_outcome_unknown: row(504, 'upstream_error', false),
  invalid_json: row(400, 'invalid_request_error', false),
  request_too_large: row(413, 'invalid_request_error', false),
  unsupported_media_type: row(415, 'invalid_request_error', false),
  not_found: row(404, 'invalid_request_error', false),
  method_not_allowed: row(405, 'invalid_request_error', false),
  idempotency_mismatch: row(422, 'invalid_request_error', false),
  idempotency_in_flight: row(409, 'invalid_request_error'),
  conflict: row(409, 'invalid_request_error', false),
  nothing_to_refund: row(409, 'invalid_request_error', false),
  refund_exceeds_charge: row(409, 'invalid_request_error', false),
  price_in_force: row(409, 'invalid_request_error', false),
  rate_limit_exceeded: row(429, 'rate_limit_error'),
  upstream_rate_limited: row(429, 'rate_limit_error'),
  upstream_permission_denied: row(502, 'upstream_error', false),
  upstream_invalid_request: row(400, 'invalid_request_error', false),
  context_length_exceeded: row(400, 'invalid_request_error', false),
  content_policy_violation: row(400, 'invalid_request_error', false),
  upstream_error: row(502, 'upstream_error'),
  upstream_invalid_response: row(502, 'upstream_error'),
  upstream_unreachable: row(502, 'upstream_error'),
  upstream_timeout: row(504, 'upstream_error'),
  upstream_task_lost: row(502, 'upstream_error', false),
  no_output: row(502, 'upstream_error', false),
  result_download_failed: row(502, 'upstream_error'),
  no_available_channel: row(503, 'upstream_error'),
  overloaded: row(503, 'server_error'),
  account_stopped: row(503, 'server_error', false),
  internal_error: row(500, 'server_error'),
} as const

export type RefusalCode = keyof typeof refusals

/**
 * Failures of an upstream that tools act on by the words of their style. Sizes are in tokens, where the
 * upstream gave them.
 */
export type FailureReason =
  | { kind: 'input_too_long'; inputTokens?: number; maxTokens?: number }
  /** The input fits, but not together with the output limit of the request. */
  | { kind: 'context_too_small'; inputTokens: number; outputTokens: number; maxTokens: number }
  /** The output limit is above that of the model. */
  | { kind: 'output_limit'; outputTokens?: number; maxTokens: number }
  | { kind: 'invalid_image' }
  /** Reasoning in the request has a seal that the upstream does not accept. */
  | { kind: 'invalid_seal' }
  | { kind: 'overloaded' }

interface RefusalExtras {
  param?: string
  upstreamRequestId?: string
  retryAfterSeconds?: number
  reason?: FailureReason
  /** The state of the caller's rate limits. */
  rate?: RateView
  /** The request that first got this answer: repeating changes nothing. */
  replayOf?: string
  /** Methods that a path accepts. */
  allow?: string
  /** For our own logs only; never rendered. */
  cause?: unknown
}

/** An expected "no", passed around as a value. Not an Error: it needs no stack. */
export class Refusal {
  readonly code: RefusalCode
  readonly message: string
  readonly extras: RefusalExtras

  constructor(code: RefusalCode, message: string, extras: RefusalExtras = {}) {
    this.code = code
    this.message = message
    this.extras = extras
  }

  get status(): number {
    return refusals[this.code].status
  }
}

export const refuse = (code: RefusalCode, message: string, extras?: RefusalExtras): Refusal =>
  new Refusal(code, message, extras)

type Of<Kind> = Extract<FailureReason, { kind: Kind }>

/**
 * Words that the tools of one text style act on, by the kind of failure; a kind without a row is told in
 * the upstream's words alone.
 */
export type FailureWords = {
  readonly [Kind in FailureReason['kind']]?: {
    /** The upstream's text says it already. */
    readonly said: RegExp
    write(reason: Of<Kind>): string
  }
}

/** The text of a failure: in the words of a style, then in the upstream's own. */
export function failureText(
  words: FailureWords,
  { message, extras: { reason } }: Pick<Refusal, 'message' | 'extras'>,
): string {
  if (reason === undefined) return message
  const row = words[reason.kind]
  if (row === undefined || row.said.test(message)) return message
  return `${row.write(reason as never)}. ${message}`
}

export const modelNotFound = (name: string): Refusal =>
  refuse('model_not_found', `model '${name}' does not exist or is not visible to this token`, {
    param: 'model',
  })

/** It is there and this token may use it, but nothing says what it costs. */
export const modelUnpriced = (name: string): Refusal =>
  refuse('model_not_found', `model '${name}' has no price, so it cannot be called yet`, {
    param: 'model',
  })

/** An object of an upstream account: the same whether it exists there or not. */
export const unknownObject = (param: string): Refusal =>
  refuse('not_found', `'${param}' names nothing that this gateway has given to this account`, {
    param,
  })

/** An object that no upstream of the model keeps: clients that are told so send it themselves. */
export const notKept = (param: string): Refusal =>
  refuse(
    'not_found',
    `'${param}' names something that is not kept for this model; send the items themselves, with 'store': false`,
    { param },
  )
