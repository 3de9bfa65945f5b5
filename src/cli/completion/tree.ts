// The commands as shells complete them: words after words, and the flags of each command. Made from the table of
// commands; knows no shell.
import { type Command, commonFlags, type Flags } from '../terminal/command.ts'
import type { Elsewhere } from '../terminal/parse-line.ts'

interface Word {
  word: string
  summary: string
}

export interface FlagWord {
  name: string
  summary: string
  takesValue: boolean
  /** The values, where there are only some. */
  values: readonly string[]
}

export interface Node {
  /** Words before: [] is the beginning, ['account'] what follows `gateway account`. */
  path: readonly string[]
  words: readonly Word[]
  flags: readonly FlagWord[]
}

/** Both are installed by the package. */
export const programs = ['gateway', 'model-gateway']

export function treeOf(table: readonly Command[], elsewhere: readonly Elsewhere[]): Node[] {
  const rows = [
    ...table.map(({ path, summary, flags }) => ({
      path,
      summary,
      flags: { ...flags, ...commonFlags },
    })),
    ...elsewhere.map(({ name, summary, flags = {} }) => ({ path: [name], summary, flags })),
  ]
  const paths = new Map<string, readonly string[]>([['', []]])
  for (const { path } of rows) {
    for (let length = 1; length <= path.length; length++) {
      paths.set(path.slice(0, length).join(' '), path.slice(0, length))
    }
  }
  return [...paths].map(([key, path]) => {
    const below = rows.filter(
      (row) => row.path.length > path.length && path.every((word, i) => row.path[i] === word),
    )
    const own = rows.find((row) => row.path.join(' ') === key)
    return { path, words: wordsIn(below, path.length), flags: flagsIn(own?.flags ?? {}) }
  })
}

/** A word that several commands begin with lists them instead of a summary. */
function wordsIn(
  rows: readonly { path: readonly string[]; summary: string }[],
  at: number,
): Word[] {
  return [...Map.groupBy(rows, ({ path }) => path[at]!)].map(([word, some]) => {
    const [only] = some
    const next = some.flatMap(({ path }) => path.slice(at + 1, at + 2))
    return { word, summary: some.length === 1 ? only!.summary : next.join(', ') }
  })
}

const flagsIn = (flags: Flags): FlagWord[] =>
  Object.entries(flags).map(([name, { summary, value }]) => ({
    name,
    summary,
    takesValue: value !== undefined,
    values:
      value !== undefined && /^[a-z0-9_.-]+(?:\|[a-z0-9_.-]+)+$/.test(value)
        ? value.split('|')
        : [],
  }))
