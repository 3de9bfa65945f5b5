// Reads a request of the generate style: contents made of parts, under either spelling of a field.
// The results of functions come in the user's contents here.
import {
  asList,
  asObject,
  asText,
  asTexts,
  invalid,
  isFault,
  type Json,
  missing,
} from '../http/fields.ts'
import type { Fault } from '../protocol.ts'
import type { TextRequest } from '../text/answer-text.ts'
import type { ToolChoice } from '../text/choose-calls.ts'
import {
  mediaPart,
  type Part,
  readTools,
  resultParts,
  type Tool,
  type Turn,
  textPart,
} from '../text/turns.ts'

const maxChoices = 8

/** `maxOutputTokens`, or else `max_output_tokens`. */
export const field = (holder: Json, camel: string): unknown =>
  holder[camel] ?? holder[camel.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]

interface Countable {
  tools: readonly Tool[]
  turns: readonly Turn[]
}

/** A count may have the whole request inside. */
export function readCountable(fields: Json): Countable | Fault {
  const inner = asObject(field(fields, 'generateContentRequest'))
  const request = inner['contents'] === undefined ? fields : inner
  const { contents } = request
  if (!Array.isArray(contents) || contents.length === 0) return missing('contents')
  const instruction = field(request, 'systemInstruction')
  const turns = contents.map((content, at) => readTurn(asObject(content), at))
  return {
    tools: toolsOf(request),
    turns:
      instruction == null
        ? turns
        : [{ ...readTurn(asObject(instruction)), role: 'system' }, ...turns],
  }
}

export function readGenerateRequest(fields: Json): TextRequest | Fault {
  const countable = readCountable(fields)
  if (isFault(countable)) return countable
  const settings = asObject(field(fields, 'generationConfig'))
  const choices = wholeIn(settings, 'candidateCount') ?? 1
  const maxTokens = wholeIn(settings, 'maxOutputTokens')
  if (isFault(choices)) return choices
  if (isFault(maxTokens)) return maxTokens
  if (choices > maxChoices) {
    return invalid('candidateCount', `candidateCount must be from 1 to ${maxChoices}.`)
  }
  const thinking = asObject(field(settings, 'thinkingConfig'))
  return {
    ...countable,
    model: asText(fields['model']),
    toolChoice: readChoice(asObject(field(fields, 'toolConfig'))),
    stream: fields['stream'] === true,
    choices,
    maxTokens,
    stop: asTexts(field(settings, 'stopSequences')),
    json: formatOf(settings),
    reasons: field(thinking, 'includeThoughts') === true,
  }
}

function formatOf(settings: Json): TextRequest['json'] {
  if (field(settings, 'responseMimeType') !== 'application/json') return false
  const given = field(settings, 'responseJsonSchema') ?? field(settings, 'responseSchema')
  return given == null ? true : { schema: asObject(lowerTypes(given)) }
}

function wholeIn(settings: Json, name: string): number | undefined | Fault {
  const value = field(settings, name) ?? undefined
  if (value === undefined) return undefined
  return Number.isSafeInteger(value) && Number(value) >= 1
    ? Number(value)
    : invalid(name, `${name} must be a whole number of at least 1.`)
}

/** Every entry has a list of functions, or is something the upstream would run itself. */
const toolsOf = (request: Json): Tool[] =>
  readTools(
    asList(request['tools']).flatMap((tool) => {
      const functions = field(asObject(tool), 'functionDeclarations')
      return Array.isArray(functions) ? functions : [tool]
    }),
    (declared) => ({
      name: declared['name'],
      parameters: field(declared, 'parametersJsonSchema') ?? lowerTypes(declared['parameters']),
    }),
  )

/** Types may be in capitals here: `{"type": "STRING"}`. */
function lowerTypes(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema ?? {}), (name, value) =>
    name === 'type' && typeof value === 'string' ? value.toLowerCase() : value,
  )
}

function readChoice(config: Json): ToolChoice {
  const calling = asObject(field(config, 'functionCallingConfig'))
  const [name] = asList(field(calling, 'allowedFunctionNames'))
  if (calling['mode'] === 'NONE') return 'none'
  if (calling['mode'] !== 'ANY') return 'auto'
  return typeof name === 'string' ? { name } : 'required'
}

/** `at` tells the results of functions apart, which may come without an id. */
const readTurn = ({ role, parts }: Json, at = 0): Turn => ({
  role: role === 'model' ? 'assistant' : 'user',
  parts: asList(parts).flatMap((part, index) => readPart(asObject(part), `${at}.${index}`)),
  mark: 'none',
})

export function readPart(part: Json, place = ''): Part[] {
  const { text } = part
  if (typeof text === 'string') return [textPart(text)]
  const call = asObject(field(part, 'functionCall'))
  if (typeof call['name'] === 'string') {
    return [textPart(call['name']), textPart(JSON.stringify(call['args'] ?? {}))]
  }
  const result = asObject(field(part, 'functionResponse'))
  if (typeof result['name'] === 'string') {
    return resultParts([textPart(JSON.stringify(result['response'] ?? {}))], place)
  }
  const mimeType = field(asObject(field(part, 'inlineData') ?? field(part, 'fileData')), 'mimeType')
  return [mediaPart(part, asText(mimeType).startsWith('image/'))]
}
