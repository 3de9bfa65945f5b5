// Where the parts of a JSON text are, so that text can be inserted without rebuilding the rest. The
// text must be valid JSON.
import { endOfString } from './parse.ts'

export interface Span {
  /** Of a member of an object. */
  key?: string
  start: number
  /** Behind its last character. */
  end: number
}

/** The members of the object, or the elements of the array, that begins at `at`. */
export function spansIn(text: string, at: number): Span[] {
  const found: Span[] = []
  const isObject = text[at] === '{'
  let i = skipSpace(text, at + 1)
  while (i < text.length && text[i] !== '}' && text[i] !== ']') {
    let key: string | undefined
    if (isObject) {
      const keyEnd = endOfString(text, i) + 1
      key = JSON.parse(text.slice(i, keyEnd)) as string
      i = skipSpace(text, skipSpace(text, keyEnd) + 1)
    }
    const end = endOfValue(text, i)
    found.push(key === undefined ? { start: i, end } : { key, start: i, end })
    i = skipSpace(text, end)
    if (text[i] === ',') i = skipSpace(text, i + 1)
  }
  return found
}

function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start)
  if (first === 0x22) return endOfString(text, start) + 1
  let depth = 0
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x22) i = endOfString(text, i)
    else if (code === 0x7b || code === 0x5b) depth++
    else if (code === 0x7d || code === 0x5d) {
      if (depth === 0) return i
      if (--depth === 0) return i + 1
    } else if (depth === 0 && (code === 0x2c || isSpace(code))) return i
  }
  return text.length
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

const isSpace = (code: number): boolean =>
  code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d
