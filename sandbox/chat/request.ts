// Reads a chat request: what is needed and missing is refused, what is not understood is ignored.

import type { Directives } from '../http/directives.ts'
import {
  asList,
  asObject,
  asTexts,
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
import type { ToolChoice } from '../text/choose-calls.ts'
import {
  markOf,
  mediaPart,
  type Part,
  readTools,
  resultParts,
  type Turn,
  textPart,
} from '../text/turns.ts'

const maxChoices = 128

export function readChatRequest(fields: Json, { replay }: Directives): TextRequest | Fault {
  const { model, messages } = fields
  if (typeof model !== 'string' || model === '') return missing('model')
  if (!Array.isArray(messages) || messages.length === 0) return missing('messages')
  const odd = messages.findIndex((message) => typeof asObject(message)['role'] !== 'string')
  if (odd !== -1) return missing(`messages[${odd}].role`)
  const unreplayed = replay ? replayFault(messages) : undefined
  if (unreplayed !== undefined) return unreplayed

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
    tools: readTools(fields['tools'], describeTool),
    toolChoice: readChoice(fields['tool_choice']),
    parallel: fields['parallel_tool_calls'] !== false,
    stream: fields['stream'] === true,
    cacheKey: textOrNone(fields['prompt_cache_key']),
    choices,
    maxTokens,
    stop: asTexts(fields['stop']),
    json:
      format === 'json_schema'
        ? { schema: asObject(asObject(described)['schema']) }
        : format === 'json_object',
    reasons: fields['enable_thinking'] === true || effort !== 'none',
  }
}

function describeTool(tool: Json) {
  const freeForm = tool['type'] === 'custom'
  const { name, parameters } = asObject(tool[freeForm ? 'custom' : 'function'])
  return { name, parameters, freeForm }
}

/** Some upstreams of this style want their reasoning back with every call; on request so does this. */
function replayFault(messages: readonly unknown[]): Fault | undefined {
  const at = messages.findIndex((message) => {
    const { tool_calls: calls, reasoning_content: thought } = asObject(message)
    return asList(calls).length > 0 && typeof thought !== 'string'
  })
  if (at === -1) return undefined
  const text = 'The `reasoning_content` in the thinking mode must be passed back to the API.'
  return invalid(`messages[${at}].reasoning_content`, text)
}

function readTurn(message: Json): Turn {
  const { role, content } = message
  const parts = typeof content === 'string' ? [textPart(content)] : readParts(content)
  const turn = { role: String(role), mark: markOf(message) }
  if (role === 'tool') return { ...turn, parts: resultParts(parts, message['tool_call_id']) }
  return { ...turn, parts: [...parts, ...readCalls(message['tool_calls'])] }
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
    const { function: called, custom } = asObject(call)
    const { name, arguments: given, input = given } = asObject(called ?? custom)
    return [name, input].filter((text) => typeof text === 'string').map((text) => textPart(text))
  })

function readChoice(choice: unknown): ToolChoice {
  if (choice === 'required' || choice === 'none') return choice
  const { function: called, custom } = asObject(choice)
  const { name } = asObject(called ?? custom)
  return typeof name === 'string' ? { name } : 'auto'
}
