// The responses request: what the gateway itself must know of it. Everything else passes.
import { Refusal } from '../../contract/errors.ts'
import type { TextCall } from '../../contract/requests.ts'
import type { JsonBody } from '../../http/read-json.ts'
import { isObject } from '../../lib/json.ts'
import { countContent, countJson, countMessages } from '../text/count-input.ts'
import { type Fields, modelIn, streamIn, wholeNumberIn, wrong } from '../text/fields.ts'

export function parseResponses({ text, fields }: JsonBody): TextCall | Refusal {
  const model = modelIn(fields)
  if (model instanceof Refusal) return model
  const problem = inputProblem(fields) ?? laterProblem(fields)
  if (problem !== undefined) return problem
  const stream = streamIn(fields)
  if (stream instanceof Refusal) return stream
  const bound = wholeNumberIn(fields, 'max_output_tokens')
  if (bound instanceof Refusal) return bound
  const { input, instructions, tools } = fields
  const inputTokens = Array.isArray(input) ? countMessages(input) : countContent(input)
  return {
    interface: 'responses',
    model,
    stream,
    wantsUsage: true,
    body: text,
    fields,
    inputTokens: inputTokens + countContent(instructions) + countJson(tools),
    choices: 1,
    ...(bound !== undefined && { maxOutputTokens: bound }),
  }
}

/** A text or a list; a stored prompt or an earlier response may stand in for it. */
function inputProblem(fields: Fields): Refusal | undefined {
  const { input } = fields
  if (input == null) {
    const stored = fields['prompt'] ?? fields['previous_response_id'] ?? fields['conversation']
    return stored == null ? wrong('input', "'input' must be a string or an array") : undefined
  }
  if (typeof input === 'string') return undefined
  if (!Array.isArray(input)) return wrong('input', "'input' must be a string or an array")
  const odd = input.findIndex((item) => !isObject(item))
  return odd === -1 ? undefined : wrong('input', `'input[${odd}]' must be an object`)
}

/** An answer fetched later has no usage when it is given, so it could not be billed. */
function laterProblem(fields: Fields): Refusal | undefined {
  return fields['background'] === true
    ? wrong('background', "'background' is not possible through the gateway")
    : undefined
}
