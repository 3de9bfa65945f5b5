// JSON that differs from an earlier one in a few texts and numbers only, as most events of a stream do: its
// value is the earlier one with the others in it, and it need not be parsed.
import { unplain } from './plain-text.ts'
import { type Continued, TextRun } from './text-run.ts'

type Json = Readonly<Record<string, unknown>>

/** Fields with a text or a whole number, in JSON without escapes. */
const scalars = /"([^"\\]*)":(?:"([^"\\]*)"|(0|-?[1-9]\d{0,14})(?=[,}\]]))/g
const wholeNumber = /^(?:0|-?[1-9]\d{0,14})$/
/** A stream whose events differ in more is not tried again and again. */
const maxMisses = 6
/** Deeper than the texts of any style. */
const maxDepth = 8
const maxScalars = 64
/** Comparing longer ones saves little, and an event of megabytes is rarely followed by one like it. */
const maxLength = 64 * 1024
const [quote, comma, closeBrace, closeBracket] = [0x22, 0x2c, 0x7d, 0x5d]

/** A field whose value changes from one event to the next. */
interface Slot {
  isText: boolean
  holder: Record<string, unknown>
  field: string
}

interface Scalar {
  key: string
  isText: boolean
  start: number
  end: number
}

/** JSON that was parsed, cut at its texts and numbers. */
interface Example {
  data: string
  found: readonly Scalar[]
  /** By the place in `found`. */
  changing: ReadonlySet<number>
}

export class TextTemplate {
  #example: Example | undefined
  #value: Json | undefined
  /** What stands before, between and behind the slots. */
  #literals: string[] = []
  #slots: Slot[] = []
  readonly #given: string[] = []
  #misses = 0

  /** The value of JSON that differs in what changes only; valid until the next match. */
  match(data: string): Json | undefined {
    if (this.#value === undefined) return undefined
    const [literals, slots, given] = [this.#literals, this.#slots, this.#given]
    let at = 0
    for (let i = 0; i < slots.length; i++) {
      const literal = literals[i]!
      if (!data.startsWith(literal, at)) return undefined
      const start = at + literal.length
      at = slots[i]!.isText ? data.indexOf('"', start) : endOfNumber(data, start)
      if (at === -1) return undefined
      const text = data.slice(start, at)
      if (slots[i]!.isText ? unplain.test(text) : !wholeNumber.test(text)) return undefined
      given[i] = text
    }
    const last = literals[slots.length]!
    if (data.length !== at + last.length || !data.endsWith(last)) return undefined
    for (let i = 0; i < slots.length; i++) {
      const { holder, field, isText } = slots[i]!
      holder[field] = isText ? given[i] : Number(given[i])
    }
    this.#misses = 0
    return this.#value
  }

  /** What follows, while only the text changes, with what stands around each JSON. */
  runOf(before: string, behind: string, continued: Continued): TextRun | undefined {
    if (this.#value === undefined) return undefined
    const literals = [...this.#literals]
    literals[0] = before + literals[0]
    literals.push(literals.pop() + behind)
    return TextRun.of(literals, this.#slots, continued)
  }

  /** JSON that had to be parsed, and the text of it that changes. The value is changed later. */
  learn(data: string, value: Json, text: string): void {
    if (this.#misses >= maxMisses || data.length > maxLength) return
    this.#misses++
    if (data.includes('\\')) return
    const found = scalarsIn(data)
    if (found === undefined) return
    const changing = new Set(changesSince(this.#example, data, found))
    const own = found.findIndex(
      ({ isText, start, end }) => isText && data.slice(start, end) === text,
    )
    if (own === -1) return
    this.#example = { data, found, changing: changing.add(own) }
    this.#value = undefined
    const slots: Slot[] = []
    const literals: string[] = []
    let at = 0
    for (const i of [...changing].toSorted((a, b) => a - b)) {
      const { key, isText, start, end } = found[i]!
      const holder = isOnce(data, key) ? holderOf(value, key, maxDepth) : undefined
      if (holder === undefined) return
      slots.push({ isText, holder, field: key })
      literals.push(data.slice(at, start))
      at = end
    }
    this.#literals = [...literals, data.slice(at)]
    this.#slots = slots
    this.#value = value
  }
}

function scalarsIn(data: string): Scalar[] | undefined {
  const found: Scalar[] = []
  for (const match of data.matchAll(scalars)) {
    const [whole, key, text, number] = match
    const isText = text !== undefined
    const end = match.index + whole.length - (isText ? 1 : 0)
    const { length } = isText ? text : number!
    found.push({ key: key!, isText, start: end - length, end })
    if (found.length > maxScalars) return undefined
  }
  return found
}

/** The places that differ; with those that have changed before. None if more than values differs. */
function changesSince(
  earlier: Example | undefined,
  data: string,
  found: readonly Scalar[],
): number[] {
  if (earlier?.found.length !== found.length) return []
  const changed: number[] = []
  let [here, there] = [0, 0]
  for (const [i, { start, end, isText }] of found.entries()) {
    const other = earlier.found[i]!
    if (isText !== other.isText) return []
    if (data.slice(here, start) !== earlier.data.slice(there, other.start)) return []
    const isSame = data.slice(start, end) === earlier.data.slice(other.start, other.end)
    if (!isSame || earlier.changing.has(i)) changed.push(i)
    here = end
    there = other.end
  }
  return data.slice(here) === earlier.data.slice(there) ? changed : []
}

/** Without escapes, every key stands in the data as it is. */
function isOnce(data: string, key: string): boolean {
  const spelled = `"${key}":`
  return data.indexOf(spelled) === data.lastIndexOf(spelled) && key !== '__proto__'
}

/** The object with this key. */
function holderOf(value: unknown, key: string, depth: number): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || depth === 0) return undefined
  const holder = value as Record<string, unknown>
  if (Object.hasOwn(holder, key)) return holder
  for (const field in holder) {
    const found = holderOf(holder[field], key, depth - 1)
    if (found !== undefined) return found
  }
  return undefined
}

/** -1 when nothing that ends a number follows soon. */
function endOfNumber(data: string, start: number): number {
  for (let at = start; at < start + 17; at++) {
    const code = data.charCodeAt(at)
    if (code === comma || code === closeBrace || code === closeBracket) return at
    if (code === quote) return -1
  }
  return -1
}
