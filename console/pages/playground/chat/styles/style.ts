// What a style of text does for a conversation: write the request, and read the answer, whole or event by
// event.
import type { AnswerTurn, SetUp, StyleName, ToolCall, Turn } from '../conversation.ts'

export type Json = Record<string, unknown>

export interface Answer {
  text: string
  thinking: string
  calls: readonly ToolCall[]
  /** What this style wants to be given back in the next request. */
  native?: unknown
  tokens?: { input: number; output: number }
  /** As it was charged, in the currency of the gateway. */
  charge?: string
  /** Why an answer that has begun did not end well. */
  error?: string
}

type Parameter = 'temperature' | 'top_p' | 'max_tokens' | 'effort' | 'stop' | 'json_object'

export interface Style {
  name: StyleName
  /** Of the parameters that not all styles have. */
  has: readonly Parameter[]
  efforts: readonly string[]
  path(model: string, isStream: boolean): string
  body(model: string, setUp: SetUp, turns: readonly Turn[]): Json
  read(body: Json): Answer
  /** Takes one event after the other; each time the answer so far. */
  fold(): (event: Json) => Answer
}

export const record = (value: unknown): Json =>
  typeof value === 'object' && value !== null ? (value as Json) : {}

export const list = (value: unknown): Json[] => (Array.isArray(value) ? value.map(record) : [])

export const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Without the fields that are not set. */
export const filled = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** Undefined where it would be empty. */
export function filledOrNone(fields: Json): Json | undefined {
  const rest = filled(fields)
  return Object.keys(rest).length === 0 ? undefined : rest
}

/** The answer in the shape of its own style, if it came in that one. */
export const nativeOf = (turn: AnswerTurn, style: StyleName): unknown =>
  turn.style === style ? turn.native : undefined

/** What is sent: failed answers are not. */
export const sentTurns = (turns: readonly Turn[]): Turn[] =>
  turns.filter((turn) => turn.role !== 'assistant' || turn.isFailed !== true)

interface InlineImage {
  mediaType: string
  data: string
}

/** The bytes of a data address; undefined for an address on the web. */
export function inlineImage(address: string): InlineImage | undefined {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(address) ?? []
  return mediaType === undefined || data === undefined ? undefined : { mediaType, data }
}

/** Usage with the charge that the gateway adds to it. */
export function usageFrom(usage: Json, input: string, output: string): Partial<Answer> {
  const { charge } = record(usage['gateway'])
  const [i, o] = [usage[input], usage[output]]
  return {
    ...(typeof charge === 'string' && { charge }),
    ...(typeof i === 'number' && typeof o === 'number' && { tokens: { input: i, output: o } }),
  }
}

export const parsedObject = (json: string): Json => {
  try {
    return record(JSON.parse(json))
  } catch {
    return {}
  }
}
