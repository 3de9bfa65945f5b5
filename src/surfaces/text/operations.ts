// What the descriptions of the text interfaces have in common: the form of a call, the shape of usage.
// Knows no style.
import {
  type Content,
  inHeader,
  json,
  type Operation,
  rateNames,
  workRefusals,
} from '../../http/operation.ts'
import { object, open, orNull, type Schema, text, whole } from '../../http/schema.ts'

export const tokenCount = (description: string): Schema => whole(0, undefined, description)

interface TextDescription extends Pick<Operation, 'id' | 'path' | 'tag' | 'summary'> {
  description: string
  body: Schema
  examples: NonNullable<Content['examples']>
  answer: Schema
  /** Without: the interface does not stream. */
  events?: NonNullable<Content['events']>
}

export function textOperation(of: TextDescription): Operation {
  const { body, examples, answer, events, ...rest } = of
  return {
    ...rest,
    method: 'post',
    credential: 'token',
    body: { content: json(body, examples), required: true },
    answers: [
      {
        status: 200,
        description: 'The answer, as JSON or, where `stream` is true, as events.',
        headers: rateNames,
        content: {
          ...json(answer),
          ...(events !== undefined && { 'text/event-stream': { schema: streamed, events } }),
        },
      },
    ],
    refusals: workRefusals,
  }
}

const streamed = text('Server-sent events; each `data:` is JSON as described.')

export const versionHeaders = [
  inHeader('msgapi-version', text('Such as `2023-06-01`; passed on.')),
  inHeader('msgapi-beta', text('Passed on, known or not.')),
  inHeader('anthropic-version', text('The same as `msgapi-version`.')),
  inHeader('anthropic-beta', text('The same as `msgapi-beta`.')),
]

/** An error inside a stream that had begun: status and headers are gone by then. */
export const streamError = (more: Readonly<Record<string, Schema>> = {}): Schema =>
  object({
    ...more,
    error: object(
      {
        message: text(),
        type: text(),
        code: text('A code of the table of errors.'),
        param: orNull(text()),
        request_id: text(),
        upstream_request_id: text(),
      },
      open,
    ),
  })
