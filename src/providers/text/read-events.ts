// Events of a text stream as text: a whole stream at once, and one event on one line.
import { answerWithoutCosts } from '../../contract/cost-fields.ts'
import { dataOf, splitEvents } from '../../lib/http/sse.ts'
import { outlineOf } from '../../lib/json/outline.ts'
import { isObject, tooDeep } from '../../lib/json/parse.ts'
import type { Json, TextStyle } from './style.ts'

/** An event with its data, for two readers of one stream. */
export interface ParsedEvent {
  data: string
  value: Json
}

/** Safe for a recursive walk. */
const maxAnswerDepth = 200

/** A text that is shorter cannot be deeper. */
export const mayBeDeep = (text: string): boolean =>
  text.length > 2 * maxAnswerDepth && tooDeep(text, maxAnswerDepth)

/**
 * JSON of an upstream; undefined when it is none. Callers can have a model write any keys and any depth:
 * neither makes an answer invalid. Of one that is too deep there is an outline.
 */
export function parseUpstream(text: string): unknown {
  if (mayBeDeep(text)) return outlineOf(text)
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A message of a proxy, not of the upstream. */
export const isPage = (text: string): boolean => /^\s*</.test(text)

/** The same event with its data on one line. JSON has line ends only between its parts. */
export function oneLine(event: string, data: string): string {
  const others = event.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('data:'))
  return `${[...others, `data: ${data.replaceAll('\n', ' ')}`].join('\n')}\n\n`
}

/** For the caller: without what tells the operator's costs. The same text when it has none of that. */
export function shownData(data: string, value: Json): string {
  const shown = answerWithoutCosts(value)
  return shown === value ? data : JSON.stringify(shown)
}

/** An event that a style has written itself; `hasCosts`: it may tell the operator's costs. */
export function written(event: string, hasCosts: boolean): string {
  const data = hasCosts ? dataOf(event) : undefined
  return data === undefined
    ? event
    : oneLine(event, JSON.stringify(answerWithoutCosts(JSON.parse(data))))
}

/** A stream whole in memory, for styles that turn it into one answer. */
export function readEvents(style: TextStyle, text: string): Record<string, unknown>[] | undefined {
  const found: Record<string, unknown>[] = []
  for (const event of splitEvents(`${text.trimEnd()}\n\n`)) {
    const data = dataOf(event)
    if (data === undefined || data === style.stream?.marker) continue
    const value = parseUpstream(data)
    if (value === undefined) return undefined
    if (isObject(value)) found.push(value)
  }
  return found
}

/** Nothing is missing but the blank line. */
export function isWholeEvent(event: string, marker: string | undefined): boolean {
  const data = dataOf(`${event}\n\n`)
  if (data === undefined || data === marker) return true
  try {
    JSON.parse(data)
    return true
  } catch {
    return false
  }
}
