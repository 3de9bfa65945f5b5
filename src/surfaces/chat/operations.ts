// The chat interface as documents describe it; the request comes from the table that the parser uses.

import type { Operation } from '../../http/operation.ts'
import { either, list, named, object, open, orNull, text, whole, word } from '../../http/schema.ts'
import { modelField } from '../common/model-field.ts'
import { streamError, textOperation, tokenCount } from '../text/operations.ts'
import { schemaOf } from '../text/request-fields.ts'
import { chatFields } from './request-fields.ts'

const chatRequest = named('ChatRequest', schemaOf(chatFields))

/** What read-items.ts takes. */
const itemsRequest = named(
  'ChatRequestWithInput',
  object(
    {
      model: modelField,
      input: either(text(), list(object({}, open))),
      'messages?': { type: 'null' },
    },
    { ...open, description: 'A request of the responses style; it gets a chat completion.' },
  ),
)

export const chatUsage = named(
  'ChatUsage',
  object(
    {
      prompt_tokens: tokenCount('All input tokens, cached ones among them.'),
      completion_tokens: tokenCount('All output tokens.'),
      total_tokens: tokenCount('Both together.'),
      'prompt_tokens_details?': object(
        {
          'cached_tokens?': tokenCount('Input tokens that hit a cache.'),
          'cache_creation_input_tokens?': tokenCount('Input tokens newly written to a cache.'),
        },
        open,
      ),
    },
    open,
  ),
)

const head = { id: text(), created: whole(0), model: text() }

const completion = named(
  'ChatCompletion',
  object(
    {
      ...head,
      object: word(['chat.completion']),
      choices: list(
        object(
          {
            index: whole(0),
            message: object(
              { role: text(), content: orNull(text()), 'tool_calls?': list(object({}, open)) },
              open,
            ),
            finish_reason: orNull(text()),
          },
          open,
        ),
      ),
      'usage?': chatUsage,
    },
    open,
  ),
)

const chunk = named(
  'ChatChunk',
  object(
    {
      ...head,
      object: word(['chat.completion.chunk']),
      choices: list(
        object({ index: whole(0), delta: object({}, open), finish_reason: orNull(text()) }, open),
      ),
      'usage?': orNull(chatUsage),
    },
    open,
  ),
)

export const chatOperations: readonly Operation[] = [
  textOperation({
    id: 'createChatCompletion',
    path: '/v1/chat/completions',
    tag: 'Text',
    summary: 'Answer a conversation',
    description:
      'Chat completions for text and vision models. Fields that are not named here are passed on. ' +
      'With `stream`, the answer comes as chunks and ends with `[DONE]`. A request of the responses ' +
      'style, with `input` in place of `messages`, is translated first.',
    body: named('ChatBody', either(chatRequest, itemsRequest)),
    examples: {
      text: {
        model: 'txta-plus',
        messages: [{ role: 'user', content: 'Say hello.' }],
      },
      vision: {
        model: 'txta-vl-plus',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is in this picture?' },
              { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } },
            ],
          },
        ],
        max_tokens: 100,
      },
      stream: {
        model: 'txta-plus',
        messages: [{ role: 'user', content: 'Count to three.' }],
        stream: true,
        stream_options: { include_usage: true },
      },
    },
    answer: completion,
    events: { schema: either(chunk, streamError()), end: '[DONE]' },
  }),
]
