// Parses JSON with long strings in it, such as images: those are taken out first and decoded one
// part per turn of the event loop. Characters beyond Latin-1 anywhere make parsing all of them
// slow.
import { randomUUID } from 'node:crypto'
import { nextTurn } from '../turns.ts'

/** Start and end of a string's characters, without its quotes. */
export interface LongString {
  start: number
  end: number
}

/** Shorter ones are left to the parser. */
export const longString = 512 * 1024
const stretch = 1024 * 1024

/** Returns or throws what JSON.parse would. `strings` are values, in order. */
export async function parseLong(text: string, strings: readonly LongString[]): Promise<unknown> {
  if (strings.length === 0) return JSON.parse(text)
  const mark = `long:${randomUUID()}:`
  const values = new Map<string, string>()
  let rest = ''
  let at = 0
  for (const { start, end } of strings) {
    const name = `${mark}${values.size}`
    values.set(name, await stringIn(text, start, end))
    rest += text.slice(at, start) + name
    at = end
  }
  return restored(JSON.parse(rest + text.slice(at)), values)
}

async function stringIn(text: string, start: number, end: number): Promise<string> {
  /** What was decoded so far; undefined while it equals the source. */
  let value: string | undefined
  for (let at = start; at < end; ) {
    const to = at + stretch >= end ? end : beforeEscape(text, at, at + stretch)
    const read: string = JSON.parse(`"${text.slice(at, to)}"`)
    if (value === undefined && read.length !== to - at) value = text.slice(start, at)
    if (value !== undefined) value += read
    at = to
    await nextTurn()
  }
  return value ?? text.slice(start, end)
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
