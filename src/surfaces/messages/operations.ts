// The messages interface as documents describe it; the request comes from the table that the parser uses.

import { answered, json, type Operation, rateNames, workRefusals } from '../../http/operation.ts'
import { either, list, named, object, open, orNull, text, word } from '../../http/schema.ts'
import { streamError, textOperation, tokenCount, versionHeaders } from '../text/operations.ts'
import { schemaOf } from '../text/request-fields.ts'
import { countFields, messagesFields } from './request-fields.ts'

const countRequest = named('CountTokensRequest', schemaOf(countFields))
const messagesRequest = named('MessagesRequest', schemaOf(messagesFields))

const usage = named(
  'MessagesUsage',
  object(
    {
      input_tokens: tokenCount('Input tokens besides cached and written ones.'),
      output_tokens: tokenCount('Output tokens.'),
      'cache_read_input_tokens?': orNull(tokenCount('Input tokens that hit a cache.')),
      'cache_creation_input_tokens?': orNull(tokenCount('Input tokens written to a cache.')),
    },
    open,
  ),
)

const message = named(
  'Message',
  object(
    {
      id: text(),
      type: word(['message']),
      role: word(['assistant']),
      model: text(),
      content: list(object({ type: text() }, open)),
      stop_reason: orNull(text()),
      'stop_sequence?': orNull(text()),
      'usage?': usage,
    },
    open,
  ),
)

const event = named(
  'MessagesEvent',
  object(
    {
      type: word([
        'message_start',
        'ping',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'message_stop',
      ]),
      'message?': message,
    },
    open,
  ),
)

const errorEvent = streamError({ type: word(['error']), request_id: text() })

const hello = { model: 'txta-plus', messages: [{ role: 'user', content: 'Say hello.' }] }

export const messagesOperations: readonly Operation[] = [
  {
    ...textOperation({
      id: 'createMessage',
      path: '/v1/messages',
      tag: 'Text',
      summary: 'Answer in the messages style',
      description:
        'Fields that are not named here, such as `thinking`, media and `cache_control`, are passed ' +
        'on. With `stream`, the answer comes as named events.',
      body: messagesRequest,
      examples: {
        text: { ...hello, max_tokens: 64 },
        stream: { ...hello, max_tokens: 64, stream: true },
      },
      answer: message,
      events: { schema: either(event, errorEvent) },
    }),
    parameters: versionHeaders,
  },
  {
    id: 'countMessageTokens',
    method: 'post',
    path: '/v1/messages/count_tokens',
    tag: 'Text',
    summary: 'Count the input of a message',
    description: 'Asked of an upstream that can tell; else estimated and marked. Free of charge.',
    credential: 'token',
    parameters: versionHeaders,
    body: { content: json(countRequest, { text: hello }), required: true },
    answers: [
      answered(object({ input_tokens: tokenCount('Of the whole input.') }), 'The count.', {
        headers: [...rateNames, 'x-gateway-estimated'],
      }),
    ],
    refusals: workRefusals,
  },
]
