// Finds commands in a text, such as `--rs 720p --dur 5`: all that an upstream may read as one, in
// the documented spelling or a similar one. Does not interpret their values.

/** What a command sets, and the documented spellings. */
const spellings = {
  resolution: ['resolution', 'rs'],
  ratio: ['ratio', 'rt'],
  duration: ['duration', 'dur'],
  frames: ['frames'],
  rate: ['framespersecond', 'fps'],
} as const

export type CommandName = keyof typeof spellings

export interface Command {
  name: CommandName
  /** The text in place of the value; empty when there is none. */
  value: string
  /** Spelled exactly as documented: `--dur 5`, in lower case, with a blank before the value. */
  isDocumented: boolean
}

const names = Object.keys(spellings) as CommandName[]

const dashRun = /-+/g
const blanks = /\s*/y
const word = /[a-z]+(?:[-_][a-z]+)*/y
const gap = /[\s\p{Cc}=:"'`([{<,]*/uy
const value = /[^\s\p{Cc},;"'`)\]}>]{0,32}/uy

/** What matches at this position; empty when nothing does. */
function at(pattern: RegExp, text: string, from: number): string {
  pattern.lastIndex = from
  return pattern.exec(text)?.[0] ?? ''
}

/** Dashes that may begin a command: prompts have far fewer, and each takes microseconds. */
const maxTried = 500

/** In all of the texts; undefined: there may be more than are read. */
export function commandsIn(texts: readonly string[]): Command[] | undefined {
  const found: Command[] = []
  let left = maxTried
  for (const text of texts) {
    left = readCommands(text, left, found)
    if (left < 0) return undefined
  }
  return found
}

/**
 * One pass over the text: a value is read but not consumed, as it may be a command itself. Gives how many may still
 * be tried, below zero when there are more.
 */
function readCommands(text: string, limit: number, found: Command[]): number {
  const folded = fold(text)
  let left = limit
  for (const { 0: run, index } of folded.matchAll(dashRun)) {
    const isApart = index === 0 || /\s/.test(folded[index - 1]!)
    if (run.length === 1 && !isApart) continue
    if (--left < 0) return left
    const afterRun = index + run.length
    const from = afterRun + (run.length === 1 ? 0 : at(blanks, folded, afterRun).length)
    const name = at(word, folded, from)
    if (name === '') continue
    const space = at(gap, folded, from + name.length)
    const given = at(value, folded, from + name.length + space.length)
    const isDocumented =
      folded === text && run === '--' && from === afterRun && isSpelled(name) && /^ +$/.test(space)
    for (const meant of namesOf(name.replaceAll(/[-_]/g, ''))) {
      found.push({ name: meant, value: trimmed(given), isDocumented })
    }
  }
  return left
}

const isSpelled = (given: string): boolean =>
  names.some((name) => (spellings[name] as readonly string[]).includes(given))

/** An abbreviated word may mean several. */
function namesOf(given: string): CommandName[] {
  const exact = names.filter((name) => (spellings[name] as readonly string[]).includes(given))
  if (exact.length > 0) return exact
  return names.filter((name) => spellings[name].some((spelling) => spelling.startsWith(given)))
}

const trimmed = (given: string): string => given.replace(/[.!?]+$/, '')

/** Editors turn two short dashes into a long one. */
const longDashes = /[\u2012-\u2015\u2e3a\u2e3b]/g
const dashes = /[\p{Pd}\u2212\u02d7\u2500\u2501\u30fc]/gu

function fold(text: string): string {
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase()
  return text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(longDashes, '--')
    .replaceAll(dashes, '-')
    .toLowerCase()
}
