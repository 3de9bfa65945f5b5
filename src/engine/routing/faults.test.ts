// Whose fault a failure is.
import { expect, test } from 'bun:test'
import type { UpstreamError } from '../../contract/provider.ts'
import { failureKind, faultOf } from './faults.ts'

const message = 'it failed'

test.each<[UpstreamError, string]>([
  [{ code: 'upstream_error', message }, 'channel'],
  [{ code: 'upstream_timeout', message }, 'channel'],
  [{ code: 'upstream_unreachable', message }, 'channel'],
  [{ code: 'upstream_invalid_response', message }, 'channel'],
  [{ code: 'upstream_rate_limited', message, about: 'key' }, 'channel'],
  [{ code: 'upstream_permission_denied', message, about: 'model' }, 'channel'],
  [{ code: 'upstream_invalid_request', message }, 'caller'],
  [{ code: 'context_length_exceeded', message }, 'caller'],
  [{ code: 'content_policy_violation', message }, 'caller'],
  [{ code: 'invalid_request', message, about: 'translation' }, 'gateway'],
  [{ code: 'upstream_invalid_response', message, about: 'answer' }, 'gateway'],
  [{ code: 'internal_error', message }, 'gateway'],
  [{ code: 'overloaded', message }, 'channel'],
])('%j is that of the %s', (error, fault) => {
  expect(faultOf(failureKind(error))).toBe(fault as ReturnType<typeof faultOf>)
})

test('of calls whose end says nothing about the upstream is not that of the channel', () => {
  for (const kind of ['caller_left', 'shutting_down', 'stood_still'] as const) {
    expect(faultOf(kind)).not.toBe('channel')
  }
})
