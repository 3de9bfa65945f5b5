// Failures in the words of the responses style, and the codes that its failed responses have.
import {
  type FailureWords,
  failureText,
  type Refusal,
  type RefusalCode,
} from '../../contract/errors.ts'

const said = /context window|maximum context length/i
const tooLong = 'Your input exceeds the context window of this model'

const words: FailureWords = {
  input_too_long: {
    said,
    write({ inputTokens, maxTokens }) {
      if (maxTokens === undefined) return tooLong
      const given = inputTokens === undefined ? '' : `${inputTokens} tokens > `
      return `${tooLong} (${given}${maxTokens} tokens)`
    },
  },
  context_too_small: {
    said,
    write: ({ inputTokens, outputTokens, maxTokens }) =>
      `Your input and max_output_tokens exceed the context window of this model: ${inputTokens} + ${outputTokens} > ${maxTokens} tokens`,
  },
  output_limit: {
    said: /max_output_tokens/i,
    write: ({ outputTokens, maxTokens }) =>
      `max_output_tokens is too large${outputTokens === undefined ? '' : `: ${outputTokens}`}. This model supports at most ${maxTokens} output tokens`,
  },
  invalid_image: {
    said: /does not represent a valid image/i,
    write: () => 'The image data you provided does not represent a valid image',
  },
  invalid_seal: {
    said: /encrypted content/i,
    write: () => 'The encrypted content of a reasoning item could not be verified',
  },
}

export function responsesFailureText(refusal: Refusal): string {
  const text = failureText(words, refusal)
  return refusal.code === 'upstream_rate_limited' ? withWait(text, refusal) : text
}

const waits = /try again in \d/i

/** Tools read from the text how long they must wait. */
export function withWait(text: string, { status, extras }: Refusal): string {
  const { retryAfterSeconds } = extras
  if (status !== 429 || retryAfterSeconds === undefined || waits.test(text)) return text
  return `${text.replace(/[\s.]+$/, '')}. Please try again in ${retryAfterSeconds}s.`
}

/**
 * The code of a failed response. Tools repeat a call after any code that is not one of these; `server_error`
 * is for failures that may pass.
 */
export function failedCode(code: RefusalCode): string {
  if (code === 'context_length_exceeded' || code === 'insufficient_quota') return code
  if (code === 'budget_exhausted') return 'insufficient_quota'
  if (code === 'rate_limit_exceeded' || code === 'upstream_rate_limited') {
    return 'rate_limit_exceeded'
  }
  return finalCodes.has(code) ? 'invalid_prompt' : 'server_error'
}

/** The same request cannot succeed. */
const finalCodes: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  'content_policy_violation',
  'upstream_invalid_request',
  'invalid_request',
])
