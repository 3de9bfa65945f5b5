// Which stream events may pass unparsed, as byte patterns.
import type { StreamStyle } from './style.ts'

export interface Unread {
  names: readonly Buffer[] | undefined
  texts: readonly Buffer[]
  /** Of the unparsed events with this text, the last one of a read is parsed later. */
  late: Buffer | undefined
}
const known = new WeakMap<StreamStyle, Unread>()

/** Made once per style, not once per stream. */
export function unreadOf(style: StreamStyle): Unread {
  const made = known.get(style)
  if (made !== undefined) return made
  const { unread, late } = style
  const given =
    'named' in unread
      ? { names: bytesOf(unread.named), texts: [], late: undefined }
      : {
          names: undefined,
          texts: bytesOf(unread.without),
          late: late === undefined ? undefined : Buffer.from(late),
        }
  known.set(style, given)
  return given
}

/** The same where no event may be left out: each may be about another choice. */
export const withoutLate = ({ names, texts, late }: Unread): Unread =>
  late === undefined ? { names, texts, late } : { names, texts: [...texts, late], late: undefined }

const bytesOf = (texts: readonly string[]) => texts.map((text) => Buffer.from(text))

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

/** Whether an event must be parsed. */
export function isSign(data: string, { unread, late }: StreamStyle): boolean {
  if ('named' in unread || (late !== undefined && data.includes(late))) return true
  return unread.without.some((sign) => data.includes(sign))
}
