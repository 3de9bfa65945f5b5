// The part of a request that its task stores: enough to show it and to explain its charge. It is
// never sent again, and every list reads the row, so it stays short.
import type { ImageRequest, VideoRequest } from '../../contract/task.ts'
import { trimmed } from '../../lib/json/trim.ts'
import { withoutInlineData } from '../../lib/text/inline-data.ts'

/** Characters of one text. */
const maxText = 64 * 1024
/** Characters of a native body: texts and keys together. */
const maxLetters = 256 * 1024

export function keptRequest<Request extends VideoRequest | ImageRequest>(
  request: Request,
): Request {
  const kept = withoutInlineData(request)
  const { native } = kept
  const long = Object.entries(kept).filter(isLongText)
  const isLarge = native !== undefined && isLargerThan(native.body, maxLetters)
  if (long.length === 0 && !isLarge) return kept
  return {
    ...kept,
    ...Object.fromEntries(long.map(([name, text]) => [name, `${text.slice(0, maxText)}…`])),
    ...(isLarge && { native: { ...native, body: trimmed(native.body) } }),
    isCut: true,
  }
}

const isLongText = (entry: [string, unknown]): entry is [string, string] =>
  typeof entry[1] === 'string' && entry[1].length > maxText

function isLargerThan(value: object, letters: number): boolean {
  let steps = 0
  const passes = (each: unknown): boolean => {
    if (typeof each === 'string') steps += each.length
    else if (typeof each === 'object' && each !== null) {
      for (const name in each) {
        steps += name.length
        if (passes((each as Record<string, unknown>)[name])) return true
      }
    }
    return steps > letters
  }
  return passes(value)
}
