// Events of a text stream as text: a whole stream at once, and one event on one line.
import { answerWithoutCosts } from '../../contract/cost-fields.ts'
import { dataOf, splitEvents } from '../../lib/http/sse.ts'
import { outlineOf } from '../../lib/json/outline.ts'
import { isObject, tooDeep } from '../../lib/json/parse.ts'
import type { Json, TextStyle, Verdict } from './style.ts'

/** An event with its data, for two readers of one stream. */
export interface ParsedEvent {
  data: string
  value: Json
}

/** The end of a stream in the chat style; some upstreams send it in others, too. */
export const doneMarker = '[DONE]'

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

/** For the caller: repaired, without what tells the operator's costs. The same text when nothing changed. */
export function shownData(data: string, sent: Json, repaired: Json, verdict: Verdict): string {
  let shown: Json = answerWithoutCosts(repaired)
  if (typeof verdict === 'object' && 'without' in verdict) {
    const { [verdict.without]: _, ...rest } = shown
    shown = rest
  }
  return shown === sent ? data : JSON.stringify(shown)
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
