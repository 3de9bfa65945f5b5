// Appends suffixes to the ids that an upstream gives out, anywhere in an answer or in the events of
// a stream. All other bytes stay the same. Only ids that were learned get one.
import { Edits } from '../../lib/text/edits.ts'

interface Known {
  /** The id as a whole JSON string. */
  quoted: string
  mark: string
  /** The mark as bytes, once an event has needed it. */
  markBytes?: Buffer
}

/** An id in a field for ids that gets a mark: where it ends. */
interface Place {
  end: number
  known: Known
}

const plainId = /^[\w.:-]{1,256}$/
const maxIdLength = 257
/** Fields that hold ids; all have the same end. */
const fieldEnd = 'id"'
const [itemField, previousField] = ['"item_', '"previous_response_']
const [space, tab, colon, newline, carriage, quote] = [0x20, 0x09, 0x3a, 0x0a, 0x0d, 0x22]

export class IdMarks {
  readonly #markFor: (id: string) => string
  readonly #known = new Map<string, Known>()
  /** Most often the next one is the same. */
  #latest: Known | undefined

  constructor(markFor: (id: string) => string) {
    this.#markFor = markFor
  }

  learn(id: unknown): Known | undefined {
    if (typeof id !== 'string') return undefined
    const before = this.#known.get(id)
    if (before !== undefined || !plainId.test(id)) return before
    const mark = this.#markFor(id)
    const known = { quoted: `"${id}"`, mark }
    this.#known.set(id, known)
    return known
  }

  inText(text: string): string {
    let [marked, from] = ['', 0]
    for (const { end, known } of this.#placesIn(text, false)) {
      marked += text.slice(from, end) + known.mark
      from = end
    }
    return from === 0 ? text : marked + text.slice(from)
  }

  /** Events: an item is known as soon as one of them names it. The same buffer when it has no id. */
  inEvents(bytes: Buffer): Buffer {
    const text = bytes.toString('latin1')
    const count = this.#known.size
    let places = this.#placesIn(text, true)
    // What was learned on the way may stand before the place where it was.
    if (this.#known.size > count) places = this.#placesIn(text, true)
    if (places.length === 0) return bytes
    const edits = new Edits()
    for (const { end, known } of places) {
      known.markBytes ??= Buffer.from(known.mark)
      edits.replace(end, end, known.markBytes)
    }
    return edits.apply(bytes, bytes.length)!
  }

  /** A field is never inside a text, where quotes are escaped. */
  #placesIn(text: string, learnsItems: boolean): Place[] {
    const places: Place[] = []
    let at = text.indexOf(fieldEnd)
    for (; at !== -1; at = text.indexOf(fieldEnd, at + fieldEnd.length)) {
      const isItem = text.startsWith(itemField, at - itemField.length)
      if (!isItem && !endsOtherField(text, at)) continue
      const start = valueAfter(text, at + fieldEnd.length)
      const known = start === -1 ? undefined : this.#knownAt(text, start, isItem && learnsItems)
      if (known !== undefined) places.push({ end: start + known.quoted.length - 1, known })
    }
    return places
  }

  #knownAt(text: string, start: number, learns: boolean): Known | undefined {
    const latest = this.#latest
    if (latest !== undefined && text.startsWith(latest.quoted, start)) return latest
    const end = text.indexOf('"', start + 1)
    if (end === -1 || end - start > maxIdLength) return undefined
    const id = text.slice(start + 1, end)
    const known = learns ? this.learn(id) : this.#known.get(id)
    if (known !== undefined) this.#latest = known
    return known
  }
}

const endsOtherField = (text: string, at: number): boolean =>
  text.charCodeAt(at - 1) === quote || text.startsWith(previousField, at - previousField.length)

/** Start of the string after the colon there; -1 when there is none. */
function valueAfter(text: string, at: number): number {
  const colonAt = afterSpace(text, at)
  if (text.charCodeAt(colonAt) !== colon) return -1
  const start = afterSpace(text, colonAt + 1)
  return text.charCodeAt(start) === quote ? start : -1
}

function afterSpace(text: string, at: number): number {
  let start = at
  while (isSpace(text.charCodeAt(start))) start++
  return start
}

const isSpace = (code: number): boolean =>
  code === space || code === tab || code === newline || code === carriage
