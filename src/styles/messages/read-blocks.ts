// The content blocks of a messages request.
import { isObject } from '../../lib/json/parse.ts'
import { objectsIn, textIn } from '../../lib/json/values.ts'
import type {
  CacheMark,
  Json,
  MediaPart,
  Part,
  ReasoningPart,
  TextPart,
  ToolResultPart,
} from '../common/conversation.ts'
import { present, type RequestReading } from '../common/request-reading.ts'
import { blockFields, loseUnknown } from './fields.ts'

/** A text, or a list of blocks. */
export function readContent(
  holder: Json,
  name: string,
  at: string,
  reading: RequestReading,
): Part[] {
  const content = holder[name]
  if (content == null) return []
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (!Array.isArray(content)) {
    reading.wrong(at + name, 'a string or an array of blocks')
    return []
  }
  const parts: Part[] = []
  for (const { item, at: place } of reading.objects(holder, name, at)) {
    const part = readBlock(item, place, reading)
    if (part !== undefined) parts.push(part)
  }
  return parts
}

/** Content that has text only. */
export function readTexts(
  holder: Json,
  name: string,
  at: string,
  reading: RequestReading,
): TextPart[] {
  return readContent(holder, name, at, reading).filter((part) => {
    if (part.type === 'text') return true
    reading.refuse(at + name, 'instructions hold text only')
    return false
  }) as TextPart[]
}

type ReadBlock = (block: Json, at: string, reading: RequestReading) => Part | undefined

const readers: ReadonlyMap<unknown, ReadBlock> = new Map<string, ReadBlock>([
  ['text', readText],
  ['image', readImage],
  ['document', readDocument],
  ['tool_use', readCall],
  ['tool_result', readResult],
  ['thinking', readThinking],
  ['redacted_thinking', readRedacted],
  ['tool_reference', readReference],
])

function readBlock(block: Json, at: string, reading: RequestReading): Part | undefined {
  const { type } = block
  const read = readers.get(type)
  if (read === undefined) {
    const given = String(type).slice(0, 64)
    return reading.refuse(`${at}.type`, `a block of the type '${given}' cannot be translated`)
  }
  reading.losses.addUnknown(block, blockFields[type as string]!, `${type}.`)
  const part = read(block, `${at}.`, reading)
  const cache = markOf(block, reading)
  return part === undefined || cache === undefined ? part : ({ ...part, cache } as Part)
}

export function markOf(
  { cache_control: mark }: Json,
  reading: RequestReading,
): CacheMark | undefined {
  if (!isObject(mark)) return undefined
  reading.losses.addUnknown(mark, markFields, 'cache_control.')
  return typeof mark['ttl'] === 'string' ? { ttl: mark['ttl'] } : {}
}

const markFields: ReadonlySet<string> = new Set(['type', 'ttl'])

function readText(block: Json, at: string, reading: RequestReading): Part {
  return { type: 'text', text: reading.requiredText(block, 'text', at) }
}

function readImage(block: Json, at: string, reading: RequestReading): Part | undefined {
  const source = readSource(block, at, reading)
  return source && { type: 'image', ...source }
}

/** Base64 or a URL; a file that the upstream stores is nothing that could be translated. */
function readSource(
  block: Json,
  at: string,
  reading: RequestReading,
): Pick<MediaPart, 'data' | 'url' | 'mimeType' | 'text'> | undefined {
  const source = reading.object(block, 'source', at)
  if (source === undefined) return reading.wrong(`${at}source`, 'an object')
  loseUnknown(source, 'source.', reading.losses)
  const place = `${at}source.`
  const { type } = source
  if (type === 'url') return { url: reading.requiredText(source, 'url', place) }
  if (type !== 'base64' && type !== 'text') {
    return reading.refuse(`${place}type`, 'such a source cannot be translated')
  }
  const data = reading.requiredText(source, 'data', place)
  const mimeType = reading.text(source, 'media_type', place)
  return type === 'text'
    ? { text: data, ...present({ mimeType }) }
    : { data, ...present({ mimeType }) }
}

function readDocument(block: Json, at: string, reading: RequestReading): Part | undefined {
  const name = reading.text(block, 'title', at)
  const { source } = block
  const given =
    isObject(source) && source['type'] === 'content'
      ? contentText(source, `${at}source.`, reading)
      : readSource(block, at, reading)
  return given && { type: 'document', ...given, ...present({ name }) }
}

/** A document that is given as blocks. */
function contentText(source: Json, at: string, reading: RequestReading): { text: string } {
  loseUnknown(source, 'source.', reading.losses)
  const parts = readContent(source, 'content', at, reading)
  if (parts.some(({ type }) => type !== 'text')) {
    reading.refuse(`${at}content`, 'a document with other content than text cannot be translated')
  }
  return { text: parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n\n') }
}

/** Numbers that were read exactly are written exactly. */
function readCall(block: Json, at: string, reading: RequestReading): Part {
  return {
    type: 'call',
    id: reading.requiredText(block, 'id', at),
    name: reading.requiredText(block, 'name', at),
    freeForm: false,
    input: JSON.stringify(block['input'] ?? {}),
  }
}

function readResult(block: Json, at: string, reading: RequestReading): ToolResultPart {
  const parts = readContent(block, 'content', at, reading).flatMap((part) => {
    if (part.type === 'text' || part.type === 'image' || part.type === 'document') return [part]
    reading.refuse(
      `${at}content`,
      `a result with a part of the type '${part.type}' cannot be translated`,
    )
    return []
  })
  return {
    type: 'result',
    callId: reading.requiredText(block, 'tool_use_id', at),
    parts: parts.filter((part) => part.type !== 'text' || part.text !== ''),
    isError: block['is_error'] === true,
  }
}

/** A search for tools found this one. Its description is in the list of tools from now on. */
function readReference(block: Json, at: string, reading: RequestReading): Part {
  const name = reading.requiredText(block, 'tool_name', at)
  return { type: 'text', text: `The tool '${name}' can be called now.` }
}

/** The names in all references of the results of a request. */
export function referencedTools(fields: Json): ReadonlySet<string> {
  const results = objectsIn(fields, 'messages')
    .flatMap((message) => objectsIn(message, 'content'))
    .filter(({ type }) => type === 'tool_result')
  const references = results
    .flatMap((result) => objectsIn(result, 'content'))
    .filter(({ type }) => type === 'tool_reference')
  return new Set(references.flatMap((reference) => textIn(reference, 'tool_name') ?? []))
}

/** The text that the seal is for is the upstream's own; what the caller shows may be less. */
function readThinking(block: Json, at: string, reading: RequestReading): ReasoningPart {
  const text = reading.text(block, 'thinking', at) ?? ''
  const seal = reading.envelopes.unwrap(reading.text(block, 'signature', at) ?? '')
  return { type: 'reasoning', text: seal?.text ?? text, ...present({ seal }) }
}

function readRedacted(block: Json, at: string, reading: RequestReading): ReasoningPart {
  const seal = reading.envelopes.unwrap(reading.text(block, 'data', at) ?? '')
  return { type: 'reasoning', text: seal?.text ?? '', redacted: true, ...present({ seal }) }
}
