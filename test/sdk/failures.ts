// What fails for every SDK alike: calls that the gateway refuses, and calls that fail upstream. How
// an SDK shows it is its own.
import { models, tokens } from './stage.ts'

export interface Failing {
  what: string
  status: number
  code: string
  token?: string
  model?: string
  content?: string
}

/** Error classes that SDKs have by the same names. */
export type ErrorClass =
  | 'APIError'
  | 'AuthenticationError'
  | 'BadRequestError'
  | 'InternalServerError'
  | 'NotFoundError'
  | 'PermissionDeniedError'
  | 'RateLimitError'

/** The messages style has a status of its own for overload. */
export const statusInMessages = (status: number): number => (status === 503 ? 529 : status)

/** Whatever the upstream speaks. */
export const refusals: readonly Failing[] = [
  { what: 'an unknown token', status: 401, code: 'invalid_api_key', token: tokens.unknown },
  { what: 'a token used elsewhere', status: 403, code: 'ip_not_allowed', token: tokens.elsewhere },
  { what: 'an empty account', status: 402, code: 'insufficient_quota', token: tokens.broke },
  { what: 'an unknown model', status: 404, code: 'model_not_found', model: 'nope' },
  {
    what: 'a model of another kind',
    status: 400,
    code: 'model_not_supported',
    model: models.embedding,
  },
]

export const upstreamFailures: readonly Failing[] = [
  {
    what: "the upstream's refusal",
    status: 400,
    code: 'upstream_invalid_request',
    content: '[[sim:status=400]]',
  },
  {
    what: 'refused content',
    status: 400,
    code: 'content_policy_violation',
    content: '[[sim:fail=content_policy]]',
  },
  {
    what: "the upstream's rate limit",
    status: 429,
    code: 'upstream_rate_limited',
    content: '[[sim:status=429]]',
  },
  { what: 'an upstream that fails', status: 502, code: 'upstream_error', content: '[[sim:fail]]' },
  {
    what: 'an upstream with too much to do',
    status: 503,
    code: 'overloaded',
    content: '[[sim:status=529]]',
  },
  {
    what: "the gateway's key unknown upstream",
    status: 502,
    code: 'upstream_permission_denied',
    content: '[[sim:status=401]]',
  },
  {
    what: "the gateway's key refused",
    status: 502,
    code: 'upstream_permission_denied',
    content: '[[sim:status=403]]',
  },
]

/** A failure, and how many calls upstream it makes with one retry allowed. */
export const tries: [string, string, number][] = [
  ['a rate limit', 'status=429', 2],
  ['an upstream failure', 'status=503', 2],
  // A 502 like the one before, but with x-should-retry: false.
  ['a refused key', 'status=401', 1],
  ['a refused request', 'status=400', 1],
]

/** How a stream breaks after it has begun. */
export const breaking = ['cut=9', 'error-after=9']

/** What makes an upstream withhold its answer, or the rest of it. */
export const withholding = ['[[sim:refusal]]', '[[sim:finish=filtered]]'] as const
