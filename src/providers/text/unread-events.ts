// Which stream events may pass unparsed, as byte patterns.
import type { StreamStyle } from './style.ts'

export interface Unread {
  names: readonly Buffer[] | undefined
  texts: readonly Buffer[]
}
const known = new WeakMap<StreamStyle, Unread>()

/** Made once per style, not once per stream. */
export function unreadOf(style: StreamStyle): Unread {
  const made = known.get(style)
  if (made !== undefined) return made
  const bytes = (texts: readonly string[]) => texts.map((text) => Buffer.from(text))
  const { unread } = style
  const given =
    'named' in unread
      ? { names: bytes(unread.named), texts: [] }
      : { names: undefined, texts: bytes(unread.without) }
  known.set(style, given)
  return given
}

/** Index of the earliest sign from `at` on; `found` caches the next position of each. */
export function nextSign(
  bytes: Buffer,
  at: number,
  signs: readonly Buffer[],
  found: number[],
): number {
  let first = -1
  for (let i = 0; i < signs.length; i++) {
    let next = found[i]
    if (next === undefined || (next !== -1 && next < at)) {
      next = bytes.indexOf(signs[i]!, at)
      found[i] = next
    }
    if (next !== -1 && (first === -1 || next < first)) first = next
  }
  return first
}
