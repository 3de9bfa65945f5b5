// The messages of a chat request as turns. Instructions before the first turn are the system prompt;
// later ones stay where they are.
import { isObject } from '../../lib/json/parse.ts'
import type {
  Json,
  Part,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  Turn,
} from '../common/conversation.ts'
import type { RequestReading } from '../common/request-reading.ts'
import { mergeTurns } from '../common/turns.ts'
import { signatureOf } from './call-seal.ts'
import { loseUnknown, messageFields } from './fields.ts'
import { readContent, readTexts } from './read-parts.ts'

interface Messages {
  system: TextPart[]
  turns: Turn[]
}

export function readMessages(fields: Json, reading: RequestReading): Messages {
  const system: TextPart[] = []
  const turns: Turn[] = []
  /** Calls of the last turn of the assistant that have no result yet. */
  let pending = new Map<string, ToolCallPart>()
  for (const { item, at } of reading.objects(fields, 'messages')) {
    reading.losses.addUnknown(
      item,
      item['role'] === 'tool' ? toolFields : messageFields,
      'messages.',
    )
    const role = item['role']
    if (role === 'system' || role === 'developer') {
      const parts = readTexts(item['content'], `${at}.content`, reading)
      if (turns.length > 0) turns.push({ role: 'system', parts })
      else for (const part of parts) if (part.text !== '') system.push(part)
    } else if (role === 'user') {
      turns.push({ role, parts: readContent(item['content'], `${at}.content`, reading) })
    } else if (role === 'assistant') {
      const parts = readAssistant(item, at, reading)
      pending = new Map()
      for (const part of parts) if (part.type === 'call') pending.set(part.id, part)
      turns.push({ role, parts })
    } else if (role === 'tool' || role === 'function') {
      turns.push({ role: 'user', parts: readResult(item, at, pending, reading) })
    } else reading.refuse(`${at}.role`, 'it is not a role that can be translated')
  }
  return { system, turns: mergeTurns(turns) }
}

const toolFields: ReadonlySet<string> = new Set([...messageFields, 'name'])

/** In the order in which the model gives them. */
function readAssistant(message: Json, at: string, reading: RequestReading): Part[] {
  const parts: Part[] = []
  for (const part of readReasoning(message)) parts.push(sealed(part, reading))
  for (const part of readContent(message['content'], `${at}.content`, reading)) parts.push(part)
  const refusal = reading.text(message, 'refusal', `${at}.`)
  if (refusal) parts.push({ type: 'refusal', text: refusal })
  for (const part of readCalls(message, at, reading)) parts.push(sealed(part, reading))
  return parts
}

/** Seals travel as envelopes; each belongs to one block of reasoning. */
interface Enveloped extends ReasoningPart {
  envelope?: string
}

function readReasoning(message: Json): Enveloped[] {
  const { reasoning_content: content, reasoning, reasoning_details: details } = message
  const given = content || reasoning
  const text = typeof given === 'string' ? given : ''
  const envelopes = Array.isArray(details) ? details.flatMap(dataOf) : []
  if (envelopes.length === 0) return text === '' ? [] : [{ type: 'reasoning', text }]
  return envelopes.map((envelope, index) => ({
    type: 'reasoning',
    text: index === 0 ? text : '',
    envelope,
  }))
}

const dataOf = (detail: unknown): string[] =>
  isObject(detail) && typeof detail['data'] === 'string' ? [detail['data']] : []

function sealed(part: Part & { envelope?: string }, reading: RequestReading): Part {
  if (part.envelope === undefined) return part
  const { envelope, ...rest } = part
  const seal = reading.envelopes.unwrap(envelope)
  if (seal === undefined) return rest as Part
  if (rest.type !== 'reasoning') return { ...rest, seal } as Part
  return {
    ...rest,
    text: seal.text ?? rest.text,
    seal,
    ...(seal.redacted && { redacted: true as const }),
  }
}

function readCalls(message: Json, at: string, reading: RequestReading): Part[] {
  const calls = reading
    .objects(message, 'tool_calls', `${at}.`)
    .map(({ item, at: place }) => readCall(item, place, reading))
  const legacy = reading.object(message, 'function_call', `${at}.`)
  if (legacy !== undefined) {
    const call = { id: `call_${at.replaceAll(/\D/g, '')}`, type: 'function', function: legacy }
    calls.push(readCall(call, at, reading))
  }
  return calls
}

function readCall(call: Json, at: string, reading: RequestReading): Part & { envelope?: string } {
  const freeForm = call['type'] === 'custom'
  const kind = freeForm ? 'custom' : 'function'
  const holder = reading.object(call, kind, `${at}.`) ?? {}
  loseUnknown(call, 'messages.tool_calls.', reading.losses)
  loseUnknown(holder, `messages.tool_calls.${kind}.`, reading.losses)
  const field = freeForm ? 'input' : 'arguments'
  const given = holder[field]
  const input = isObject(given)
    ? JSON.stringify(given)
    : reading.text(holder, field, `${at}.${kind}.`)
  const id = reading.requiredText(call, 'id', `${at}.`)
  const envelope = signatureOf(call)
  return {
    type: 'call',
    id,
    name: reading.requiredText(holder, 'name', `${at}.${kind}.`),
    freeForm,
    input: input || (freeForm ? '' : '{}'),
    ...(envelope !== undefined && { envelope }),
  }
}

function readResult(
  message: Json,
  at: string,
  pending: Map<string, ToolCallPart>,
  reading: RequestReading,
): Part[] {
  const name = reading.text(message, 'name', `${at}.`)
  const callId = reading.text(message, 'tool_call_id', `${at}.`) || idOfPending(name, pending)
  if (callId === undefined) {
    reading.wrong(`${at}.tool_call_id`, 'the id of a call')
    return []
  }
  pending.delete(callId)
  const parts = readContent(message['content'], `${at}.content`, reading).flatMap((part) =>
    isResultContent(part) ? [part] : [],
  )
  return [{ type: 'result', callId, parts, isError: false, ...(name !== undefined && { name }) }]
}

const isResultContent = (part: Part) =>
  part.type !== 'call' &&
  part.type !== 'result' &&
  part.type !== 'reasoning' &&
  part.type !== 'refusal'

/** A result without an id belongs to the only call that has none, or to the one of its name. */
function idOfPending(
  name: string | undefined,
  pending: ReadonlyMap<string, ToolCallPart>,
): string | undefined {
  if (pending.size > maxUnnamed) return undefined
  const calls = [...pending.values()]
  const named = calls.filter((call) => call.name === name)
  const [only, ...more] = named.length > 0 ? named : calls
  return more.length === 0 ? only?.id : undefined
}

/** Calls that a result without an id is compared with. */
const maxUnnamed = 128
