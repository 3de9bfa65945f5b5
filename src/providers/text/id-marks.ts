// Appends suffixes to the ids that an upstream gives out, anywhere in an answer or in the events of
// a stream. All other bytes stay the same. Only ids that were learned get one.

interface Known {
  /** The id as a whole JSON string. */
  needle: Buffer
  mark: Buffer
}

const plainId = /^[\w.:-]{1,256}$/
const maxIdLength = 257
const itemField = Buffer.from('"item_id"')
/** Fields that hold ids, up to the colon. */
const fields = ['"id"', '"item_id"', '"previous_response_id"'] as const
const maxField = Math.max(...fields.map((field) => field.length))
const [space, tab, colon, newline, carriage, quote] = [0x20, 0x09, 0x3a, 0x0a, 0x0d, 0x22]

export class IdMarks {
  readonly #markFor: (id: string) => string
  readonly #known = new Map<string, Known>()

  constructor(markFor: (id: string) => string) {
    this.#markFor = markFor
  }

  learn(id: unknown): void {
    if (typeof id !== 'string' || this.#known.has(id) || !plainId.test(id)) return
    this.#known.set(id, { needle: Buffer.from(`"${id}"`), mark: Buffer.from(this.#markFor(id)) })
  }

  /**
   * Items without an announcing event: `"item_id":"…"` is never inside text, where quotes are
   * escaped.
   */
  learnItems(bytes: Buffer): void {
    for (let at = bytes.indexOf(itemField); at !== -1; at = bytes.indexOf(itemField, at + 1)) {
      const colonAt = afterSpace(bytes, at + itemField.length)
      const start = afterSpace(bytes, colonAt + 1)
      if (bytes[colonAt] !== colon || bytes[start] !== quote) continue
      const end = bytes.indexOf(quote, start + 1)
      if (end !== -1 && end - start <= maxIdLength)
        this.learn(bytes.toString('latin1', start + 1, end))
    }
  }

  inText(text: string): string {
    const bytes = Buffer.from(text)
    const changed = this.inBytes(bytes)
    return changed === bytes ? text : changed.toString()
  }

  /** The same buffer when it contains no such id. */
  inBytes(bytes: Buffer): Buffer {
    let places: { at: number; mark: Buffer }[] | undefined
    for (const { needle, mark } of this.#known.values()) {
      let at = bytes.indexOf(needle)
      while (at !== -1) {
        const end = at + needle.length - 1
        if (isInIdField(bytes, at)) {
          places ??= []
          places.push({ at: end, mark })
        }
        at = bytes.indexOf(needle, end)
      }
    }
    if (places === undefined) return bytes
    if (places.length > 1) places.sort((a, b) => a.at - b.at)
    const parts: Uint8Array[] = []
    let from = 0
    for (const { at, mark } of places) {
      parts.push(bytes.subarray(from, at), mark)
      from = at
    }
    parts.push(bytes.subarray(from))
    return Buffer.concat(parts)
  }
}

/** Whether the string that begins there is the value of such a field. */
function isInIdField(bytes: Buffer, at: number): boolean {
  let end = beforeSpace(bytes, at)
  if (bytes[end - 1] !== colon) return false
  end = beforeSpace(bytes, end - 1)
  const before = bytes.toString('latin1', Math.max(0, end - maxField), end)
  return fields.some((field) => before.endsWith(field))
}

const isSpace = (byte: number | undefined): boolean =>
  byte === space || byte === tab || byte === newline || byte === carriage

function beforeSpace(bytes: Buffer, at: number): number {
  let end = at
  while (isSpace(bytes[end - 1])) end--
  return end
}

function afterSpace(bytes: Buffer, at: number): number {
  let start = at
  while (isSpace(bytes[start])) start++
  return start
}
