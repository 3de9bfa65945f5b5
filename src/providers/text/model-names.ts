// Puts the caller's name for the model into the plain events of a stream, a whole read at a time:
// finds the one place in each event and replaces its bytes. Nothing is parsed; an event in which the
// place is not certain is left to be read by itself.
import { ensure } from '../../lib/ensure.ts'
import type { EventShape } from '../../lib/http/event-shape.ts'
import { restoreModel, withModelIn } from '../../lib/json/splice.ts'
import type { Edits } from '../../lib/text/edits.ts'
import { oneLine } from './read-events.ts'
import type { StreamStyle } from './style.ts'

const [lineFeed, carriageReturn, space, quote, colon, backslash] = [
  0x0a, 0x0d, 0x20, 0x22, 0x3a, 0x5c,
]
const [openBrace, closeBrace, letterD, letterU] = [0x7b, 0x7d, 0x64, 0x75]
const dataAt = 'data: '.length
const blankLine = '\n\n'.length
/** Any letter may be spelled that way, those of the field's name too. */
const escapeStart = '\\u00'

/** Where a style says nothing else. */
export const usualFields = ['model'] as const

/** What is replaced in a stream, and by what. */
export interface OwnName {
  /** Fields that hold a name, as they stand in JSON: `"model"`. All have the same first letter. */
  keys: readonly string[]
  letter: number
  /** In JSON. */
  bytes: Buffer
  /** How the last event began, up to the end of its name: most events of a stream begin alike. */
  begin?: Alike & { bytes: Uint8Array }
  /** The same from the character before its key to its end. */
  end?: Alike
  /** All that events have in common that begin like that, but for one text. */
  frame?: Frame
  /** The last event that was judged by all its bytes, to learn a frame from, and how many there were. */
  framed?: Buffer | undefined
  frames?: number
}

/** An event around one text, which has the name before it and no other. */
interface Frame {
  head: DataView
  /** Up to its blank line. */
  tail: DataView
  /** What the shape of events knew it by; undefined: it is asked each time. */
  known: object | undefined
}

/** A stream whose events are all different is not learned from for ever. */
const maxFrames = 8
const maxFrameBytes = 1024
const wordBytes = 4

/** A text that many events have, with the name in it. */
interface Alike {
  text: string
  /** Its field, by its place in the list. */
  key: number
  nameAt: number
  nameEnd: number
}

export function ownName(fields: readonly string[], name: string): OwnName {
  const letter = fields[0]!.charCodeAt(0)
  ensure(
    fields.every((field) => field.charCodeAt(0) === letter),
    'fields with a model name have the same first letter',
  )
  const bytes = Buffer.from(JSON.stringify(name))
  return { keys: fields.map((field) => `"${field}"`), letter, bytes }
}

/** The names in the events of one read. */
export class ModelNames {
  readonly #own: OwnName
  readonly #read: Buffer
  #letters: string | undefined
  /** Receives each name to replace, in order. */
  readonly #edits: Edits
  /** The next place of each key, and of an escape; -1 while it is not known. */
  readonly #next: number[]
  #nextEscape = -1
  /** What else each event must have. */
  readonly #shape: EventShape | undefined
  readonly #view: DataView

  constructor(own: OwnName, read: Buffer, edits: Edits, shape?: EventShape) {
    this.#shape = shape
    this.#own = own
    this.#read = read
    this.#edits = edits
    this.#next = own.keys.map(() => -1)
    this.#view = new DataView(read.buffer, read.byteOffset, read.length)
  }

  /** The read, one letter for each byte. Made only when there are events that are not alike. */
  get #text(): string {
    this.#letters ??= this.#read.toString('latin1', 0, this.#read.length)
    return this.#letters
  }

  #find(text: string, from: number): number {
    const at = this.#text.indexOf(text, from)
    return at === -1 ? this.#text.length : at
  }

  /**
   * Where the first event between `start` and `end` begins that is not one line of `data: {…}`, or in
   * which the name has no certain place; -1 if there is none. `seen` receives the number of the
   * others.
   */
  findOdd(start: number, end: number, seen: { events: number }): number {
    let at = start
    while (at < end) {
      let next = this.#passFramed(at, end)
      if (next === -1) next = this.#passAlike(at, end)
      if (next === -1) next = this.#passUsual(at)
      if (next === -1) return at
      seen.events++
      at = next
    }
    return -1
  }

  /**
   * Behind the events from there on that differ from one before them in their text alone: nothing else has to be
   * looked for in them. `seen` receives their number.
   */
  passFramed(start: number, end: number, seen: { events: number }): number {
    let at = start
    for (let next = this.#passFramed(at, end); next !== -1; next = this.#passFramed(at, end)) {
      seen.events++
      at = next
    }
    return at
  }

  /** Behind an event that differs from the last one in its text alone; -1 when it may differ elsewhere. */
  #passFramed(at: number, end: number): number {
    const { frame, begin } = this.#own
    if (frame === undefined || begin === undefined) return -1
    const { head, tail, known } = frame
    const from = at + head.byteLength
    if (from + tail.byteLength > end || !this.#has(head, at)) return -1
    const read = this.#read
    let p = from
    for (let byte = read[p]; byte !== quote; byte = read[p]) {
      if (byte === lineFeed || p >= end) return -1
      p += byte === backslash ? 2 : 1
    }
    const next = p + tail.byteLength
    if (next > end || !this.#has(tail, p)) return -1
    const isKnown = known !== undefined && this.#shape?.isLast(known) === true
    if (!isKnown && !this.#fits(at, next - blankLine)) return -1
    this.#edits.replace(at + dataAt + begin.nameAt, at + begin.bytes.length, this.#own.bytes)
    return next
  }

  /** Four bytes at a time. */
  #has(bytes: DataView, at: number): boolean {
    const view = this.#view
    const last = bytes.byteLength - wordBytes
    for (let i = 0; i < last; i += wordBytes) {
      if (view.getInt32(at + i) !== bytes.getInt32(i)) return false
    }
    return view.getInt32(at + last) === bytes.getInt32(last)
  }

  /** From an event that was judged by all its bytes, and the one before it. */
  #learnFrame(at: number, end: number): void {
    const own = this.#own
    if (end - at > maxFrameBytes || (own.frames ?? 0) > maxFrames) return
    const event = Buffer.from(this.#read.subarray(at, end))
    own.frames = (own.frames ?? 0) + 1
    const frame = own.framed && frameOf(own.framed, event)
    own.framed = event
    if (frame === undefined || frame.head.byteLength < own.begin!.bytes.length) return
    const [textAt, behind] = [frame.head.byteLength - 1, frame.tail.byteLength - blankLine]
    own.frame = { ...frame, known: this.#shape?.lastAround(textAt, behind) }
  }

  /** Behind an event that begins like the last one, judged by its bytes; -1 when that is not enough. */
  #passAlike(at: number, end: number): number {
    const { begin, letter } = this.#own
    if (begin === undefined || at + begin.bytes.length >= end) return -1
    const read = this.#read
    const { bytes } = begin
    for (let i = 0; i < bytes.length; i++) if (read[at + i] !== bytes[i]) return -1
    for (let p = at + bytes.length; p + 1 < end; p++) {
      const byte = read[p]!
      // Most letters.
      if (byte > backslash) continue
      if (byte === quote && read[p + 1] === letter && this.#isKey(p)) return -1
      if (byte === backslash && read[p + 1] === letterU) return -1
      if (byte !== lineFeed) continue
      if (read[p - 1] !== closeBrace || read[p + 1] !== lineFeed) return -1
      if (!this.#fits(at, p)) return -1
      this.#edits.replace(at + dataAt + begin.nameAt, at + bytes.length, this.#own.bytes)
      this.#learnFrame(at, p + blankLine)
      return p + blankLine
    }
    return -1
  }

  #isKey(at: number): boolean {
    const read = this.#read
    return this.#own.keys.some((key) => {
      for (let i = 1; i < key.length; i++) if (read[at + i] !== key.charCodeAt(i)) return false
      return true
    })
  }

  /** Behind the event there; -1 when it is not one line of `data: {…}` or the place is not certain. */
  #passUsual(at: number): number {
    const text = this.#text
    const feed = text.indexOf('\n', at)
    const hasReturn = text.charCodeAt(feed - 1) === carriageReturn
    const close = hasReturn ? feed - 1 : feed
    const next = hasReturn && text.charCodeAt(feed + 1) === carriageReturn ? feed + 2 : feed + 1
    const usual =
      feed !== -1 &&
      text.charCodeAt(next) === lineFeed &&
      text.charCodeAt(close - 1) === closeBrace &&
      text.charCodeAt(at) === letterD &&
      text.charCodeAt(at + dataAt - 1) === space &&
      text.charCodeAt(at + dataAt) === openBrace
    return usual && this.#fits(at, close) && this.#place(at + dataAt, close) ? next + 1 : -1
  }

  #fits(at: number, end: number): boolean {
    return this.#shape === undefined || this.#shape.fits(this.#read, at, end)
  }

  /** The place in an object's text, which may also have none; false when it is not certain. */
  #place(open: number, close: number): boolean {
    if (this.#nextEscape < open) this.#nextEscape = this.#find(escapeStart, open)
    if (this.#nextEscape < close) return false
    const { keys, begin, end } = this.#own
    if (begin !== undefined && this.#text.startsWith(begin.text, open)) {
      return this.#placeAlike(begin, open, open, close)
    }
    const endAt = end === undefined ? -1 : close - end.text.length
    if (end !== undefined && endAt > open && this.#text.startsWith(end.text, endAt)) {
      return this.#nextOf(end.key, open) > endAt && this.#placeAlike(end, endAt, open, close)
    }
    let found = -1
    for (let i = 0; i < keys.length; i++) {
      if (this.#nextOf(i, open) >= close) continue
      if (found !== -1) return false
      found = i
    }
    if (found === -1) return true
    const key = this.#next[found]!
    const behind = key + keys[found]!.length
    return this.#nextOf(found, behind) >= close && this.#placeAt(found, open, behind, close)
  }

  /** Behind the name there must be no key, and elsewhere none of another field. */
  #placeAlike({ key, nameAt, nameEnd }: Alike, at: number, open: number, close: number): boolean {
    const behind = at + nameEnd
    if (behind >= close) return false
    for (let i = 0; i < this.#next.length; i++) {
      if (this.#nextOf(i, i === key ? behind : open) < close) return false
    }
    this.#edits.replace(at + nameAt, behind, this.#own.bytes)
    return true
  }

  #nextOf(i: number, from: number): number {
    let next = this.#next[i]!
    if (next < from) {
      next = this.#find(this.#own.keys[i]!, from)
      this.#next[i] = next
    }
    return next
  }

  #placeAt(found: number, open: number, behind: number, close: number): boolean {
    const text = this.#text
    const key = behind - this.#own.keys[found]!.length
    if (text.charCodeAt(key - 1) === backslash) return false
    const colonAt = this.#afterSpace(behind)
    const start = this.#afterSpace(colonAt + 1)
    if (text.charCodeAt(colonAt) !== colon || text.charCodeAt(start) !== quote) return false
    const end = text.indexOf('"', start + 1) + 1
    if (end === 0 || end > close || text.slice(start, end).includes('\\')) return false
    if (this.#isFlat(open + 1, key)) {
      const alike = this.#copy(open, end)
      const bytes = Buffer.from(this.#read.subarray(open - dataAt, end))
      const name = { nameAt: start - open, nameEnd: end - open }
      this.#own.begin = { text: alike, bytes, key: found, ...name }
      delete this.#own.frame
      this.#own.framed = undefined
    } else if (this.#isFlat(end, close - 1)) {
      const at = key - 1
      const alike = this.#copy(at, close)
      this.#own.end = { text: alike, key: found, nameAt: start - at, nameEnd: end - at }
    } else return false
    this.#edits.replace(start, end, this.#own.bytes)
    return true
  }

  /** Not a slice, which would keep the text of the whole read as long as the stream. */
  #copy(from: number, to: number): string {
    return this.#read.toString('latin1', from, to)
  }

  #afterSpace(from: number): number {
    let at = from
    while (this.#text.charCodeAt(at) === space) at++
    return at
  }

  /** No object or list begins or ends there, so that all of it is at the outermost level. */
  #isFlat(from: number, to: number): boolean {
    for (let at = from; at < to; at++) {
      // [ ] { } differ in these bits only.
      const code = this.#text.charCodeAt(at) & 0xdf
      if (code === 0x5b || code === 0x5d) return false
    }
    return true
  }
}

/** What two events have in common around the one text in which they differ, a value; undefined: that is not all. */
function frameOf(one: Buffer, other: Buffer): Omit<Frame, 'known'> | undefined {
  const shorter = Math.min(one.length, other.length)
  let same = 0
  while (same < shorter && one[same] === other[same]) same++
  let sameEnd = 0
  while (sameEnd < shorter && one[one.length - 1 - sameEnd] === other[other.length - 1 - sameEnd]) {
    sameEnd++
  }
  const head = one.lastIndexOf(quote, same - 1) + 1
  const tailAt = one.indexOf(quote, one.length - sameEnd)
  const tail = tailAt === -1 ? 0 : one.length - tailAt
  if (head < wordBytes || tail < wordBytes || head + tail > shorter) return undefined
  // A key could be any, such as one for which events are parsed.
  if (/^"\s*:/.test(one.toString('latin1', tailAt))) return undefined
  const bytes = new Uint8Array(one).buffer
  return { head: new DataView(bytes, 0, head), tail: new DataView(bytes, one.length - tail, tail) }
}

/** One event, which is searched whole. */
export function withOwnName(
  event: string,
  data: string,
  name: string,
  { modelIn: holder, modelFields = usualFields }: StreamStyle,
): string {
  if (!event.includes('{')) return event
  const restore = (text: string) =>
    holder === undefined
      ? modelFields.reduce((restored, field) => restoreModel(restored, name, field), text)
      : withModelIn(text, holder, name)
  // JSON is searched where it is on one line.
  if (!data.includes('\n')) return restore(event)
  const joined = oneLine(event, data)
  const restored = restore(joined)
  return restored === joined ? event : restored
}
