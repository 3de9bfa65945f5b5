// Reads a chat request: what is needed and missing is refused, what is not understood is ignored.

import {
  asList,
  asObject,
  invalid,
  isFault,
  isWhole,
  type Json,
  missing,
  readLimit,
  textOrNone,
} from '../http/fields.ts'
import type { Fault } from '../protocol.ts'
import type { TextRequest } from '../text/answer-text.ts'
import type { ToolChoice } from '../text/choose-tool.ts'
import { markOf, mediaPart, type Part, readTools, type Turn, textPart } from '../text/turns.ts'

const maxChoices = 128

export function readChatRequest(fields: Json): TextRequest | Fault {
  const { model, messages } = fields
  if (typeof model !== 'string' || model === '') return missing('model')
  if (!Array.isArray(messages) || messages.length === 0) return missing('messages')
  const odd = messages.findIndex((message) => typeof asObject(message)['role'] !== 'string')
  if (odd !== -1) return missing(`messages[${odd}].role`)

  const choices = fields['n'] ?? 1
  if (!isWhole(choices) || choices > maxChoices) {
    return invalid('n', `'n' must be a whole number from 1 to ${maxChoices}.`)
  }
  const newer = (fields['max_completion_tokens'] ?? undefined) !== undefined
  const maxTokens = readLimit(fields, newer ? 'max_completion_tokens' : 'max_tokens')
  if (isFault(maxTokens)) return maxTokens
  const { type: format, json_schema: described } = asObject(fields['response_format'])
  const effort = fields['reasoning_effort'] ?? 'none'
  return {
    model,
    turns: messages.map((message) => readTurn(asObject(message))),
    tools: readTools(fields['tools'], (tool) => {
      const { name, parameters } = asObject(tool['function'])
      return { name, parameters }
    }),
    toolChoice: readChoice(fields['tool_choice']),
    stream: fields['stream'] === true,
    cacheKey: textOrNone(fields['prompt_cache_key']),
    choices,
    maxTokens,
    json:
      format === 'json_schema'
        ? { schema: asObject(asObject(described)['schema']) }
        : format === 'json_object',
    reasons: fields['enable_thinking'] === true || effort !== 'none',
  }
}

function readTurn(message: Json): Turn {
  const { role, content } = message
  const parts = typeof content === 'string' ? [textPart(content)] : readParts(content)
  const turn = { role: String(role), mark: markOf(message) }
  if (role !== 'tool') return { ...turn, parts: [...parts, ...readCalls(message['tool_calls'])] }
  const results = parts.length === 0 ? [textPart('')] : parts
  return { ...turn, parts: results.map((part) => ({ ...part, result: true })) }
}

const readParts = (content: unknown): Part[] =>
  asList(content).map((one) => {
    const part = asObject(one)
    const { text, type } = part
    if (typeof text === 'string') return textPart(text, markOf(part))
    return mediaPart(part, type === 'image_url')
  })

const readCalls = (calls: unknown): Part[] =>
  asList(calls).flatMap((call) => {
    const { name, arguments: given } = asObject(asObject(call)['function'])
    return [name, given].filter((text) => typeof text === 'string').map((text) => textPart(text))
  })

function readChoice(choice: unknown): ToolChoice {
  if (choice === 'required' || choice === 'none') return choice
  const { name } = asObject(asObject(choice)['function'])
  return typeof name === 'string' ? { name } : 'auto'
}
