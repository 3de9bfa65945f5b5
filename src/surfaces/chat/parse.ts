// The chat-completions request: what the gateway itself must know of it. Everything else passes.

import { Refusal } from '../../contract/errors.ts'
import type { TextCall } from '../../contract/requests.ts'
import type { JsonBody } from '../../http/body/read-json.ts'
import { isObject } from '../../lib/json/parse.ts'
import { type Fields, modelIn, wrong } from '../common/fields.ts'
import { InputCounter } from '../text/count-input.ts'
import { limitOutput, readExtras, rulesWithout } from '../text/extra-fields.ts'
import { streamIn, wholeNumberIn } from '../text/fields.ts'
import { hasItems, readItems, readItemsInTurns } from './read-items.ts'
import { maxChoices } from './request-fields.ts'

const clientTools = ['function', 'custom', undefined] as const
const rules = rulesWithout(['messages', 'max_tokens', 'max_completion_tokens', 'prediction'])

export function parseChat(body: JsonBody): TextCall | Refusal {
  if (!hasItems(body)) return parseMessages(body)
  const model = modelIn(body.fields)
  return withItems(model instanceof Refusal ? model : readItems(body))
}

/** What is longer is rewritten in turns, which let the event loop run in between. */
const shortItems = 64 * 1024

/** The same; a promise for long bodies of the other shape only. */
export function parseLongChat(body: JsonBody): TextCall | Refusal | Promise<TextCall | Refusal> {
  if (body.text.length <= shortItems || !hasItems(body)) return parseChat(body)
  const model = modelIn(body.fields)
  return model instanceof Refusal ? model : readItemsInTurns(body).then(withItems)
}

function withItems(made: Awaited<ReturnType<typeof readItemsInTurns>>): TextCall | Refusal {
  if (made instanceof Refusal) return made
  const call = parseMessages(made.body)
  return call instanceof Refusal ? call : { ...call, rewritten: made.rewritten }
}

function parseMessages({ text, fields }: JsonBody): TextCall | Refusal {
  const model = modelIn(fields)
  if (model instanceof Refusal) return model
  const { messages } = fields
  if (!Array.isArray(messages) || messages.length === 0) {
    return wrong('messages', "'messages' must be a non-empty array")
  }
  const odd = messages.findIndex(hasNoRole)
  if (odd !== -1) return wrong('messages', `'messages[${odd}]' must be an object with a 'role'`)
  const stream = streamIn(fields)
  if (stream instanceof Refusal) return stream
  const options = fields['stream_options']
  if (options != null && !isObject(options)) {
    return wrong('stream_options', "'stream_options' must be an object")
  }
  const choices = choicesIn(fields)
  if (choices instanceof Refusal) return choices
  const bound = outputBound(fields)
  if (bound instanceof Refusal) return bound
  const input = new InputCounter(clientTools).messages(messages).tools(fields['tools'])
  const { serverTools } = input
  const extras = readExtras(fields, rules, serverTools)
  const problem = extras?.problem ?? input.problem
  if (problem !== undefined) return problem
  if (extras?.isOpen) input.open()
  const call: TextCall = {
    interface: 'chat',
    model,
    stream,
    wantsUsage: isObject(options) && options['include_usage'] === true,
    body: text,
    fields,
    inputTokens: input.tokens,
    inputBound: input.bound(text),
    choices,
    ...(serverTools.length > 0 && { serverTools }),
  }
  limitOutput(call, bound, extras, input)
  return call
}

const hasNoRole = (message: unknown): boolean =>
  !isObject(message) || typeof message['role'] !== 'string'

/** Answers that are made, which some upstreams choose the best from. */
function choicesIn(fields: Fields): number | Refusal {
  const wanted = wholeNumberIn(fields, 'n', maxChoices)
  const made = wholeNumberIn(fields, 'best_of', maxChoices)
  if (wanted instanceof Refusal || made === undefined) return wanted ?? 1
  return made instanceof Refusal ? made : Math.max(made, wanted ?? 1)
}

/** Undefined: the caller leaves it to the model. Both names given: the larger one binds. */
function outputBound(fields: Fields): number | undefined | Refusal {
  const newer = wholeNumberIn(fields, 'max_completion_tokens')
  if (newer instanceof Refusal) return newer
  const older = wholeNumberIn(fields, 'max_tokens')
  if (older instanceof Refusal) return older
  if (newer === undefined && older === undefined) return undefined
  const { prediction } = fields
  // What of a prediction did not come true is counted as output, too.
  const rejected = prediction == null ? 0 : Buffer.byteLength(JSON.stringify(prediction))
  return Math.max(newer ?? 0, older ?? 0) + rejected
}
