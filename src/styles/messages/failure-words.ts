// Failures in the words of the messages style. Tools compact a conversation, lower the output limit or
// leave out earlier reasoning by these words, so they stand at the beginning.
import { type FailureWords, failureText, type Refusal } from '../../contract/errors.ts'

const words: FailureWords = {
  input_too_long: {
    said: /^prompt is too long/i,
    write: ({ inputTokens, maxTokens }) =>
      inputTokens === undefined || maxTokens === undefined
        ? 'prompt is too long'
        : `prompt is too long: ${inputTokens} tokens > ${maxTokens} maximum`,
  },
  context_too_small: {
    said: /^input length and `max_tokens` exceed context limit/i,
    write: ({ inputTokens, outputTokens, maxTokens }) =>
      `input length and \`max_tokens\` exceed context limit: ${inputTokens} + ${outputTokens} > ${maxTokens}, decrease input length or \`max_tokens\` and try again`,
  },
  output_limit: {
    said: /^max_tokens: \d+ > \d+/i,
    write: ({ outputTokens, maxTokens }) =>
      outputTokens === undefined
        ? `max_tokens: must be at most ${maxTokens}, which is the maximum allowed number of output tokens`
        : `max_tokens: ${outputTokens} > ${maxTokens}, which is the maximum allowed number of output tokens`,
  },
  invalid_image: { said: /could not process image/i, write: () => 'Could not process image' },
  invalid_seal: {
    said: /invalid `?signature`? in `?thinking`? block/i,
    write: () => 'Invalid `signature` in `thinking` block',
  },
}

export const messagesFailureText = (refusal: Refusal): string => failureText(words, refusal)
