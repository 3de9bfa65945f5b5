// The chat-completions request: what the gateway itself must know of it. Everything else passes.
import { Refusal, refuse } from '../../contract/errors.ts'
import type { TextCall } from '../../contract/requests.ts'
import { modelNotFound } from '../../engine/admit.ts'
import type { JsonBody } from '../../http/read-json.ts'
import { countTokens } from '../../lib/count-tokens.ts'
import { isObject } from '../../lib/json.ts'

const wrong = (param: string, message: string): Refusal =>
  refuse('invalid_request', message, { param })

/** More answers than anybody needs from one call. */
const maxChoices = 128
const maxModelName = 256

export function parseChat({ text, fields }: JsonBody): TextCall | Refusal {
  const { model, messages } = fields
  if (typeof model !== 'string' || model === '') {
    return wrong('model', "'model' must be a non-empty string")
  }
  if (model.length > maxModelName) return modelNotFound(`${model.slice(0, 32)}…`)
  if (!Array.isArray(messages) || messages.length === 0) {
    return wrong('messages', "'messages' must be a non-empty array")
  }
  for (let i = 0; i < messages.length; i++) {
    const message: unknown = messages[i]
    if (isObject(message) && typeof message['role'] === 'string') continue
    return wrong('messages', `'messages[${i}]' must be an object with a 'role'`)
  }
  const stream = fields['stream'] ?? false
  if (typeof stream !== 'boolean') return wrong('stream', "'stream' must be true or false")
  const options = fields['stream_options']
  if (options != null && !isObject(options)) {
    return wrong('stream_options', "'stream_options' must be an object")
  }
  const choices = wholeNumber(fields, 'n', maxChoices)
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
    inputTokens: inputTokens(messages, fields['tools']),
    choices: choices ?? 1,
    ...(bound !== undefined && { maxOutputTokens: bound * (choices ?? 1) }),
  }
}

function outputBound(fields: JsonBody['fields']): number | undefined | Refusal {
  const newer = wholeNumber(fields, 'max_completion_tokens', Number.MAX_SAFE_INTEGER)
  if (newer !== undefined) return newer
  return wholeNumber(fields, 'max_tokens', Number.MAX_SAFE_INTEGER)
}

/** A positive whole number within the bound; null counts as absent. */
function wholeNumber(
  fields: JsonBody['fields'],
  name: string,
  most: number,
): number | undefined | Refusal {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= most) {
    return value
  }
  const range = most === Number.MAX_SAFE_INTEGER ? 'at least 1' : `from 1 to ${most}`
  return wrong(name, `'${name}' must be a whole number ${range}`)
}

const perMessage = 8
/** A picture costs hundreds to a few thousand tokens whatever its bytes are. */
const perMedia = 2_048

/** Rough, and rather too high than too low: it sizes the hold. */
function inputTokens(messages: readonly unknown[], tools: unknown): number {
  let total = tools == null ? 0 : countTokens(JSON.stringify(tools))
  for (const message of messages) {
    const content = (message as Record<string, unknown>)['content']
    total += perMessage + contentTokens(content)
    const calls = (message as Record<string, unknown>)['tool_calls']
    if (calls != null) total += countTokens(JSON.stringify(calls))
  }
  return total
}

function contentTokens(content: unknown): number {
  if (typeof content === 'string') return countTokens(content)
  if (!Array.isArray(content)) return 0
  let total = 0
  for (const part of content) {
    if (!isObject(part)) continue
    total += typeof part['text'] === 'string' ? countTokens(part['text']) : perMedia
  }
  return total
}
