// Failures in the words of the chat style.
import { type FailureWords, failureText, type Refusal } from '../../contract/errors.ts'

const said = /maximum context length|context window/i

const words: FailureWords = {
  input_too_long: {
    said,
    write({ inputTokens, maxTokens }) {
      if (maxTokens === undefined) return 'Your messages exceed the context window of this model'
      const max = `This model's maximum context length is ${maxTokens} tokens`
      return inputTokens === undefined
        ? max
        : `${max}. However, your messages resulted in ${inputTokens} tokens`
    },
  },
  context_too_small: {
    said,
    write: ({ inputTokens, outputTokens, maxTokens }) =>
      `This model's maximum context length is ${maxTokens} tokens. However, you requested ${inputTokens + outputTokens} tokens (${inputTokens} in the messages, ${outputTokens} in the completion)`,
  },
  output_limit: {
    said: /max(?:_completion)?_tokens is too large/i,
    write: ({ outputTokens, maxTokens }) =>
      `max_tokens is too large${outputTokens === undefined ? '' : `: ${outputTokens}`}. This model supports at most ${maxTokens} completion tokens`,
  },
  invalid_image: {
    said: /valid image/i,
    write: () => 'The image data you provided does not represent a valid image',
  },
}

export const chatFailureText = (refusal: Refusal): string => failureText(words, refusal)
