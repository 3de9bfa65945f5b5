// JSON that differs from an earlier one in a piece of text only, as most events of a stream do: its value
// is the earlier one with the other text in it, and it need not be parsed.

type Json = Readonly<Record<string, unknown>>

/** JSON writes these letters as they are. */
const plainText = /^[^"\\\u0000-\u001f]+$/
/** A stream whose events differ in more is not tried again and again. */
const maxMisses = 4
/** Deeper than the texts of any style. */
const maxDepth = 8

export class TextTemplate {
  #start = ''
  #end = ''
  #value: Json | undefined
  /** The object of the value that has the text. */
  #holder: Record<string, unknown> = {}
  #field = ''
  #misses = 0

  /** The value of JSON that differs in its text only; valid until the next match. */
  match(data: string): Json | undefined {
    const length = data.length - this.#end.length
    if (this.#value === undefined || length <= this.#start.length) return undefined
    if (!data.startsWith(this.#start) || !data.endsWith(this.#end)) return undefined
    const text = data.slice(this.#start.length, length)
    if (!plainText.test(text)) return undefined
    this.#holder[this.#field] = text
    this.#misses = 0
    return this.#value
  }

  /** JSON that had to be parsed, and the text of it that changes. The value is changed later. */
  learn(data: string, value: Json, text: string): void {
    if (this.#misses >= maxMisses) return
    this.#misses++
    if (data.includes('\\') || !plainText.test(text)) return
    // Without escapes every text stands in the data as it is: once means that it is this one.
    const at = data.indexOf(`"${text}"`) + 1
    if (at === 0 || data.indexOf(`"${text}"`, at) !== -1) return
    const found = holderOf(value, text, maxDepth)
    if (found === undefined) return
    this.#start = data.slice(0, at)
    this.#end = data.slice(at + text.length)
    this.#value = value
    this.#holder = found.holder
    this.#field = found.field
  }
}

interface Place {
  holder: Record<string, unknown>
  field: string
}

function holderOf(value: unknown, text: string, depth: number): Place | undefined {
  if (typeof value !== 'object' || value === null || depth === 0) return undefined
  const holder = value as Record<string, unknown>
  for (const field in holder) {
    const inner = holder[field]
    if (inner === text) return { holder, field }
    const found = holderOf(inner, text, depth - 1)
    if (found !== undefined) return found
  }
  return undefined
}
