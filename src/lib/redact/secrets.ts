// Finds configured secrets in a text: whole or in pieces, in any case, plain, escaped or reversed,
// in base64, base32 or hex, spread out, spelled as numbers, or with the middle hidden. Knows the
// secrets and nothing else of what may be private.
import { type LooseView, lettersIn, looseViewsOf } from './loose.ts'
import { indexEnds, maskedRanges } from './masked.ts'
import { lower, type Range, viewsOf } from './view.ts'

/** The shortest piece of a secret that reveals something; shorter secrets are not searched for. */
const minPiece = 8
/** A piece made of plain words is removed from this length on: one word, or several. */
const longWord = 16
const longWords = 12

/** In letters and digits alone, shorter runs may be chance; whole secrets are not. */
const minLetters = 12
/** This many letters of a secret made of words are not a sentence. */
const minWordLetters = 16

const hard = 1
const soft = 2
const weak = 4
const encoded = 8

interface PieceIndex {
  /** A bit for each hash of a piece: nearly every position fails here. */
  readonly bits: Uint32Array
  readonly shift: number
  readonly kinds: ReadonlyMap<number, number>
}

interface SecretIndex extends PieceIndex {
  /** Secrets that runs cannot find (short or wordy): their letters and digits, lower case. */
  readonly letters: ReadonlySet<string>
}

interface Form {
  readonly text: string
  readonly isEncoded: boolean
}

type Eraser = (text: string) => string

/** Most changes of the catalog change no secret, and an index takes long to make. */
let latest: { readonly known: readonly string[]; readonly erase: Eraser } | undefined

/** Removes every trace of the secrets from a text, in time linear in its length. */
export function createEraser(secrets: Iterable<string>): Eraser {
  const known = [...new Set(secrets)].filter((secret) => secret.length >= minPiece)
  if (known.length === 0) return (text) => text
  const isLatest = latest?.known.length === known.length
  if (isLatest && known.every((secret, i) => secret === latest?.known[i])) return latest!.erase
  latest = { known, erase: eraserOf(known) }
  return latest.erase
}

function eraserOf(known: readonly string[]): Eraser {
  const kinds = new Map<number, number>()
  const wordy: string[] = []
  const letters = new Set<string>()
  for (const secret of known) {
    let isWordy = true
    for (const form of formsOf(secret)) {
      const any = addFragments(kinds, form)
      if (!form.isEncoded && (any & hard) !== 0) isWordy = false
    }
    if (isWordy) wordy.push(lower(secret))
    const bare = lower(lettersIn(secret))
    const isShort = bare.length >= minPiece && bare.length < minLetters
    if (isWordy ? bare.length >= minWordLetters : isShort) letters.add(bare)
  }
  const index = { ...indexOf(kinds), letters }
  const ends = indexEnds(known)
  return (text) => {
    const ranges = text.length < minPiece ? [] : findRanges(text, index, wordy)
    maskedRanges(text, ends, ranges)
    return ranges.length === 0 ? text : without(text, ranges)
  }
}

/** Excludes escaped forms: the views of a text undo those. */
function formsOf(secret: string): Form[] {
  const bytes = Buffer.from(secret)
  const forms: Form[] = [{ text: bytes.toString('hex'), isEncoded: true }]
  // Percent escapes stand for bytes, and so do characters decoded with the wrong charset.
  for (const text of new Set([secret, bytes.toString('latin1')])) {
    forms.push({ text, isEncoded: false })
    forms.push({ text: [...text].reverse().join(''), isEncoded: false })
    forms.push({ text: lettersIn(text), isEncoded: false })
    if (text.includes(' ')) forms.push({ text: text.replaceAll(' ', '+'), isEncoded: false })
  }
  forms.push(...base32Of(bytes))
  for (const before of [0, 1, 2]) {
    const base64 = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    // The first character also carries bits of the preceding byte, and the last those of the next.
    const end = Math.ceil(((before + bytes.length) * 8) / 6)
    const own = base64.slice(Math.ceil((before * 8) / 6), end)
    forms.push({ text: own, isEncoded: true }, { text: lettersIn(own), isEncoded: true })
    if (/[+/]/.test(own)) {
      forms.push({ text: own.replaceAll('+', '-').replaceAll('/', '_'), isEncoded: true })
    }
  }
  return forms
}

const base32Letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** At each of the five positions within a group at which it may begin. */
function base32Of(bytes: Uint8Array): Form[] {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return [0, 1, 2, 3, 4].map((before) => {
    // The first character is shared with the preceding byte, unless that ends on a boundary.
    const shared = (5 - ((before * 8) % 5)) % 5
    const own = bits.slice(shared).match(/.{5}/g) ?? []
    return {
      text: own.map((group) => base32Letters[Number.parseInt(group, 2)]).join(''),
      isEncoded: true,
    }
  })
}

/** Adds all pieces of a form, and returns which kinds there were. */
function addFragments(kinds: Map<number, number>, { text, isEncoded }: Form): number {
  let any = 0
  const dated = isEncoded ? [] : [...text.matchAll(/20\d\d[-/.]?[01]\d[-/.]?[0-3]\d/g)]
  walk(text, (start, a, b) => {
    const key = keyOf(a, b)
    const inDate = dated.some(
      ({ index, 0: date }) => start >= index - 1 && start + minPiece <= index + date.length + 1,
    )
    const piece = text.slice(start, start + minPiece)
    const kind = isEncoded ? hard | encoded : inDate ? weak : kindOf(piece)
    any |= kind
    kinds.set(key, (kinds.get(key) ?? 0) | kind)
  })
  return any
}

/** Soft: could be words of a sentence. Weak: a line of dashes, which reveals nothing by itself. */
function kindOf(piece: string): number {
  if (new Set(piece).size <= 2) return weak
  if (/[0-9]/.test(piece) || /[^\x20-\x7e]/.test(piece)) return hard
  const words = piece.split(/[^A-Za-z]+/)
  const isPlain = words.every((word) => /^(?:[A-Z]?[a-z]*|[A-Z]*)$/.test(word))
  return isPlain && words.length <= 3 ? soft : hard
}

/** Two rolling hashes of the `shortestPiece` characters at every position, ignoring case. */
function walk(text: string, visit: (start: number, a: number, b: number) => void): void {
  let a = 0
  let b = 0
  for (let i = 0; i < text.length; i++) {
    if (i >= minPiece) {
      const gone = folded(text.charCodeAt(i - minPiece))
      a -= Math.imul(gone, topA)
      b -= Math.imul(gone, topB)
    }
    const code = folded(text.charCodeAt(i))
    a = (Math.imul(a, baseA) + code) | 0
    b = (Math.imul(b, baseB) + code) | 0
    if (i >= minPiece - 1) visit(i - minPiece + 1, a, b)
  }
}

const baseA = 0x01000193
const baseB = 0x5bd1e995
const topA = power(baseA, minPiece - 1)
const topB = power(baseB, minPiece - 1)

function power(base: number, exponent: number): number {
  let product = 1
  for (let i = 0; i < exponent; i++) product = Math.imul(product, base)
  return product
}

const folded = (code: number): number => (code >= 65 && code <= 90 ? code + 32 : code)

/** 53 bits of both hashes: chance collisions do not happen. */
const keyOf = (a: number, b: number): number => (a >>> 0) * 2 ** 21 + (b >>> 11)

function indexOf(kinds: ReadonlyMap<number, number>): PieceIndex {
  const size = Math.min(24, Math.max(12, Math.ceil(Math.log2(kinds.size * 16 + 1))))
  const bits = new Uint32Array(2 ** (size - 5))
  const shift = 32 - size
  for (const key of kinds.keys()) {
    const slot = slotOf(Math.floor(key / 2 ** 21) | 0, shift)
    bits[slot >>> 5]! |= 1 << (slot & 31)
  }
  return { bits, shift, kinds }
}

/** The low bits of the hash depend only on the low bits of the characters, so use the high ones. */
const slotOf = (hash: number, shift: number): number => Math.imul(hash, 0x9e3779b1) >>> shift

function findRanges(text: string, index: SecretIndex, wordy: readonly string[]): Range[] {
  const ranges: Range[] = []
  for (const view of viewsOf(text)) {
    const { starts } = view
    const found = runsIn(view.text, index)
    if (wordy.length > 0) findWhole(view.text, wordy, found)
    for (const [start, end] of found) {
      ranges.push(starts === undefined ? [start, end] : [starts[start]!, starts[end]!])
    }
    for (const loose of looseViewsOf(view)) findLoose(text, loose, index, ranges)
  }
  return ranges
}

/** Finds spread-out secrets; the rest of an encoded word beside one is removed as well. */
function findLoose(text: string, view: LooseView, index: SecretIndex, ranges: Range[]): void {
  const { starts, ends, isSpelled } = view
  const add = (start: number, end: number, isEncoded: boolean) => {
    const range = [starts[start]!, ends[end - 1]!] as const
    ranges.push(isEncoded ? widened(text, ...range) : range)
  }
  eachRun(view.text, index, (start, end, kind) => {
    const isLong = (kind & hard) !== 0 && end - start >= minLetters
    if (isSpelled || isLong) add(start, end, (kind & encoded) !== 0)
  })
  if (isSpelled) return
  const haystack = lower(view.text)
  for (const secret of index.letters) {
    let at = haystack.indexOf(secret)
    while (at >= 0) {
      add(at, at + secret.length, false)
      at = haystack.indexOf(secret, at + secret.length)
    }
  }
}

function findWhole(text: string, wordy: readonly string[], found: Range[]): void {
  const haystack = lower(text)
  for (const secret of wordy) {
    let at = haystack.indexOf(secret)
    while (at >= 0) {
      found.push([at, at + secret.length])
      at = haystack.indexOf(secret, at + secret.length)
    }
  }
}

/** Pieces that overlap or touch form one run; a run is removed if it reveals something. */
function runsIn(text: string, index: PieceIndex): Range[] {
  const runs: Range[] = []
  eachRun(text, index, (start, end, kind) => {
    if (!tells(text.slice(start, end), kind)) return
    runs.push((kind & encoded) !== 0 ? widened(text, start, end) : [start, end])
  })
  return runs
}

function eachRun(
  text: string,
  { bits, shift, kinds }: PieceIndex,
  found: (start: number, end: number, kind: number) => void,
): void {
  let start = -1
  let end = -1
  let kind = 0
  const close = () => {
    if (start >= 0) found(start, end, kind)
  }
  walk(text, (at, a, b) => {
    const slot = slotOf(a, shift)
    if ((bits[slot >>> 5]! & (1 << (slot & 31))) === 0) return
    const hit = kinds.get(keyOf(a, b))
    if (hit === undefined) return
    if (at > end) {
      close()
      start = at
      kind = 0
    }
    end = at + minPiece
    kind |= hit
  })
  close()
}

function tells(run: string, kind: number): boolean {
  if ((kind & hard) !== 0) return true
  if ((kind & soft) === 0) return false
  const words = run.split(/[^A-Za-z]+/).filter(Boolean)
  const letters = words.reduce((sum, word) => sum + word.length + 1, -1)
  return letters >= (words.length > 1 ? longWords : longWord)
}

/** The rest of an encoded word is the text beside the secret, plus one character of both. */
function widened(text: string, start: number, end: number): Range {
  let from = start
  let to = end
  while (from > 0 && /[A-Za-z0-9+]/.test(text[from - 1]!)) from--
  while (to < text.length && /[A-Za-z0-9+=]/.test(text[to]!)) to++
  return [from, to]
}

function without(text: string, ranges: Range[]): string {
  ranges.sort((a, b) => a[0] - b[0])
  let out = ''
  let from = 0
  for (const [start, end] of ranges) {
    if (start >= from) out += `${text.slice(from, start)}[secret]`
    from = Math.max(from, end)
  }
  return out + text.slice(from)
}
