// Generate: contents in parts; an answer goes back with the signatures of its parts.
import {
  parsedJson,
  type SetUp,
  stopsIn,
  type ToolCall,
  type Turn,
  toolsIn,
} from '../conversation.ts'
import {
  type Answer,
  filled,
  filledOrNone,
  inlineImage,
  type Json,
  list,
  nativeOf,
  parsedObject,
  record,
  type Style,
  sentTurns,
  text,
  usageFrom,
} from './style.ts'

function imagePart(address: string): Json {
  const inline = inlineImage(address)
  return inline === undefined
    ? { fileData: { fileUri: address } }
    : { inlineData: { mimeType: inline.mediaType, data: inline.data } }
}

/** A function answers with an object; other texts become one. */
function responseOf(answer: string): Json {
  const read = parsedObject(answer)
  return Object.keys(read).length > 0 && !Array.isArray(read) ? read : { result: answer }
}

const withId = (id: string): Json => (id === '' ? {} : { id })

function contentOf(turn: Turn): Json {
  switch (turn.role) {
    case 'user':
      return { role: 'user', parts: [...turn.images.map(imagePart), { text: turn.text }] }
    case 'assistant': {
      const calls = turn.calls.map(({ id, name, arguments: given }) => ({
        functionCall: { ...withId(id), name, args: parsedObject(given) },
      }))
      const said = turn.text === '' ? [] : [{ text: turn.text }]
      return { role: 'model', parts: nativeOf(turn, 'generate') ?? [...said, ...calls] }
    }
    default:
      return {
        role: 'user',
        parts: turn.answers.map(({ id, name, text: answer }) => ({
          functionResponse: { ...withId(id), name, response: responseOf(answer) },
        })),
      }
  }
}

const formatOf = ({ format, schema }: SetUp): Json =>
  format === 'text'
    ? {}
    : {
        responseMimeType: 'application/json',
        ...(format === 'json_schema' && { responseJsonSchema: parsedJson(schema) }),
      }

function answerOf(parts: readonly Json[], usage: Json): Answer {
  const said = (isThought: boolean) =>
    parts
      .filter(({ thought }) => (thought === true) === isThought)
      .map((part) => text(part['text']))
      .join('')
  return {
    text: said(false),
    thinking: said(true),
    calls: parts.flatMap(({ functionCall }): ToolCall[] => {
      const call = record(functionCall)
      if (typeof call['name'] !== 'string') return []
      const { id, name, args } = call
      return [{ id: text(id), name, arguments: JSON.stringify(args ?? {}) }]
    }),
    native: parts,
    ...usageFrom(usage, 'promptTokenCount', 'candidatesTokenCount'),
  }
}

const partsIn = (body: Json): Json[] =>
  list(record(list(body['candidates'])[0]?.['content'])['parts'])

/** A text goes on where nothing but text stands on either side. */
function addPart(parts: Json[], part: Json): void {
  const last = parts.at(-1)
  const isPlain = (each: Json | undefined): each is Json =>
    each !== undefined && Object.keys(each).join() === 'text'
  if (isPlain(last) && isPlain(part)) last['text'] = text(last['text']) + text(part['text'])
  else parts.push({ ...part })
}

export const generate: Style = {
  name: 'generate',
  has: ['temperature', 'top_p', 'max_tokens', 'effort', 'stop', 'json_object'],
  efforts: ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'],
  path: (model, isStream) =>
    `/vendorg/v1beta/models/${encodeURIComponent(model)}:` +
    (isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'),
  body(_, setUp, turns) {
    const { system, max_tokens, temperature, top_p, effort } = setUp
    const functionDeclarations = toolsIn(setUp.tools)
    return filled({
      systemInstruction: system === '' ? undefined : { parts: [{ text: system }] },
      contents: sentTurns(turns).map(contentOf),
      tools: functionDeclarations.length === 0 ? undefined : [{ functionDeclarations }],
      generationConfig: filledOrNone({
        ...{ maxOutputTokens: max_tokens, temperature, topP: top_p },
        stopSequences: stopsIn(setUp),
        thinkingConfig: filledOrNone({ thinkingLevel: effort }),
        ...formatOf(setUp),
      }),
      ...record(parsedJson(setUp.more)),
    })
  },
  read: (body) => answerOf(partsIn(body), record(body['usageMetadata'])),
  fold() {
    const parts: Json[] = []
    let usage: Json = {}
    let error: string | undefined
    return (event) => {
      for (const part of partsIn(event)) addPart(parts, part)
      if (event['usageMetadata'] !== undefined) usage = record(event['usageMetadata'])
      if (event['error'] !== undefined) error = text(record(event['error'])['message'])
      return { ...answerOf(parts, usage), ...(error !== undefined && { error }) }
    }
  },
}
