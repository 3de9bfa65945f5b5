// JSON with long strings in it, such as images: a thread checks the text, takes those out and
// decodes them; what is left is short enough to be parsed at once. Characters beyond Latin-1
// anywhere would make parsing all of them slow.
import { randomUUID } from 'node:crypto'
import { type Cut, parseParts } from './parse-parts.ts'

/** Start and end of a string's characters, without its quotes. */
export interface LongString {
  start: number
  end: number
}

/** Shorter ones are left to the parser. */
export const longString = 512 * 1024
const stretch = 1024 * 1024

/** A JSON text without its long strings. Flat, so that threads share its texts. */
export interface Shortened {
  /** The same JSON with a word in place of each long string. */
  rest: string
  /** The words begin with it; a number follows. */
  mark: string
  /** Where the long strings are in the text, as JSON. */
  spans: string
  /** Where the rest is cut to be parsed in parts, as JSON. */
  cuts: string
  /**
   * By number, with a `v` before it. Where only the text itself is passed on, just those that differ
   * from it because of escapes.
   */
  [value: `v${number}`]: string
}

/**
 * `strings` are values, in order; `cuts` those of a scan of the text. `owned`: they are passed on by themselves; a part of another text
 * would be copied each time. Throws what JSON.parse would.
 */
export function shorten(
  text: string,
  strings: readonly LongString[],
  owned = false,
  cuts: readonly Cut[] = [],
): Shortened {
  const mark = `long:${randomUUID()}:`
  const short: Shortened = { rest: '', mark, spans: JSON.stringify(strings), cuts: '' }
  const cutsInRest: Cut[] = []
  let [at, cut] = [0, 0]
  /** Those before the end of what has been taken over from there. */
  const takeCuts = (end: number): void => {
    for (; cut < cuts.length && cuts[cut]!.comma < end; cut++) {
      const { comma, ...open } = cuts[cut]!
      cutsInRest.push({ comma: short.rest.length + comma - at, ...open })
    }
  }
  for (const [number, { start, end }] of strings.entries()) {
    takeCuts(start)
    const value = decoded(text, start, end) ?? (owned ? text.slice(start, end) : undefined)
    if (value !== undefined) short[`v${number}`] = value
    short.rest += `${text.slice(at, start)}${mark}${number}`
    at = end
  }
  takeCuts(text.length)
  short.rest += text.slice(at)
  short.cuts = JSON.stringify(cutsInRest)
  return short
}

/** The value of the whole text, parsed in turns. Returns or throws what JSON.parse would. */
export function parseShortened(text: string, short: Shortened): Promise<unknown> {
  const strings = JSON.parse(short.spans) as LongString[]
  const cuts = JSON.parse(short.cuts) as Cut[]
  if (strings.length === 0) return parseParts(short.rest, cuts)
  const values = new Map(
    strings.map(({ start, end }, number) => [
      `${short.mark}${number}`,
      short[`v${number}`] ?? text.slice(start, end),
    ]),
  )
  return parseParts(short.rest, cuts, (part) => restored(part, values))
}

/** Undefined when the string equals its source. In stretches, because most have no escapes. */
function decoded(text: string, start: number, end: number): string | undefined {
  let value: string | undefined
  for (let at = start; at < end; ) {
    const to = at + stretch >= end ? end : beforeEscape(text, at, at + stretch)
    const read: string = JSON.parse(`"${text.slice(at, to)}"`)
    if (value === undefined && read.length !== to - at) value = text.slice(start, at)
    if (value !== undefined) value += read
    at = to
  }
  return value
}

/** The position itself, or the start of the escape that it would split. */
function beforeEscape(text: string, from: number, place: number): number {
  for (let at = place - 1; at >= place - 5; at--) {
    if (text.charCodeAt(at) !== 0x5c || isEscaped(text, from, at)) continue
    const length = text[at + 1] === 'u' ? 6 : 2
    return at + length > place ? at : place
  }
  return place
}

/** Whether a backslash is itself escaped. */
function isEscaped(text: string, from: number, at: number): boolean {
  let before = 0
  while (at - before > from && text.charCodeAt(at - before - 1) === 0x5c) before++
  return before % 2 === 1
}

/** The same value with the long strings restored. */
function restored(value: unknown, values: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return values.get(value) ?? value
  if (typeof value !== 'object' || value === null) return value
  const holder = value as Record<string, unknown>
  for (const name in holder) {
    const inner = holder[name]
    if (typeof inner === 'number' || typeof inner === 'boolean') continue
    const whole = restored(inner, values)
    if (whole !== inner) holder[name] = whole
  }
  return value
}
