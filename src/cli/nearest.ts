// Which known word was probably meant.
//   'modle' among 'model', 'name' -> 'model'      'zzz' -> undefined

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

/** Insertions, deletions, replacements and swaps of neighbours each count one. */
function editDistance(left: string, right: string): number {
  let before: number[] = []
  let above = Array.from({ length: right.length + 1 }, (_, i) => i)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1]
      let cost = Math.min(
        above[column]! + 1,
        current[column - 1]! + 1,
        above[column - 1]! + (same ? 0 : 1),
      )
      const swapped =
        row > 1 &&
        column > 1 &&
        left[row - 1] === right[column - 2] &&
        left[row - 2] === right[column - 1]
      if (swapped) cost = Math.min(cost, before[column - 2]! + 1)
      current.push(cost)
    }
    before = above
    above = current
  }
  return above[right.length]!
}
