// Views of a text in which a secret is spread out: with separators between its characters (line
// wraps, spaces, colons, quotes), or spelled as numbers (hex bytes, decimal, octal or binary
// codes). Each maps back to positions in the original; the search itself is elsewhere.
import type { View } from './view.ts'

export interface LooseView {
  readonly text: string
  /** Start and end of each character in the original. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** Numbers spell nothing by chance; letters and digits stripped of everything else might. */
  readonly isSpelled: boolean
}

/** Longer texts get no such views: errors are cut long before, and log lines are short. */
const maxLooseLength = 32_000
/** Fewer numbers cannot spell a piece of a secret. */
const minNumbers = 8
/** Maximum gap between two numbers of one list, as in `chr(115)+chr(107)`. */
const maxGap = 8
/** Separates lists: part of no secret. */
const between = '\uffff'

interface Spelling {
  readonly token: RegExp
  readonly base: number
}

const spellings: readonly Spelling[] = [
  { token: /(?<![0-9a-f])(?:0x|\\x|x)?([0-9a-f]{2})(?![0-9a-f])/gi, base: 16 },
  { token: /(?<!\d)(\d{2,3})(?!\d)/g, base: 10 },
  { token: /(?<!\d)0?o?([0-7]{2,3})(?!\d)/g, base: 8 },
  { token: /(?<!\d)(?:0b)?([01]{7,8})(?!\d)/g, base: 2 },
]

/** All loose views of one view. */
export function looseViewsOf(view: View): LooseView[] {
  if (view.text.length > maxLooseLength) return []
  const views = [lettersOf(view)]
  for (const spelling of spellings) {
    const spelled = numbersOf(view, spelling)
    if (spelled !== undefined) views.push(spelled)
  }
  return views
}

/** The letters and digits of a text, full-width ones converted. */
export function lettersIn(text: string): string {
  let out = ''
  for (let i = 0; i < text.length; i++) {
    const code = letterAt(text, i)
    if (code !== 0) out += String.fromCharCode(code)
  }
  return out
}

/** 0: neither a letter nor a digit. */
function letterAt(text: string, at: number): number {
  const given = text.charCodeAt(at)
  // Full-width forms of the same characters.
  const code = given >= 0xff01 && given <= 0xff5e ? given - 0xfee0 : given
  const isLetter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
  return isLetter || (code >= 48 && code <= 57) ? code : 0
}

function lettersOf({ text, starts }: View): LooseView {
  const places = new Int32Array(text.length)
  const ends = new Int32Array(text.length)
  let length = 0
  for (let i = 0; i < text.length; i++) {
    if (letterAt(text, i) === 0) continue
    places[length] = starts === undefined ? i : starts[i]!
    ends[length++] = starts === undefined ? i + 1 : starts[i + 1]!
  }
  return { text: lettersIn(text), starts: places, ends, isSpelled: false }
}

function numbersOf({ text, starts }: View, { token, base }: Spelling): LooseView | undefined {
  const origin = (at: number) => (starts === undefined ? at : starts[at]!)
  const [places, ends]: [number[], number[]] = [[], []]
  let spelled = ''
  let last = 0
  const take = (character: string, from: number, to: number) => {
    spelled += character
    places.push(origin(from))
    ends.push(origin(to))
  }
  for (const { index, 0: whole, 1: digits = '' } of text.matchAll(token)) {
    if (spelled !== '' && index - last > maxGap) take(between, last, last)
    last = index + whole.length
    const code = Number.parseInt(digits, base)
    take(code > 255 ? between : String.fromCharCode(code), index, last)
  }
  if (spelled.length < minNumbers) return undefined
  return {
    text: spelled,
    starts: Int32Array.from(places),
    ends: Int32Array.from(ends),
    isSpelled: true,
  }
}
