// Reads a messages request: system text and messages made of blocks. The results of functions come
// in the user's messages here.

import {
  asList,
  asObject,
  asText,
  asTexts,
  isFault,
  type Json,
  missing,
  readLimit,
} from '../http/fields.ts'
import type { Fault } from '../protocol.ts'
import type { TextRequest } from '../text/answer-text.ts'
import type { ToolChoice } from '../text/choose-calls.ts'
import type { Mark } from '../text/prompt.ts'
import {
  markOf,
  mediaPart,
  type Part,
  readTools,
  resultParts,
  type Tool,
  type Turn,
  textPart,
} from '../text/turns.ts'

/** What counting needs; an answer needs a limit besides. */
interface Countable {
  model: string
  tools: readonly Tool[]
  turns: readonly Turn[]
}

export function readCountable(fields: Json): Countable | Fault {
  const { model, messages, system } = fields
  if (typeof model !== 'string' || model === '') return missing('model')
  if (!Array.isArray(messages) || messages.length === 0) return missing('messages')
  for (const [index, message] of messages.entries()) {
    const { role, content } = asObject(message)
    if (typeof role !== 'string') return missing(`messages.${index}.role`)
    if (typeof content !== 'string' && !Array.isArray(content)) {
      return missing(`messages.${index}.content`)
    }
  }
  const before =
    system === undefined || system === null ? [] : [{ role: 'system', content: system }]
  return {
    model,
    tools: readTools(fields['tools'], ({ name, input_schema }) => ({
      name,
      parameters: input_schema,
    })),
    turns: markEnd(
      [...before, ...messages].map((message) => readTurn(asObject(message))),
      markOf(fields),
    ),
  }
}

/** A mark on the request itself is one at the end of its last message. */
const markEnd = (turns: readonly Turn[], mark: Mark): Turn[] =>
  turns.map((turn, at) => (at === turns.length - 1 && mark !== 'none' ? { ...turn, mark } : turn))

export function readMessagesRequest(fields: Json): TextRequest | Fault {
  const countable = readCountable(fields)
  if (isFault(countable)) return countable
  const maxTokens = readLimit(fields, 'max_tokens')
  if (isFault(maxTokens)) return maxTokens
  if (maxTokens === undefined) return missing('max_tokens')
  const thinking = asObject(fields['thinking'])['type']
  const { format: asked } = asObject(fields['output_config'])
  const format = asObject(asked ?? fields['output_format'])
  const choice = asObject(fields['tool_choice'])
  return {
    ...countable,
    toolChoice: readChoice(choice),
    parallel: choice['disable_parallel_tool_use'] !== true,
    stream: fields['stream'] === true,
    choices: 1,
    maxTokens,
    stop: asTexts(fields['stop_sequences']),
    json: format['type'] === 'json_schema' && { schema: asObject(format['schema']) },
    reasons: thinking === 'enabled' || thinking === 'adaptive',
  }
}

const readTurn = ({ role, content }: Json): Turn => ({
  role: String(role),
  parts: readContent(content),
  mark: 'none',
})

const readContent = (content: unknown): Part[] =>
  typeof content === 'string'
    ? [textPart(content)]
    : asList(content).flatMap((block) => readBlock(asObject(block)))

function readBlock(block: Json): Part[] {
  const mark = markOf(block)
  switch (block['type']) {
    case 'text':
      return [textPart(asText(block['text']), mark)]
    case 'thinking':
      return [textPart(asText(block['thinking']), mark)]
    case 'redacted_thinking':
      return [textPart('', mark)]
    case 'tool_use':
      return [textPart(asText(block['name'])), textPart(JSON.stringify(block['input'] ?? {}), mark)]
    case 'tool_result':
      // The empty text keeps the marker, and the fact that there was a result.
      return resultParts(
        [...readContent(block['content']), textPart('', mark)],
        block['tool_use_id'],
      )
    case 'document':
      return readDocument(block)
    default:
      return [mediaPart(block, block['type'] === 'image')]
  }
}

function readDocument(block: Json): Part[] {
  const { type, data, content } = asObject(block['source'])
  if (type === 'text') return [textPart(asText(data), markOf(block))]
  if (type === 'content') return [...readContent(content), textPart('', markOf(block))]
  return [mediaPart(block, false)]
}

function readChoice({ type, name }: Json): ToolChoice {
  if (type === 'any') return 'required'
  if (type === 'none') return 'none'
  return type === 'tool' && typeof name === 'string' ? { name } : 'auto'
}
