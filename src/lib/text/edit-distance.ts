// Edit distance of two words, for suggesting the intended spelling.

/** Insertions, deletions, replacements and swaps of neighbours each count one. */
export function editDistance(left: string, right: string): number {
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
