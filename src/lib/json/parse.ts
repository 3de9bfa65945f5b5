// JSON from untrusted sources. Rejects deep nesting before parsing and prototype keys after; on
// success the caller gets both the text and the value, so nothing has to be serialised again.

type JsonResult = { value: unknown } | { problem: string }

export function parseJson(text: string, maxDepth: number): JsonResult {
  if (tooDeep(text, maxDepth)) return { problem: `JSON is nested deeper than ${maxDepth} levels` }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { problem: `body is not valid JSON: ${(error as Error).message}` }
  }
  if (mayHidePrototypeKey(text) && hasPrototypeKey(value)) {
    return { problem: 'JSON must not contain the keys __proto__ or constructor.prototype' }
  }
  return { value }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A text with few opening brackets cannot nest deeply, and indexOf skips long strings quickly. */
export function tooDeep(text: string, maxDepth: number): boolean {
  return countUpTo(text, '{', maxDepth) + countUpTo(text, '[', maxDepth) > maxDepth
    ? depthOf(text, maxDepth) > maxDepth
    : false
}

function countUpTo(text: string, char: string, limit: number): number {
  let count = 0
  for (let at = text.indexOf(char); at !== -1 && count <= limit; at = text.indexOf(char, at + 1)) {
    count++
  }
  return count
}

/** Depth of nesting, ignoring brackets in strings; stops counting past the limit. */
function depthOf(text: string, limit: number): number {
  let depth = 0
  let maxDepth = 0
  for (let i = 0; i < text.length && maxDepth <= limit; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x22) i = endOfString(text, i)
    else if (code === 0x7b || code === 0x5b) maxDepth = Math.max(maxDepth, ++depth)
    else if (code === 0x7d || code === 0x5d) depth--
  }
  return maxDepth
}

/** Index of the quote that closes the string opened at `start`, or the end of the text. */
export function endOfString(text: string, start: number): number {
  let at = start
  for (;;) {
    at = text.indexOf('"', at + 1)
    if (at === -1) return text.length
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes++
    if (slashes % 2 === 0) return at
  }
}

/** A key can also be spelled with \u escapes of its letters. */
function mayHidePrototypeKey(text: string): boolean {
  if (text.includes('\\u00') && /\\u00[567]/.test(text)) return true
  return text.includes('proto') && (text.includes('__proto__') || text.includes('prototype'))
}

function hasPrototypeKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(hasPrototypeKey)
  return Object.entries(value).some(
    ([key, inner]) =>
      key === '__proto__' ||
      (key === 'constructor' && isObject(inner) && Object.hasOwn(inner, 'prototype')) ||
      hasPrototypeKey(inner),
  )
}
