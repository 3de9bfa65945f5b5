import { expect, test } from 'bun:test'
import { type RefusalCode, refusals, refuse } from '../../contract/errors.ts'
import { createDialects } from '../../http/dialect.ts'
import { errorBody } from '../../http/render-error.ts'
import { envelopeCodeOf } from './error-code.ts'
import { imgvendor } from './index.ts'

const withToken = new Request('http://localhost/', { headers: { authorization: 'Bearer x' } })
const numberOf = (code: RefusalCode, request = withToken) =>
  envelopeCodeOf(refuse(code, 'no'), request)

test.each<[RefusalCode, number]>([
  ['invalid_api_key', 1002],
  ['ip_not_allowed', 1304],
  ['insufficient_quota', 1102],
  ['invalid_json', 1200],
  ['invalid_request', 1201],
  ['invalid_resolution', 1201],
  ['model_not_supported', 1201],
  ['upstream_invalid_request', 1201],
  ['method_not_allowed', 1202],
  ['model_not_found', 1203],
  ['task_not_found', 1203],
  ['content_policy_violation', 1301],
  ['rate_limit_exceeded', 1302],
  ['upstream_rate_limited', 1303],
  ['upstream_permission_denied', 5000],
  ['internal_error', 5000],
  ['overloaded', 5001],
  ['no_available_channel', 5001],
  ['upstream_timeout', 5002],
  ['upstream_outcome_unknown', 5002],
])('%s is %d', (code, number) => {
  expect(numberOf(code)).toBe(number)
})

test('who brings no token is told so', () => {
  expect(numberOf('invalid_api_key', new Request('http://localhost/'))).toBe(1001)
})

test('no refusal is a success', () => {
  for (const code of Object.keys(refusals) as RefusalCode[]) {
    expect(numberOf(code)).toBeGreaterThanOrEqual(1000)
  }
})

test('only image tasks have the envelope', () => {
  const refusal = refuse('task_not_found', 'no')
  const { at } = createDialects([imgvendor])
  const keys = (path: string) => Object.keys(JSON.parse(errorBody(refusal, 'req_1', at(path))))
  expect(keys('/imgvendor/v1/images/x')).toEqual(['code', 'message', 'request_id', 'error'])
  expect(keys('/v1/images/generations')).toEqual(['error'])
})
