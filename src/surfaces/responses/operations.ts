// The responses interface as documents describe it; the request comes from the table that the parser uses.

import { answered, json, type Operation, rateNames, workRefusals } from '../../http/operation.ts'
import { either, list, named, object, open, orNull, text, whole, word } from '../../http/schema.ts'
import { streamError, textOperation, tokenCount } from '../text/operations.ts'
import { schemaOf } from '../text/request-fields.ts'
import { responsesFields } from './request-fields.ts'

/** A rule over several fields is told in words: generators read no union beside fields. */
const responsesRequest = named(
  'ResponsesRequest',
  schemaOf(responsesFields, {
    description: 'Needs `input`, `prompt`, `previous_response_id` or `conversation`.',
  }),
)

const usage = named(
  'ResponsesUsage',
  object(
    {
      input_tokens: tokenCount('All input tokens, cached ones among them.'),
      output_tokens: tokenCount('All output tokens.'),
      total_tokens: tokenCount('Both together.'),
      'input_tokens_details?': object(
        {
          'cached_tokens?': tokenCount('Input tokens that hit a cache.'),
          'cache_write_tokens?': tokenCount('Input tokens newly written to a cache.'),
        },
        open,
      ),
    },
    open,
  ),
)

const response = named(
  'ResponsesAnswer',
  object(
    {
      id: text(),
      object: word(['response']),
      created_at: whole(0),
      model: text(),
      status: text(),
      output: list(object({ type: text() }, open)),
      'usage?': orNull(usage),
    },
    open,
  ),
)

const event = named(
  'ResponsesEvent',
  object(
    {
      type: text('Such as `response.output_text.delta`.', { pattern: '^response\\.' }),
      sequence_number: whole(0),
      'response?': response,
    },
    open,
  ),
)

const errorEvent = streamError({
  type: word(['error']),
  code: text(),
  message: text(),
  param: orNull(text()),
  sequence_number: whole(0),
})

export const responsesOperations: readonly Operation[] = [
  textOperation({
    id: 'createResponse',
    path: '/v1/responses',
    tag: 'Text',
    summary: 'Answer in the responses style',
    description:
      'Fields that are not named here are passed on. With `stream`, the answer comes as typed, ' +
      'numbered events; the last one carries the whole response.',
    body: responsesRequest,
    examples: {
      items: {
        model: 'txta-plus',
        input: [{ role: 'user', content: [{ type: 'input_text', text: 'Say hello.' }] }],
      },
      text: { model: 'txta-plus', input: 'Say hello.', max_output_tokens: 64 },
      stream: { model: 'txta-plus', input: 'Count to three.', stream: true },
    },
    answer: response,
    events: { schema: either(event, errorEvent) },
  }),
  {
    id: 'countResponseTokens',
    method: 'post',
    path: '/v1/responses/input_tokens',
    tag: 'Text',
    summary: 'Count the input of a response',
    description: 'Asked of an upstream that can tell; else estimated and marked. Free of charge.',
    credential: 'token',
    body: {
      content: json(responsesRequest, { text: { model: 'txta-plus', input: 'Say hello.' } }),
      required: true,
    },
    answers: [
      answered(
        object({
          object: word(['response.input_tokens']),
          input_tokens: tokenCount('Of the whole input.'),
        }),
        'The count.',
        { headers: [...rateNames, 'x-gateway-estimated'] },
      ),
    ],
    refusals: workRefusals,
  },
]
