// A long JSON text, parsed part by part with other work in between: the parser itself cannot pause. A scan
// says where to cut; each part is made a text of its own by opening and closing what is open at its ends, and
// its values are put where the parts before it left off.
import { nextTurn } from '../turns.ts'

/** So much work is parsed at once, by the weights of a scan: in nanoseconds, roughly. */
export const partWork = 4e6

export interface Cut {
  /** Where the comma is at which the text is cut. */
  comma: number
  /** How many of the levels that were open at the cut before are still open. */
  kept: number
  /** What is open there, the outermost first. */
  open: Open[]
}

interface Open {
  isList: boolean
  /** Of an object that has another open level in it: under which name. */
  key: string
}

type Holder = unknown[] | Record<string, unknown>

/**
 * The value of the whole text, parsed in turns. Returns or throws what JSON.parse would, but for the words of
 * an error. No key may stand twice in an object. `finish`: what is done with each part before it is used.
 */
export async function parseParts(
  text: string,
  cuts: readonly Cut[],
  finish: (part: unknown) => unknown = (part) => part,
): Promise<unknown> {
  if (cuts.length === 0) return finish(JSON.parse(text))
  /** By level: what the next part goes on with. */
  const holders: Holder[] = []
  let before: readonly Open[] = []
  let from = 0
  for (const cut of [...cuts, undefined]) {
    if (from > 0) await nextTurn()
    const to = cut?.comma ?? text.length
    const open = cut?.open ?? []
    const top = Math.max(cut?.kept ?? 0, 1) - 1
    const source = text.slice(from, to)
    if (isMisplaced(source, from > 0, cut !== undefined)) throw misplacedComma
    const part = finish(JSON.parse(opened(before, top) + source + closed(open, top))) as Holder
    if (holders.length === 0) holders.push(part)
    else goOn(holders, before, top, part)
    // What is open at its end: in the last values of what it has brought.
    holders.length = top + 1
    for (let level = top; level < open.length - 1; level++) {
      holders.push(lastOf(holders[level]!, open[level]!))
    }
    before = open
    from = to + 1
  }
  return holders[0]
}

/** What is opened and closed around a part would hide that nothing stands behind a comma, or before it. */
function isMisplaced(source: string, isBehind: boolean, isBefore: boolean): boolean {
  const values = source.trim()
  const [first, last] = [values[0], values.at(-1)]
  return (
    first === undefined ||
    (isBehind && (first === ']' || first === '}')) ||
    (isBefore && (last === '[' || last === '{'))
  )
}

const misplacedComma = new SyntaxError('JSON Parse error: Unexpected comma')

/** The beginnings of the levels from this one on. */
function opened(open: readonly Open[], top: number): string {
  let text = ''
  for (let level = top; level < open.length; level++) {
    const { isList, key } = open[level]!
    const isLast = level === open.length - 1
    text += isList ? '[' : isLast ? '{' : `{${JSON.stringify(key)}:`
  }
  return text
}

function closed(open: readonly Open[], top: number): string {
  let text = ''
  for (let level = open.length - 1; level >= top; level--) text += open[level]!.isList ? ']' : '}'
  return text
}

/** Puts the values of a part behind those that the levels have. */
function goOn(holders: readonly Holder[], before: readonly Open[], top: number, part: Holder) {
  let added: Holder = part
  for (let level = top; level < before.length; level++) {
    const holder = holders[level]!
    const inner = level < before.length - 1
    const { key } = before[level]!
    if (Array.isArray(holder)) {
      const values = added as unknown[]
      for (let at = inner ? 1 : 0; at < values.length; at++) holder.push(values[at])
      added = values[0] as Holder
    } else {
      const values = added as Record<string, unknown>
      for (const name in values) if (!inner || name !== key) holder[name] = values[name]
      added = values[key] as Holder
    }
  }
}

const lastOf = (holder: Holder, { key }: Open): Holder =>
  (Array.isArray(holder) ? holder.at(-1) : holder[key]) as Holder
