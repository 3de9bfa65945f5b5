// Which known word was probably meant.
//   'modle' among 'model', 'name' -> 'model'      'zzz' -> undefined
import { editDistance } from '../../lib/text/edit-distance.ts'

export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: string | undefined
  // A third of the letters may be wrong; beyond that a suggestion is noise.
  let bestDistance = Math.max(2, Math.ceil(word.length / 3)) + 1
  for (const candidate of known) {
    const distance =
      candidate.startsWith(word) && word.length > 1 ? 1 : editDistance(word, candidate)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}
