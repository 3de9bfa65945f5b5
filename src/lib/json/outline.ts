// The outline of JSON that is too large or too deep to be parsed: the same value with long texts empty,
// long lists cut and deep values null. Takes bytes as they come and keeps little of them.

/** Limits of what an outline keeps. */
const maxTextBytes = 4 * 1024
const maxWordLength = 64
const maxItems = 64
const maxFields = 1_024
const maxDepth = 12
/** Beyond this size only the outermost levels are kept. */
const maxOutlineBytes = 512 * 1024
const outerDepth = 3

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/** An open object or list that is kept. */
interface Level {
  isList: boolean
  items: number
}

export class JsonOutline {
  readonly #levels: Level[] = []
  /** Levels open inside of something that is left out. */
  #skipped = 0
  #parts: string[] = []
  #bytes = 0
  #isText = false
  #isEscaped = false
  /** The bytes of the text that is being read; undefined: it is too long, or left out. */
  #text: number[] | undefined
  /** Of a number or a word. */
  #wordLength = 0
  #hasBegun = false
  /** Of the text that is being read. */
  #textBytes = 0
  /** The text before the last colon. */
  #key = ''
  #lastText = ''
  /** The bytes of long texts, by the field that they stand in. */
  readonly longTexts = new Map<string, number>()

  /** A whole value has been taken. */
  get isWhole(): boolean {
    return this.#hasBegun && this.#levels.length === 0 && this.#skipped === 0 && !this.#isText
  }

  /** As JSON; whole when the value is. */
  get text(): string {
    return this.#parts.join('')
  }

  take(bytes: Uint8Array, from = 0, to = bytes.length): void {
    for (let at = from; at < to; at++) {
      if (!this.#isText) this.#byte(bytes[at]!)
      else if (this.#text === undefined && !this.#isEscaped) at = this.#skipText(bytes, at, to)
      else this.#textByte(bytes[at]!)
    }
  }

  /** To the next byte of a text that may end it. */
  #skipText(bytes: Uint8Array, from: number, to: number): number {
    for (let at = from; at < to; at++) {
      const byte = bytes[at]
      if (byte !== quote && byte !== backslash) continue
      this.#textBytes += at - from
      this.#textByte(byte)
      return at
    }
    this.#textBytes += to - from
    return to
  }

  #textByte(byte: number): void {
    this.#textBytes++
    if (this.#text !== undefined && this.#text.push(byte) > maxTextBytes) this.#text = undefined
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === backslash) this.#isEscaped = true
    else if (byte === quote) this.#endText()
  }

  #endText(): void {
    this.#isText = false
    const bytes = this.#textBytes - 1
    if (bytes > maxTextBytes && this.longTexts.size < maxFields) {
      this.longTexts.set(this.#key, (this.longTexts.get(this.#key) ?? 0) + bytes)
    }
    this.#lastText = this.#text === undefined ? '' : Buffer.from(this.#text).toString()
    if (!this.#isLeftOut) this.#add(this.#lastText === '' ? '""' : `"${this.#lastText}`)
    this.#text = undefined
  }

  #byte(byte: number): void {
    switch (byte) {
      case quote:
        this.#hasBegun = true
        this.#isText = true
        this.#textBytes = 0
        this.#text = this.#isLeftOut ? undefined : []
        return
      case openBrace:
      case openBracket:
        this.#open(byte === openBracket)
        return
      case closeBrace:
      case closeBracket:
        this.#close(byte)
        return
      case comma:
        this.#next()
        return
      default:
        if (byte <= 0x20) return
        this.#hasBegun = true
        if (byte === colon) this.#key = this.#lastText.slice(0, -1)
        if (!this.#isLeftOut) this.#add(byte === colon ? ':' : this.#wordOf(byte))
    }
  }

  /** Of a longer one nothing would be left that means something. */
  #wordOf(byte: number): string {
    return ++this.#wordLength > maxWordLength ? '' : String.fromCharCode(byte)
  }

  get #isLeftOut(): boolean {
    if (this.#skipped > 0) return true
    const level = this.#levels.at(-1)
    return level !== undefined && level.items > (level.isList ? maxItems : maxFields)
  }

  #open(isList: boolean): void {
    this.#hasBegun = true
    const depthLimit = this.#bytes > maxOutlineBytes ? outerDepth : maxDepth
    if (this.#isLeftOut || this.#levels.length >= depthLimit) {
      if (!this.#isLeftOut) this.#add('null')
      this.#skipped++
      return
    }
    this.#levels.push({ isList, items: 1 })
    this.#add(isList ? '[' : '{')
  }

  #close(byte: number): void {
    this.#wordLength = 0
    if (this.#skipped > 0) {
      this.#skipped--
      return
    }
    if (this.#levels.pop() !== undefined) this.#add(String.fromCharCode(byte))
  }

  #next(): void {
    this.#wordLength = 0
    const level = this.#levels.at(-1)
    if (this.#skipped > 0 || level === undefined) return
    level.items++
    if (!this.#isLeftOut) this.#add(',')
  }

  #add(part: string): void {
    this.#parts.push(part)
    this.#bytes += part.length
  }
}

/** Undefined when the text is not JSON. */
export function outlineOf(text: string): unknown {
  const outline = new JsonOutline()
  outline.take(Buffer.from(text))
  if (!outline.isWhole) return undefined
  try {
    return JSON.parse(outline.text)
  } catch {
    return undefined
  }
}
