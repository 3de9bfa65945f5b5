// The responses interface as documents describe it; the request comes from the table that the parser uses.

import {
  answered,
  callerRefusals,
  inPath,
  json,
  type Operation,
  rateNames,
  workRefusals,
} from '../../http/operation.ts'
import { either, list, named, object, open, orNull, text, whole, word } from '../../http/schema.ts'
import { cancelRefusals } from '../media/operations.ts'
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

const id = inPath('id', text('`resp_…`, of a response that was created with `background`.'))
const base = { tag: 'Text', credential: 'token', parameters: [id] } as const
const pollHeaders = ['retry-after', 'openai-poll-after-ms'] as const

const backgroundOperations: readonly Operation[] = [
  {
    ...base,
    id: 'getResponse',
    method: 'get',
    path: '/v1/responses/{id}',
    summary: 'Get a background response',
    description: 'It can be fetched for 24 hours after its end.',
    answers: [answered(response, 'The response.', { headers: pollHeaders })],
    refusals: [...callerRefusals, 'response_not_found', 'invalid_request'],
  },
  {
    ...base,
    id: 'cancelResponse',
    method: 'post',
    path: '/v1/responses/{id}/cancel',
    summary: 'Cancel a background response',
    description: 'One that is over stays as it is.',
    answers: [answered(response, 'The response as it is then.')],
    refusals: [...cancelRefusals, 'response_not_found'],
  },
  {
    ...base,
    id: 'deleteResponse',
    method: 'delete',
    path: '/v1/responses/{id}',
    summary: 'Delete a background response',
    description: 'One that is not over is cancelled first.',
    answers: [
      answered(
        named(
          'ResponseDeleted',
          object({ id: text(), object: word(['response']), deleted: { const: true } }),
        ),
        'That it is gone.',
      ),
    ],
    refusals: [...cancelRefusals, 'response_not_found'],
  },
]

export const responsesOperations: readonly Operation[] = [
  ...backgroundOperations,
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
      background: { model: 'txta-plus', input: 'Write a report.', background: true },
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
