// The chat-completions request: what the gateway itself must know of it. Everything else passes.
import { Refusal } from '../../contract/errors.ts'
import type { TextCall } from '../../contract/requests.ts'
import type { JsonBody } from '../../http/read-json.ts'
import { isObject } from '../../lib/json.ts'
import { countJson, countMessages } from '../text/count-input.ts'
import { type Fields, modelIn, streamIn, wholeNumberIn, wrong } from '../text/fields.ts'

/** More answers than anybody needs from one call. */
export const maxChoices = 128

export function parseChat({ text, fields }: JsonBody): TextCall | Refusal {
  const model = modelIn(fields)
  if (model instanceof Refusal) return model
  const { messages } = fields
  if (!Array.isArray(messages) || messages.length === 0) {
    return wrong('messages', "'messages' must be a non-empty array")
  }
  for (let i = 0; i < messages.length; i++) {
    const message: unknown = messages[i]
    if (isObject(message) && typeof message['role'] === 'string') continue
    return wrong('messages', `'messages[${i}]' must be an object with a 'role'`)
  }
  const stream = streamIn(fields)
  if (stream instanceof Refusal) return stream
  const options = fields['stream_options']
  if (options != null && !isObject(options)) {
    return wrong('stream_options', "'stream_options' must be an object")
  }
  const choices = wholeNumberIn(fields, 'n', maxChoices)
  if (choices instanceof Refusal) return choices
  const bound = outputBound(fields)
  if (bound instanceof Refusal) return bound
  return {
    interface: 'chat',
    model,
    stream,
    wantsUsage: isObject(options) && options['include_usage'] === true,
    body: text,
    fields,
    inputTokens: countMessages(messages) + countJson(fields['tools']),
    choices: choices ?? 1,
    ...(bound !== undefined && { maxOutputTokens: bound * (choices ?? 1) }),
  }
}

function outputBound(fields: Fields): number | undefined | Refusal {
  const newer = wholeNumberIn(fields, 'max_completion_tokens')
  const older = wholeNumberIn(fields, 'max_tokens')
  if (newer instanceof Refusal || older === undefined) return newer
  return older instanceof Refusal ? older : (newer ?? older)
}
