// Words that the code base no longer uses, each with the word to use instead: in identifiers and file
// names, in texts (strings, comments, pages), and in public names and messages. The lists are data, in
// old-words.json.
import { posix } from 'node:path'
import oldWords from './old-words.json'
import type { SourceFile } from './sources.ts'
import type { Syntax } from './syntax.ts'

interface OldWord {
  use: string
  /** Counts in these folders only. */
  in?: string[]
}

type Words = Record<string, OldWord | string>

export type Offenders = Map<string, string[]>

/** 'leastBusyChannel', 'least_busy' and 'least-busy' -> ['least', 'busy', …] */
export const partsOf = (name: string): string[] =>
  (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+/g) ?? []).map((part) => part.toLowerCase())

/** Whether the words stand in the name one after the other. */
export const holds = (parts: readonly string[], words: readonly string[]): boolean =>
  parts.some((_, at) => words.every((word, offset) => parts[at + offset] === word))

const applies = (word: OldWord | string, path: string): boolean =>
  typeof word === 'string' ||
  word.in === undefined ||
  word.in.some((folder) => path.startsWith(folder))

function add(found: Offenders, word: string, offender: string): void {
  const offenders = found.get(word) ?? []
  offenders.push(offender)
  found.set(word, offenders)
}

const kept = oldWords.keep.map((phrase) => phrase.split(' '))
const nameWords = Object.entries(oldWords.identifiers as Words).map(([word, rule]) => ({
  word,
  rule,
  parts: word.split(' '),
}))
const oldWordsByName = new Map<string, typeof nameWords>()

/** The old words of one name; most names are in many files. */
function oldWordsOf(name: string): typeof nameWords {
  const known = oldWordsByName.get(name)
  if (known !== undefined) return known
  const parts = partsOf(name)
  const isKept = kept.some((words) => holds(parts, words))
  const found = isKept ? [] : nameWords.filter((each) => holds(parts, each.parts))
  oldWordsByName.set(name, found)
  return found
}

function findNames(namesOf: (path: string, syntax: Syntax) => Iterable<string>) {
  return (sources: ReadonlyMap<string, Syntax>): Offenders => {
    const found: Offenders = new Map()
    for (const [path, syntax] of sources) {
      for (const name of new Set(namesOf(path, syntax))) {
        for (const { word, rule } of oldWordsOf(name)) {
          if (applies(rule, path)) add(found, word, `${path}: ${name}`)
        }
      }
    }
    return found
  }
}

/** Per old word the identifiers and file names that have it: 'src/a.ts: oldName'. */
export const oldIdentifiers = findNames((path, { identifiers }) => [
  ...identifiers,
  posix.basename(path).replace(/\.tsx?$/, ''),
])

const wordLike = /^[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$/

/** The same for texts that are one word: kinds, states, fields, keys of messages. */
export const oldValues = findNames((_, { texts }) => texts.filter((text) => wordLike.test(text)))

interface TextRule {
  word: string
  pattern: RegExp
}

/** One pattern for all words tells the few lines that are worth a closer look. */
interface TextRules {
  any: RegExp
  rules: TextRule[]
}

function rulesOf(words: Words, flags: string): TextRules {
  const rules = Object.keys(words).map((word) => {
    const literal = word.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
    return { word, pattern: new RegExp(`(?<!\\w)${literal}(?!\\w)`, flags) }
  })
  const any = new RegExp(rules.map(({ pattern }) => pattern.source).join('|'), flags)
  return { any, rules }
}

/** Comments and texts: `code` has words of its own, which are identifiers. */
const proseRules = rulesOf(oldWords.texts, 'i')
const nameRules = rulesOf({ ...oldWords.names, ...oldWords.messages }, '')

function findLines(found: Offenders, path: string, text: string, { any, rules }: TextRules): void {
  if (!any.test(text)) return
  for (const line of text.split('\n').filter((line) => any.test(line))) {
    for (const { word, pattern } of rules) {
      if (pattern.test(line)) add(found, word, `${path}: ${line.trim()}`)
    }
  }
}

const comment = /^\s*(?:\/\/|\/?\*).*$|\/\*.*?\*\/|\s\/\/ .*$/gm

/** Per old word, public name or message the lines that have it. */
export function oldTexts(
  files: readonly SourceFile[],
  sources: ReadonlyMap<string, Syntax>,
): Offenders {
  const found: Offenders = new Map()
  for (const { path, text } of files) {
    const syntax = sources.get(path)
    const prose =
      syntax === undefined ? text : [...(text.match(comment) ?? []), ...syntax.texts].join('\n')
    findLines(found, path, prose, proseRules)
    findLines(found, path, text, nameRules)
  }
  return found
}

const vague = /\b(whoever|somebody|nobody|everybody)\b/i

/** Lines that speak of persons where a role, a part or the passive side has a name. */
export const vagueLines = (files: readonly SourceFile[]): string[] =>
  files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, at) => (vague.test(line) ? [`${path}:${at + 1} ${line.trim()}`] : [])),
  )
