// Reads a chat request as leniently as vendors do: what is not understood is ignored, what is
// needed and missing is refused. Null counts as absent.
import type { Fault } from '../protocol.ts'

export type Json = Readonly<Record<string, unknown>>

export interface ChatRequest {
  model: string
  messages: readonly Json[]
  stream: boolean
  includeUsage: boolean
  choices: number
  maxTokens: number | undefined
  json: boolean
  /** The function the answer has to call. */
  callFunction: string | undefined
  /** What decides the answer: the request without what only changes how it is delivered. */
  seedText: string
}

const mostChoices = 128

export const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null ? (value as Json) : {}

const invalid = (param: string, message: string): Fault => ({ status: 400, message, param })

const missing = (param: string): Fault => ({
  ...invalid(param, `Missing required parameter: '${param}'.`),
  reason: 'missing_field',
})

export function readChatRequest(fields: Json): ChatRequest | Fault {
  const { model, messages } = fields
  if (typeof model !== 'string' || model === '') return missing('model')
  if (!Array.isArray(messages) || messages.length === 0) return missing('messages')
  const odd = messages.findIndex((message) => typeof asObject(message)['role'] !== 'string')
  if (odd !== -1) return missing(`messages[${odd}].role`)

  const choices = fields['n'] ?? 1
  if (!isWhole(choices) || choices > mostChoices) {
    return invalid('n', `'n' must be a whole number from 1 to ${mostChoices}.`)
  }
  const limitName =
    (fields['max_completion_tokens'] ?? undefined) === undefined
      ? 'max_tokens'
      : 'max_completion_tokens'
  const maxTokens = fields[limitName] ?? undefined
  if (maxTokens !== undefined && !isWhole(maxTokens)) {
    return invalid(limitName, `'${limitName}' must be a whole number of at least 1.`)
  }
  const callFunction = functionToCall(fields)
  if (typeof callFunction === 'object') return callFunction
  return {
    model,
    messages,
    stream: fields['stream'] === true,
    includeUsage: asObject(fields['stream_options'])['include_usage'] === true,
    choices,
    maxTokens,
    json: ['json_object', 'json_schema'].includes(
      String(asObject(fields['response_format'])['type']),
    ),
    callFunction,
    seedText: JSON.stringify({
      ...fields,
      stream: undefined,
      stream_options: undefined,
      user: undefined,
    }),
  }
}

const isWhole = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 1

function functionToCall(fields: Json): string | undefined | Fault {
  const tools = Array.isArray(fields['tools']) ? fields['tools'] : []
  const names = tools.map((tool) => asObject(asObject(tool)['function'])['name'])
  const choice = fields['tool_choice']
  const wanted = choice === 'required' ? names[0] : asObject(asObject(choice)['function'])['name']
  if (wanted === undefined && choice !== 'required') return undefined
  if (typeof wanted === 'string' && names.includes(wanted)) return wanted
  return invalid('tool_choice', "'tool_choice' asks for a function that 'tools' does not have.")
}
