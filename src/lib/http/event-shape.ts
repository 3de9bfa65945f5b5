// Whether events that are not parsed have all their parts: one that is like an earlier one that was parsed,
// but for its text, has what that one had. All others must be parsed. Knows no protocol.
import type { Shape } from './sse.ts'

/** Of all streams of a kind. */
const maxShared = 32
/** A stream whose events are all different does not drive out the others. */
const maxLearned = 8
const maxBytes = 1024
/** Every fourth byte is compared: a part more or less moves all that follow. */
const step = 4
const [quote, backslash, lineFeed] = [0x22, 0x5c, 0x0a]

/** A field of an event around the text in it. */
interface Alike {
  /** Where the text begins, or the field ends, from the beginning of the event. */
  place: number
  /** Backwards from there. */
  head: Uint8Array
  /** From the end of the text on; undefined when there is no text. */
  tail: Uint8Array | undefined
  /** Since others were last looked through for one that is not. */
  isUsed: boolean
}

/** Most servers write the events of all their streams in the same way. */
export class SharedShapes {
  readonly list: Alike[] = []
  #hand = 0

  add(alike: Alike): void {
    for (let i = 0; i < maxShared && this.list[this.#hand]?.isUsed; i++) {
      this.list[this.#hand]!.isUsed = false
      this.#hand = (this.#hand + 1) % maxShared
    }
    this.list[this.#hand] = alike
    this.#hand = (this.#hand + 1) % maxShared
  }
}

/** The list or object in which parts may be missing. */
export interface ShapedField {
  name: string
  /** Whether an event with this text is whole depends on those before it. */
  own: string
}

export class EventShape implements Shape {
  readonly #field: ShapedField
  readonly #textField: RegExp
  readonly #shared: SharedShapes
  #last: Alike | undefined
  #learned = 0
  #isTrusted = true
  /** The last event that was judged did not fit. */
  #missed = false

  /** `textField` finds texts in raw events; its group is the text. */
  constructor(field: ShapedField, textField: RegExp, shared: SharedShapes) {
    this.#field = field
    this.#textField = textField
    this.#shared = shared
  }

  fits(bytes: Buffer, at: number, end: number): boolean {
    if (this.#last !== undefined && isLike(bytes, at, end, this.#last)) return true
    if (this.#isTrusted && this.#isShared(bytes, at, end)) return true
    this.#missed = true
    return false
  }

  /** What the last event was like, if that is around a text which begins at `place` of it. */
  lastAround(place: number, tailBytes: number): object | undefined {
    const { place: own, tail } = this.#last ?? {}
    return own === place && tail !== undefined && tail.length <= tailBytes ? this.#last : undefined
  }

  /** Whether events like that fit still. */
  isLast(known: object): boolean {
    return this.#last === known
  }

  #isShared(bytes: Buffer, at: number, end: number): boolean {
    const { list } = this.#shared
    for (let i = 0; i < list.length; i++) {
      const alike = list[i]!
      if (!isLike(bytes, at, end, alike)) continue
      alike.isUsed = true
      this.#last = alike
      return true
    }
    return false
  }

  /** An event that has all parts. */
  learn(event: string): void {
    if (!this.#missed || !this.#isTrusted || this.#learned >= maxLearned) return
    this.#missed = false
    this.#learned++
    const letters = Buffer.from(event).toString('latin1')
    const { name, own } = this.#field
    const from = letters.indexOf(`"${name}"`)
    const alike = from === -1 ? undefined : alikeOf(letters, from, this.#textField)
    if (alike === undefined) return
    this.#last = alike
    if (!letters.includes(own, from)) this.#shared.add(alike)
  }

  /** An event lacked something: all that follow are parsed. */
  distrust(): void {
    this.#isTrusted = false
    this.#last = undefined
  }
}

function isLike(bytes: Buffer, at: number, end: number, alike: Alike): boolean {
  const { head, tail } = alike
  let p = at + alike.place
  if (p >= end) return false
  for (let i = 0; i < head.length; i += step) if (bytes[p - i] !== head[i]) return false
  if (tail === undefined) return true
  for (let byte = bytes[++p]; byte !== quote; byte = bytes[p]) {
    if (p >= end || byte === lineFeed) return false
    p += byte === backslash ? 2 : 1
  }
  if (p + tail.length > end) return false
  for (let i = 1; i < tail.length; i += step) if (bytes[p + i] !== tail[i]) return false
  return true
}

/** `event`: one letter for each byte. `from`: where the field begins. */
function alikeOf(event: string, from: number, textField: RegExp): Alike | undefined {
  const end = endOfField(event.slice(0, from + maxBytes + 1), from)
  if (end === -1 || end - from > maxBytes) return undefined
  textField.lastIndex = from
  let found = textField.exec(event)
  while (found?.[1] === '') found = textField.exec(event)
  textField.lastIndex = 0
  const close = found === null ? end : found.index + found[0].length - 1
  const hasText = found !== null && close < end
  const place = hasText ? close - found![1]!.length - 1 : end - 1
  return {
    place,
    head: Buffer.from(event.slice(from, place + 1), 'latin1').reverse(),
    tail: hasText ? Buffer.from(event.slice(close, end), 'latin1') : undefined,
    isUsed: false,
  }
}

/** Behind the list or object that begins behind `from`. */
function endOfField(event: string, from: number): number {
  let depth = 0
  for (let at = from; at < event.length; at++) {
    const code = event.charCodeAt(at)
    if (code === quote) at = endOfText(event, at)
    // [ ] { } differ in these bits only.
    else if ((code & 0xdf) === 0x5b) depth++
    else if ((code & 0xdf) === 0x5d && --depth === 0) return at + 1
  }
  return -1
}

function endOfText(event: string, quoteAt: number): number {
  let at = quoteAt + 1
  while (at < event.length && event.charCodeAt(at) !== quote) {
    at += event.charCodeAt(at) === backslash ? 2 : 1
  }
  return at
}
