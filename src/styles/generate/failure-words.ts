// Failures in the words of the generate style.
import { type FailureWords, failureText, type Refusal } from '../../contract/errors.ts'

const given = (tokens: number | undefined): string => (tokens === undefined ? '' : ` (${tokens})`)

const words: FailureWords = {
  input_too_long: {
    said: /input token count/i,
    write: ({ inputTokens, maxTokens }) =>
      `The input token count${given(inputTokens)} exceeds the maximum number of tokens allowed${given(maxTokens)}`,
  },
  context_too_small: {
    said: /input token count/i,
    write: ({ inputTokens, outputTokens, maxTokens }) =>
      `The input token count (${inputTokens}) and maxOutputTokens (${outputTokens}) exceed the maximum number of tokens allowed (${maxTokens})`,
  },
  output_limit: {
    said: /maxOutputTokens/i,
    write: ({ outputTokens, maxTokens }) =>
      `Unable to submit request because it has a maxOutputTokens value${outputTokens === undefined ? '' : ` of ${outputTokens}`} but the supported range is from 1 (inclusive) to ${maxTokens + 1} (exclusive)`,
  },
  invalid_image: {
    said: /unable to process input image/i,
    write: () => 'Unable to process input image',
  },
  invalid_seal: {
    said: /thought signature/i,
    write: () => 'Thought signature is not valid',
  },
}

export const generateFailureText = (refusal: Refusal): string => failureText(words, refusal)
