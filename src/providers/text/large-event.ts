// One event that is too large to be kept. Its bytes go on as they come, all but the last of them, and its
// outline tells at the end what it meant.
import { JsonOutline } from '../../lib/json/outline.ts'
import type { IdMarks } from './id-marks.ts'

/** Kept back: the end of the last event of a stream waits for the charge. */
const heldBytes = 16 * 1024
/** Where a cut is looked for that splits no field. */
const cutBytes = 4 * 1024
const maxHeadLength = 256
const [lineFeed, comma] = [0x0a, 0x2c]
const dataField = 'data:'

/** What is changed in the bytes that go on. */
interface Changes {
  /** The caller's name of the model, in JSON; undefined where the upstream has the same. */
  model: string | undefined
  fields: readonly string[]
  marks: IdMarks | undefined
}

export class LargeEvent {
  readonly #changes: Changes
  readonly #outline = new JsonOutline()
  /** The present line up to its data. */
  #head = ''
  #isData = false
  #name: string | undefined
  #held: Buffer = Buffer.alloc(0)
  #isNamed = false

  constructor(changes: Changes) {
    this.#changes = changes
  }

  /** The event with its outline for data. */
  get event(): string {
    const name = this.#name === undefined ? '' : `event: ${this.#name}\n`
    return `${name}data: ${this.#outline.text}\n\n`
  }

  /** The bytes of its output, where that is long. */
  textBytes(textField: RegExp): number {
    let sum = 0
    for (const [key, bytes] of this.#outline.longTexts) {
      if (`"${key}":"x"`.search(textField) !== -1) sum += bytes
    }
    return sum
  }

  /** Nothing is missing but the blank line. */
  get isWhole(): boolean {
    return this.#outline.isWhole
  }

  /** Where the event ends in these bytes; -1: it goes on. */
  read(bytes: Buffer): number {
    for (let at = 0; ; ) {
      const feed = bytes.indexOf(lineFeed, at)
      this.#readLine(bytes, at, feed === -1 ? bytes.length : feed)
      if (feed === -1) return -1
      if (this.#isBlank) return feed + 1
      if (this.#head.startsWith('event:')) this.#name = this.#head.slice('event:'.length).trim()
      this.#head = ''
      this.#isData = false
      at = feed + 1
    }
  }

  get #isBlank(): boolean {
    return this.#head === '' || this.#head === '\r'
  }

  #readLine(bytes: Buffer, from: number, to: number): void {
    if (this.#isData) {
      this.#outline.take(bytes, from, to)
      return
    }
    const known = this.#head.length
    const end = Math.min(to, from + maxHeadLength - known)
    this.#head += bytes.toString('latin1', from, end)
    if (!this.#head.startsWith(dataField)) return
    this.#isData = true
    this.#outline.take(bytes, from + dataField.length - known, to)
  }

  /** What may go on now. */
  pass(bytes: Buffer): Buffer | undefined {
    const all = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes])
    const cut = cutBefore(all, all.length - heldBytes)
    if (cut <= 0) {
      this.#held = all
      return undefined
    }
    // Copied: a few bytes must not keep a whole network buffer alive.
    this.#held = Buffer.from(all.subarray(cut))
    return this.#changed(all.subarray(0, cut))
  }

  /** The end of the event. */
  last(bytes: Buffer): Buffer {
    return this.#changed(Buffer.concat([this.#held, bytes]))
  }

  #changed(bytes: Buffer): Buffer {
    const { marks } = this.#changes
    const named = this.#named(bytes)
    return marks === undefined ? named : marks.inEvents(named)
  }

  /** The first name in the event is that of its own model. */
  #named(bytes: Buffer): Buffer {
    const { model, fields } = this.#changes
    if (model === undefined || this.#isNamed) return bytes
    const at = firstName(bytes.toString('latin1'), fields)
    if (at === undefined) return bytes
    this.#isNamed = true
    return Buffer.concat([bytes.subarray(0, at.start), Buffer.from(model), bytes.subarray(at.end)])
  }
}

const nameBehind = /\s*:\s*("[^"\\]*")/y

/** Where the text has the first value of one of the fields that is a plain string. */
function firstName(
  text: string,
  fields: readonly string[],
): { start: number; end: number } | undefined {
  let found: { start: number; end: number } | undefined
  for (const field of fields) {
    const key = `"${field}"`
    for (let at = text.indexOf(key); at !== -1; at = text.indexOf(key, at + 1)) {
      if (found !== undefined && at > found.start) break
      nameBehind.lastIndex = at + key.length
      const name = nameBehind.exec(text)?.[1]
      if (name === undefined) continue
      found = { start: nameBehind.lastIndex - name.length, end: nameBehind.lastIndex }
      break
    }
  }
  return found
}

/** No field and no character is split there. */
function cutBefore(bytes: Buffer, at: number): number {
  if (at <= 0) return 0
  const found = bytes.lastIndexOf(comma, at)
  if (found > at - cutBytes && found > 0) return found
  let cut = at
  while (cut > 0 && (bytes[cut]! & 0xc0) === 0x80) cut--
  return cut
}

/** A large event is kept up to this size. */
const maxKeptBytes = 8 * 1024 * 1024

/** The bytes of a large event for another reader, unless they are too many. */
export class KeptBytes {
  #parts: Buffer[] | undefined = []
  #length = 0

  add(part: Buffer): void {
    this.#length += part.length
    if (this.#length > maxKeptBytes) this.#parts = undefined
    else this.#parts?.push(Buffer.from(part))
  }

  whole(): Buffer | undefined {
    return this.#parts && Buffer.concat(this.#parts)
  }
}
