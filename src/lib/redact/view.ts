// Text with escapes undone, mapped back to positions in the original. Knows the escapes (percent,
// backslash, HTML) and invisible characters, not what is searched for.

export type Range = readonly [start: number, end: number]

export interface View {
  readonly text: string
  /** Where each character of `text` begins in the original, and one entry for its end. */
  readonly starts: Int32Array | undefined
}

/** Nested percent escapes: more layers than this are deliberate. */
const maxLayers = 3

const escapes =
  /%u[0-9a-f]{4}|%[0-9a-f]{2}|\\u[0-9a-f]{4}|\\u\{[0-9a-f]{1,6}\}|\\x[0-9a-f]{2}|\\[0-3][0-7]{2}|\\[\\"'/nrtbf]|U\+[0-9a-f]{4}|&#\d{1,7};|&#x[0-9a-f]{1,6};|&[a-z]{2,8};|[\p{Cf}\p{Mn}\p{Me}]+/giu

/** Invisible: soft hyphens, joiners, combining marks. */
const invisible = /^[\p{Cf}\p{Mn}\p{Me}]/u
const mayEscape = /[%\\&]|U\+|[\p{Cf}\p{Mn}\p{Me}]/u

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  plus: '+',
  equals: '=',
  sol: '/',
  bsol: '\\',
  lowbar: '_',
  dash: '-',
  hyphen: '-',
  period: '.',
  colon: ':',
  excl: '!',
  num: '#',
  dollar: '$',
  percnt: '%',
  commat: '@',
  ast: '*',
}

const controls: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }

/** ASCII only, so that every character keeps its position. */
export function lower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** Hand-written: an end-anchored regular expression is tried at every position before it. */
export function withoutTrailing(text: string, marks: string): string {
  let end = text.length
  while (end > 0 && marks.includes(text[end - 1]!)) end--
  return text.slice(0, end)
}

/** The text itself, then with one layer of escapes undone, and so on while there are any. */
export function viewsOf(text: string): View[] {
  const views: View[] = [{ text, starts: undefined }]
  for (let layer = 0; layer < maxLayers; layer++) {
    const next = unescapeOnce(views[layer]!)
    if (next === undefined) break
    views.push(next)
  }
  return views
}

function unescapeOnce({ text, starts }: View): View | undefined {
  if (!mayEscape.test(text)) return undefined
  const origin = (at: number) => (starts === undefined ? at : starts[at]!)
  const places = new Int32Array(text.length + 1)
  const parts: string[] = []
  let length = 0
  let from = 0
  const take = (part: string, at: number, step: number) => {
    for (let i = 0; i < part.length; i++) places[length++] = origin(at + i * step)
    parts.push(part)
  }
  for (const match of text.matchAll(escapes)) {
    const meant = meaningOf(match[0])
    if (meant === undefined) continue
    take(text.slice(from, match.index), from, 1)
    take(meant, match.index, 0)
    from = match.index + match[0].length
  }
  if (from === 0) return undefined
  take(text.slice(from), from, 1)
  places[length] = origin(text.length)
  return { text: parts.join(''), starts: places.subarray(0, length + 1) }
}

function meaningOf(written: string): string | undefined {
  if (written.startsWith('&')) {
    const name = written.slice(1, -1).toLowerCase()
    if (!name.startsWith('#')) return Object.hasOwn(entities, name) ? entities[name] : undefined
    return character(name[1] === 'x' ? `0x${name.slice(2)}` : name.slice(1))
  }
  if (invisible.test(written)) return ''
  const octal = /^\\([0-3][0-7]{2})$/.exec(written)?.[1]
  if (octal !== undefined) return character(`0o${octal}`)
  const digits = /^(?:%u?|\\[ux]\{?|U\+)([0-9a-f]+)\}?$/i.exec(written)?.[1]
  if (digits !== undefined) return character(`0x${digits}`)
  const letter = written.slice(1)
  return controls[letter] ?? letter
}

/** Only the basic plane: a view never has more characters than its original. */
function character(code: string): string {
  return String.fromCharCode(Number(code) & 0xffff)
}
