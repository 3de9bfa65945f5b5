// A whole answer as if it came over a network.
import type { HttpAnswer } from '../../../contract/http.ts'
import { readable } from '../../../lib/http/pipe-by-read.ts'
import { nextTurn } from '../../../lib/turns.ts'

/** As much as comes from a network at once. */
const playedBytes = 64 * 1024

/** A body that is all there; a long one is read in turns, as it would come. */
export function playedAnswer(bytes: Uint8Array): HttpAnswer {
  let at = 0
  const read = async () => {
    if (at > 0) await nextTurn()
    if (at === bytes.length) return undefined
    const next = bytes.subarray(at, at + playedBytes)
    at += next.length
    return next
  }
  return {
    status: 200,
    header: () => undefined,
    text: () => Promise.resolve(undefined),
    ...readable(read),
    cancel() {},
    release() {},
    expectTrickle() {},
  }
}
