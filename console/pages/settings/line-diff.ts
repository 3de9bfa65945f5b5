// Which lines of one text are not in another, in order: what a person needs to see that two files differ.
export interface DiffLine {
  sign: ' ' | '+' | '-'
  text: string
}

/** Beyond so many cells a middle part is shown as replaced as a whole. */
const maxCells = 4_000_000

export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [linesOf(before), linesOf(after)]
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  const maxTail = Math.min(a.length, b.length) - head
  while (tail < maxTail && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const same = (text: string): DiffLine => ({ sign: ' ', text })
  return [
    ...a.slice(0, head).map(same),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map(same),
  ]
}

const linesOf = (text: string): string[] => text.replace(/\n$/, '').split('\n')

/** The longest run of lines that both have, in order, stays. */
function middle(a: readonly string[], b: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ sign: '-', text })
  const added = (text: string): DiffLine => ({ sign: '+', text })
  if (a.length * b.length > maxCells) return [...a.map(removed), ...b.map(added)]
  const width = b.length + 1
  const lengths = new Uint32Array((a.length + 1) * width)
  const at = (i: number, j: number) => lengths[i * width + j]!
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ sign: ' ', text: a[i++]! })
      j++
    } else if (at(i + 1, j) >= at(i, j + 1)) lines.push(removed(a[i++]!))
    else lines.push(added(b[j++]!))
  }
  return [...lines, ...a.slice(i).map(removed), ...b.slice(j).map(added)]
}
