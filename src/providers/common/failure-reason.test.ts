// Failures that tools act on, in the words of many servers.
import { describe, expect, test } from 'bun:test'
import type { FailureReason } from '../../contract/errors.ts'
import { codeOfReason, isOverload, requestReason } from './failure-reason.ts'

const tooLong = (inputTokens?: number, maxTokens?: number): FailureReason => ({
  kind: 'input_too_long',
  ...(inputTokens !== undefined && { inputTokens }),
  ...(maxTokens !== undefined && { maxTokens }),
})

describe('an input that is too long', () => {
  test.each<[string, FailureReason]>([
    ['context_length_exceeded invalid_request_error no more is said', tooLong()],
    [
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      tooLong(9000, 8192),
    ],
    [
      "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages, 500 in the completion).",
      tooLong(4500, 4096),
    ],
    ['prompt is too long: 203456 tokens > 200000 maximum', tooLong(203456, 200000)],
    [
      'litellm.BadRequestError: prompt is too long: 203456 tokens > 200000 maximum',
      tooLong(203456, 200000),
    ],
    [
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      tooLong(1200000, 1048576),
    ],
    ['Range of input length should be [1, 129024]', tooLong(undefined, 129024)],
    ['Input is too long for requested model.', tooLong()],
    ['the request exceeds the available context size, try increasing it', tooLong()],
    ['request (9000 tokens) exceeds the available context size (8192 tokens)', tooLong(9000, 8192)],
    [
      'The number of tokens to keep from the initial prompt is greater than the context length.',
      tooLong(),
    ],
    ['Your input exceeds the context window of this model.', tooLong()],
  ])('is recognised in %j', (words, reason) => {
    expect(requestReason(words, {})).toEqual(reason)
    expect(codeOfReason(reason)).toBe('context_length_exceeded')
  })

  test('may have its sizes beside the text', () => {
    const error = { n_prompt_tokens: 9000, n_ctx: 8192 }
    expect(requestReason('exceed_context_size_error', error)).toEqual(tooLong(9000, 8192))
  })
})

test.each([
  "This model's maximum context length is 4096 tokens. However, you requested 4500 tokens (4000 in the messages, 500 in the completion).",
  "'max_tokens' or 'max_completion_tokens' is too large: 500. This model's maximum context length is 4096 tokens and your request has 4000 input tokens",
  "This model's maximum context length is 4096 tokens. However, you requested 500 output tokens and your prompt contains at least 4000 input tokens",
  'input length and `max_tokens` exceed context limit: 4000 + 500 > 4096, decrease input length',
])('an input that fits without its output limit is recognised in %j', (words) => {
  expect(requestReason(words, {})).toEqual({
    kind: 'context_too_small',
    inputTokens: 4000,
    outputTokens: 500,
    maxTokens: 4096,
  })
})

test.each<[string, FailureReason]>([
  [
    'max_tokens is too large: 500. This model supports at most 256 completion tokens',
    { kind: 'output_limit', outputTokens: 500, maxTokens: 256 },
  ],
  [
    'max_tokens: 500 > 256, which is the maximum allowed number of output tokens',
    { kind: 'output_limit', outputTokens: 500, maxTokens: 256 },
  ],
  [
    'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]',
    { kind: 'output_limit', maxTokens: 8192 },
  ],
  ['Could not process image', { kind: 'invalid_image' }],
  ['Provided image is not valid.', { kind: 'invalid_image' }],
  ['messages.1.content.0: Invalid `signature` in `thinking` block', { kind: 'invalid_seal' }],
  ['Corrupted thought signature.', { kind: 'invalid_seal' }],
  ['invalid_encrypted_content x', { kind: 'invalid_seal' }],
])('%j is recognised', (words, reason) => {
  expect(requestReason(words, {})).toEqual(reason)
  expect(codeOfReason(reason)).toBe('upstream_invalid_request')
})

test.each([
  'bad field',
  "Unknown parameter: 'max_tokens'",
  'tools[0].name is too long',
  'temperature must be at most 2',
])('%j is no such failure', (words) => {
  expect(requestReason(words, {})).toBeUndefined()
})

test('an overload is what the upstream calls one', () => {
  expect([
    isOverload(529, ''),
    isOverload(500, 'overloaded_error Overloaded'),
    isOverload(503, 'UNAVAILABLE The model is busy'),
    isOverload(503, 'Service Unavailable'),
    isOverload(429, 'The engine is currently overloaded'),
    isOverload(429, 'ServerOverloaded'),
    isOverload(429, 'Rate limit reached'),
    isOverload(500, 'Service Unavailable'),
  ]).toEqual([true, true, true, true, true, true, false, false])
})
