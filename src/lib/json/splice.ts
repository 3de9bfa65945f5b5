// Changes single fields of a JSON text without rebuilding it: numbers beyond double precision, key
// order and unknown fields are preserved. The text must be valid JSON, optionally with text before
// its first brace.
import { endOfString } from './parse.ts'
import { spansIn } from './spans.ts'

const modelField = /"model"\s*:\s*"(?:[^"\\]|\\.)*"/

/**
 * `{"model":"a", …}` -> `{"model":"b", …}`, everything else byte for byte. For a text that is known
 * to name a model, or not to contain the word.
 */
export function withModel(text: string, model: string): string {
  const value = JSON.stringify(model)
  if (!namesOnce(text)) return withField(text, 'model', value)
  const key = text.indexOf('"model"')
  const colon = valueStart(text, key + 7)
  const start = valueStart(text, colon + 1)
  if (text.charCodeAt(colon) !== 0x3a || text.charCodeAt(start) !== 0x22) {
    return withField(text, 'model', value)
  }
  const end = endOfString(text, start) + 1
  if (end - start === value.length && text.startsWith(value, start)) return text
  return `${text.slice(0, key)}"model":${value}${text.slice(end)}`
}

/** The same for a text that may name none and is then returned unchanged. */
export function restoreModel(text: string, model: string, name = 'model'): string {
  if (!text.includes(`"${name}"`) && !hasEscapedLetter(text)) return text
  const field = name === 'model' && namesOnce(text) ? modelField.exec(text) : null
  if (field !== null && isOutermost(text, field.index)) return withModel(text, model)
  let restored = text
  for (const { start, end } of valuesOf(text, name).toReversed()) {
    if (text[start] !== '"') continue
    restored = restored.slice(0, start) + JSON.stringify(model) + restored.slice(end)
  }
  return restored
}

/** Cheap check that no other object or array has begun before; false means: parse. */
const isOutermost = (text: string, at: number): boolean =>
  text.lastIndexOf('{', at) === text.indexOf('{') && text.lastIndexOf('[', at) === -1

/** The same one level down: `{"response":{"model":"a"}}`. */
export function withModelIn(text: string, holder: string, model: string): string {
  if (namesOnce(text) && namesPlainlyIn(text, holder)) return withModel(text, model)
  const at = valuesOf(text, holder).at(-1)
  if (at === undefined || text[at.start] !== '{') return text
  const inner = text.slice(at.start, at.end)
  return text.slice(0, at.start) + restoreModel(inner, model) + text.slice(at.end)
}

/** Cheap check that it is a field of the holder, which is a field of the outermost object; false means: parse. */
function namesPlainlyIn(text: string, holder: string): boolean {
  const key = `"${holder}"`
  const at = text.indexOf(`${key}:{`)
  const open = at + key.length + 1
  const named = modelField.exec(text)?.index ?? -1
  if (at === -1 || named < open || !isOutermost(text, at)) return false
  if (text.lastIndexOf('{', named) !== open || text.lastIndexOf('}', named) !== -1) return false
  if (text.lastIndexOf('[', named) !== -1) return false
  // The last of several would count.
  for (let other = text.indexOf(key, open); other !== -1; other = text.indexOf(key, other + 1)) {
    if (text.charCodeAt(valueStart(text, other + key.length)) === 0x3a) return false
  }
  return true
}

/**
 * Whether `"model"` occurs in the text once and unescaped; it is then the field itself, because
 * inside a JSON string every quote is escaped. If it is repeated or spelled with escapes, two
 * parsers could read two models from the text, and the one served would not be the one billed.
 */
export function namesOnce(text: string): boolean {
  const first = text.indexOf('"model"')
  return first !== -1 && text.indexOf('"model"', first + 1) === -1 && !hasEscapedLetter(text)
}

/** Whether a letter may be spelled as `\u0061` somewhere. */
function hasEscapedLetter(text: string): boolean {
  for (let at = text.indexOf('\\u00'); at !== -1; at = text.indexOf('\\u00', at + 4)) {
    const digit = text.charCodeAt(at + 4)
    if (digit >= 0x34 && digit <= 0x37) return true
  }
  return false
}

/** Sets a field of the outermost object; adds it if absent, and keeps one if duplicated. */
export function withField(text: string, name: string, value: string): string {
  if (!text.includes(`"${name}"`) && !hasEscapedLetter(text)) {
    const open = text.indexOf('{') + 1
    const comma = text[valueStart(text, open)] === '}' ? '' : ','
    return `${text.slice(0, open)}"${name}":${value}${comma}${text.slice(open)}`
  }
  const [given, ...again] = valuesOf(text, name)
  if (again.length > 0) return rebuilt(text, name, value)
  if (given !== undefined) return text.slice(0, given.start) + value + text.slice(given.end)
  const open = text.indexOf('{') + 1
  return `${text.slice(0, open)}"${name}":${value},${text.slice(open)}`
}

/** The text without a field of the outermost object; everything else byte for byte. */
export function withoutField(text: string, name: string): string {
  if (!text.includes(`"${name}"`) && !hasEscapedLetter(text)) return text
  const kept = valuesOf(text).filter((each) => each.name !== name)
  const [open, close] = [text.indexOf('{') + 1, text.lastIndexOf('}')]
  const members = kept.map(({ keyStart, end }) => text.slice(keyStart, end)).join(',')
  return `${text.slice(0, open)}${members}${text.slice(close)}`
}

/** The same for several: JSON values to set, and an empty text for each to leave out. */
export function withEdits(text: string, edits: Readonly<Record<string, string>>): string {
  let edited = text
  for (const name in edits) {
    const value = edits[name]!
    edited = value === '' ? withoutField(edited, name) : withField(edited, name, value)
  }
  return edited
}

/**
 * Adds a member to the object at the end of the path, which is made where it is not there. The object of the path
 * is that at `at`.
 */
export function withMember(
  text: string,
  path: readonly string[],
  member: string,
  at = text.indexOf('{'),
): string {
  const [name, ...rest] = path
  const found = name === undefined ? undefined : spansIn(text, at).find(({ key }) => key === name)
  if (found !== undefined && text[found.start] === '{') {
    return withMember(text, rest, member, found.start)
  }
  if (found !== undefined) {
    return `${text.slice(0, found.start)}{${within(rest, member)}}${text.slice(found.end)}`
  }
  const isEmpty = text[valueStart(text, at + 1)] === '}'
  return `${text.slice(0, at + 1)}${within(path, member)}${isEmpty ? '' : ','}${text.slice(at + 1)}`
}

const within = (path: readonly string[], member: string): string =>
  path.reduceRight((inner, key) => `${JSON.stringify(key)}:{${inner}}`, member)

function rebuilt(text: string, name: string, value: string): string {
  const [open, end] = [text.indexOf('{'), text.lastIndexOf('}') + 1]
  const fields = { ...JSON.parse(text.slice(open, end)), [name]: JSON.parse(value) }
  return text.slice(0, open) + JSON.stringify(fields) + text.slice(end)
}

interface Member {
  name: string | undefined
  keyStart: number
  start: number
  end: number
}

/** Start and end of the values of a field of the outermost object, or of all. The text is valid JSON. */
function valuesOf(text: string, name?: string): Member[] {
  const found: Member[] = []
  let depth = 0
  let key: string | undefined
  let keyStart = 0
  let start = -1
  const close = (end: number) => {
    if (start !== -1 && (name === undefined || key === name)) {
      found.push({ name: key, keyStart, start, end: trimmedEnd(text, start, end) })
    }
    start = -1
    key = undefined
  }
  for (let i = text.indexOf('{'); i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === 0x22) {
      const end = endOfString(text, i)
      if (depth === 1 && start === -1) {
        key = keyOf(text.slice(i + 1, end))
        keyStart = i
      }
      i = end
    } else if (char === 0x3a && depth === 1 && start === -1) start = valueStart(text, i + 1)
    else if (char === 0x7b || char === 0x5b) depth++
    else if (char === 0x7d || char === 0x5d) {
      if (depth === 1) close(i)
      depth--
    } else if (char === 0x2c && depth === 1) close(i)
  }
  return found
}

/** Stream events arrive unparsed, so a key may be invalid JSON. */
function keyOf(spelled: string): string | undefined {
  if (!spelled.includes('\\')) return spelled
  try {
    return JSON.parse(`"${spelled}"`)
  } catch {
    return undefined
  }
}

function valueStart(text: string, from: number): number {
  let at = from
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

const isSpace = (code: number): boolean =>
  code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d

const trimmedEnd = (text: string, start: number, end: number): number =>
  start + text.slice(start, end).trimEnd().length

/** All that follows each of them is read. */
const maxPlaces = 16

/**
 * The same in the last part of a JSON text, with what follows it: in the last object of that name which lies so
 * deep. Undefined when that has none.
 */
export function withMemberInTail(
  tail: string,
  name: string,
  depth: number,
  member: string,
): string | undefined {
  const places = [...tail.matchAll(new RegExp(`"${name}"\\s*:\\s*\\{`, 'g'))].slice(-maxPlaces)
  for (const { index, 0: found } of places.toReversed()) {
    const open = index + found.length
    if (depthOutside(tail, open) !== depth) continue
    const rest = tail.slice(open)
    const comma = /^\s*\}/.test(rest) ? '' : ','
    return tail.slice(0, open) + member + comma + rest
  }
  return undefined
}

/** How many objects and lists end after the object that has begun before `from`; undefined when it does not end. */
function depthOutside(text: string, from: number): number | undefined {
  let open = 1
  let lowest: number | undefined
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      at = endOfString(text, at)
      if (at === -1 || at >= text.length) return undefined
    } else if (code === 0x7b || code === 0x5b) open++
    else if (code === 0x7d || code === 0x5d) {
      open--
      lowest = open
    } else if (code === 0x0a && open <= 0) break
  }
  return lowest === undefined || open > 0 ? undefined : -open
}
