// Finds secrets of which only the ends are shown: `sk-ab12****wxyz`, `sk-ab12...wxyz`. Knows how
// configured secrets begin and end; masks of other keys are matched by shape.
import { lower, type Range } from './view.ts'

interface EndIndex {
  readonly heads: ReadonlySet<string>
  readonly tails: ReadonlySet<string>
}

/** Fewer shown characters do not match; pieces of eight or more are found anywhere. */
const minShown = 3
const maxIndexed = 7
const maxEnd = 64

const masks =
  /\*{2,}|\.{3,}|…+|[•●·]{2,}|#{4,}|x{4,}|X{4,}|\[[A-Za-z]{4,9}\]|<[A-Za-z]{4,9}>|\[\.{2,3}\]/g
const beside = /[^\s"'`<>()[\]{},;:=*…•●·\\]/

export function indexEnds(secrets: readonly string[]): EndIndex {
  const heads = new Set<string>()
  const tails = new Set<string>()
  for (const secret of secrets) {
    const text = lower(secret)
    for (let length = minShown; length <= maxIndexed; length++) {
      heads.add(text.slice(0, length))
      tails.add(text.slice(-length))
    }
  }
  return { heads, tails }
}

/** Adds what it finds to `ranges`. */
export function maskedRanges(text: string, ends: EndIndex, ranges: Range[]): void {
  for (const { index, 0: mask } of text.matchAll(masks)) {
    const after = index + mask.length
    const head = headBefore(text, index, ends)
    const tail = tailAfter(text, after, ends)
    if (head === 0 && tail === 0) continue
    // Three dots also end sentences and a run of x ends words: one plain end is not enough.
    const shown = text.slice(index - head, index) + text.slice(after, after + tail)
    const isVague = /^[.…xX<]/.test(mask) && (head === 0 || tail === 0)
    if (isVague && (shown.length < 4 || !/\d/.test(shown))) continue
    const isMask = /^[*•●·#]/.test(mask)
    ranges.push([
      index - (head || (isMask ? wordBefore(text, index) : 0)),
      after + (tail || (isMask ? wordAfter(text, after) : 0)),
    ])
  }
}

/** How many characters before the mask are the beginning of a secret. */
function headBefore(text: string, end: number, { heads }: EndIndex): number {
  const long = wordBefore(text, end)
  const start = end - long
  if (long > maxIndexed && heads.has(lower(text.slice(start, start + maxIndexed)))) return long
  for (let length = Math.min(maxIndexed, end); length >= minShown; length--) {
    if (/[A-Za-z0-9]/.test(text[end - length - 1] ?? ' ')) continue
    if (heads.has(lower(text.slice(end - length, end)))) return length
  }
  return 0
}

/** How many characters after the mask are the end of a secret. */
function tailAfter(text: string, start: number, { tails }: EndIndex): number {
  const long = wordAfter(text, start)
  const end = start + long
  if (long > maxIndexed && tails.has(lower(text.slice(end - maxIndexed, end)))) return long
  for (let length = maxIndexed; length >= minShown; length--) {
    if (/[A-Za-z0-9]/.test(text[start + length] ?? ' ')) continue
    if (tails.has(lower(text.slice(start, start + length)))) return length
  }
  return 0
}

function wordBefore(text: string, end: number): number {
  let start = end
  while (start > 0 && end - start < maxEnd && beside.test(text[start - 1]!)) start--
  return end - start
}

function wordAfter(text: string, start: number): number {
  let end = start
  while (end < text.length && end - start < maxEnd && beside.test(text[end]!)) end++
  // The full stop belongs to the sentence.
  while (end > start && /[.!?]/.test(text[end - 1]!)) end--
  return end - start
}
