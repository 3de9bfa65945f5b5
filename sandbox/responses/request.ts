// Reads a responses request: instructions and the items of its input, which are turns, function
// calls, their results and earlier reasoning.

import {
  asList,
  asObject,
  asText,
  invalid,
  isFault,
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

export function readResponsesRequest(fields: Json): TextRequest | Fault {
  const { model, instructions } = fields
  if (typeof model !== 'string' || model === '') return missing('model')
  const turns = readInput(fields['input'])
  if (isFault(turns)) return turns
  const maxTokens = readLimit(fields, 'max_output_tokens')
  if (isFault(maxTokens)) return maxTokens
  const { type: format, schema } = asObject(asObject(fields['text'])['format'])
  const effort = asObject(fields['reasoning'])['effort'] ?? 'none'
  return {
    model,
    turns: typeof instructions === 'string' ? [turnOf('system', instructions), ...turns] : turns,
    tools: readTools(listTools(fields), ({ type, name, parameters, namespace }) => ({
      name: type === 'function' || type === 'custom' ? name : undefined,
      parameters,
      namespace,
      freeForm: type === 'custom',
    })),
    parallel: fields['parallel_tool_calls'] !== false,
    toolChoice: readChoice(fields['tool_choice']),
    stream: fields['stream'] === true,
    cacheKey: textOrNone(fields['prompt_cache_key']),
    choices: 1,
    maxTokens,
    stop: [],
    json: format === 'json_schema' ? { schema: asObject(schema) } : format === 'json_object',
    reasons: effort !== 'none',
  }
}

/** Those of the request, those that came later in its input, and those inside of namespaces. */
function listTools(fields: Json): Json[] {
  const later = asList(fields['input']).map(asObject)
  const added = later.filter(({ type }) => type === 'additional_tools')
  const tools = [...asList(fields['tools']), ...added.flatMap((item) => asList(item['tools']))]
  return tools.map(asObject).flatMap((tool) => {
    const { type, name: namespace, tools: members } = tool
    if (type !== 'namespace') return [tool]
    return asList(members).map((member) => ({ ...asObject(member), namespace }))
  })
}

function readInput(input: unknown): Turn[] | Fault {
  if (typeof input === 'string' && input !== '') return [turnOf('user', input)]
  if (!Array.isArray(input) || input.length === 0) return missing('input')
  const odd = input.findIndex((item) => {
    const { type = 'message', role } = asObject(item)
    return typeof type !== 'string' || (type === 'message' && typeof role !== 'string')
  })
  if (odd === -1) return input.map((item) => readItem(asObject(item)))
  const message = `'input[${odd}]' is neither a message with a role nor an item with a type.`
  return invalid(`input[${odd}]`, message)
}

const turnOf = (role: string, text: string): Turn => ({
  role,
  parts: [textPart(text)],
  mark: 'none',
})

function readItem(item: Json): Turn {
  const turn = { role: 'assistant', mark: markOf(item) }
  switch (item['type']) {
    case undefined:
    case 'message':
      return { ...turn, role: String(item['role']), parts: readContent(item['content']) }
    case 'function_call':
    case 'custom_tool_call': {
      const { name, arguments: given, input = given } = item
      return { ...turn, parts: [name, input].map((one) => textOf(one)) }
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return {
        ...turn,
        role: 'tool',
        parts: resultParts(readContent(item['output']), item['call_id']),
      }
    case 'reasoning': {
      const thoughts = [...asList(item['summary']), ...asList(item['content'])]
      return { ...turn, parts: thoughts.map((one) => textOf(asObject(one)['text'])) }
    }
    default:
      return { ...turn, parts: [textPart(JSON.stringify(item))] }
  }
}

const textOf = (value: unknown): Part => textPart(asText(value))

function readContent(content: unknown): Part[] {
  if (typeof content === 'string') return [textPart(content)]
  return asList(content).map((one) => {
    const part = asObject(one)
    const { text, type } = part
    if (typeof text === 'string') return textPart(text, markOf(part))
    return mediaPart(part, type === 'input_image')
  })
}

function readChoice(choice: unknown): ToolChoice {
  if (choice === 'required' || choice === 'none') return choice
  const { type, name } = asObject(choice)
  const isTool = type === 'function' || type === 'custom'
  return isTool && typeof name === 'string' ? { name } : 'auto'
}
