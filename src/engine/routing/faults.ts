// Whose fault a failed call is. Only what is the channel's counts against its health, its circuit breaker and
// its keys: a caller must not be able to take a channel from other callers.
import type { UpstreamError } from '../../contract/provider.ts'

/** `channel`: what its upstream did. Documented in docs/run/channels.md. */
type Fault = 'channel' | 'caller' | 'gateway'

const faults = {
  upstream_error: 'channel', // a status of 500 and above, an error in its answer, a connection it broke
  upstream_invalid_response: 'channel', // no answer of its style
  upstream_unreachable: 'channel',
  upstream_timeout: 'channel',
  upstream_outcome_unknown: 'channel',
  upstream_rate_limited: 'channel', // its key
  upstream_permission_denied: 'channel', // its key, or its entitlement to the model
  upstream_invalid_request: 'caller', // any other status of 400 to 499
  context_length_exceeded: 'caller',
  content_policy_violation: 'caller',
  caller_left: 'caller',
  not_translated: 'gateway', // the request was not sent
  answer_not_usable: 'gateway', // a good answer of its style that the gateway could not carry
  internal_error: 'gateway',
  shutting_down: 'gateway',
  stood_still: 'gateway', // the process was stopped or swapped out while the call was under way
} as const satisfies Readonly<Record<string, Fault>>

export type FailureKind = keyof typeof faults

const isKind = (code: string): code is FailureKind => Object.hasOwn(faults, code)

export function failureKind({ code, about }: UpstreamError): FailureKind {
  if (about === 'translation') return 'not_translated'
  if (about === 'answer') return 'answer_not_usable'
  return isKind(code) ? code : 'upstream_error'
}

export const faultOf = (kind: FailureKind): Fault => faults[kind]
