// A run of JSON texts that differ in one text and in numbers and texts that mean nothing to their reader: the
// text of each is cut out, and the rest is only compared.
import { unplain } from './plain-text.ts'

/** A place whose value changes. */
interface RunSlot {
  isText: boolean
  field: string
}

/** The field with the text, and those that may change besides. */
export interface Continued {
  readonly text: string
  readonly ignored: readonly string[]
}

const [minus, zero, nine] = [0x2d, 0x30, 0x39]

export class TextRun {
  /** Of the JSON that was taken last. */
  text = ''
  readonly #literals: readonly string[]
  readonly #slots: readonly RunSlot[]
  readonly #own: number

  private constructor(literals: readonly string[], slots: readonly RunSlot[], own: number) {
    this.#literals = literals
    this.#slots = slots
    this.#own = own
  }

  /** Undefined where more than a run allows changes. `literals` stand around the slots. */
  static of(
    literals: readonly string[],
    slots: readonly RunSlot[],
    { text, ignored }: Continued,
  ): TextRun | undefined {
    const own = slots.findIndex(({ field, isText }) => isText && field === text)
    const others = slots.filter((_, i) => i !== own)
    if (own === -1 || !others.every(({ field }) => ignored.includes(field))) return undefined
    return new TextRun(literals, slots, own)
  }

  /** Where the JSON ends that begins at `at`, with what stands around it; -1 if it is another. */
  take(all: string, at: number): number {
    const [literals, slots] = [this.#literals, this.#slots]
    let end = at
    for (let i = 0; i < slots.length; i++) {
      const literal = literals[i]!
      if (!all.startsWith(literal, end)) return -1
      const start = end + literal.length
      end = slots[i]!.isText ? all.indexOf('"', start) : endOfWholeNumber(all, start)
      if (end === -1) return -1
      if (!slots[i]!.isText) continue
      const text = all.slice(start, end)
      if (unplain.test(text)) return -1
      if (i === this.#own) this.text = text
    }
    const last = literals[slots.length]!
    return all.startsWith(last, end) ? end + last.length : -1
  }
}

/** -1 where none is, or one that JSON does not allow. */
function endOfWholeNumber(all: string, start: number): number {
  let at = all.charCodeAt(start) === minus ? start + 1 : start
  const first = at
  for (let code = all.charCodeAt(at); code >= zero && code <= nine; code = all.charCodeAt(at)) at++
  const isNumber = at > first && (all.charCodeAt(first) !== zero || at === first + 1)
  return isNumber ? at : -1
}
