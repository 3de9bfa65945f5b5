// All fences that have an allowance, measured over the tree: how many offenders there are of each kind, and
// which. An allowance says how many of them may be there; it may only become smaller.
import { circlesIn } from './circles.ts'
import { unusedExports } from './exports.ts'
import { fullFolders, longFile, longFunctions } from './sizes.ts'
import { isTest, readPages, readSources, readTests, type SourceFile } from './sources.ts'
import { syntaxOf } from './syntax.ts'
import { vendorLines } from './vendors.ts'
import { type Offenders, oldIdentifiers, oldTexts, oldValues, vagueLines } from './words.ts'

/** Kind -> key -> offenders, each a line for a person to read. */
export type Measures = Record<string, Record<string, readonly string[]>>

export type Allowances = Record<string, Record<string, number>>

/** The history of the schema, and the names that older rows still have. */
const isHistory = (path: string) =>
  path.startsWith('src/store/migrations/') || path === 'src/contract/former-names.ts'

function byTopFolder(lines: readonly string[]): Record<string, string[]> {
  const groups = Map.groupBy(lines, (line) => line.split(/[/ ]/)[0]!)
  return Object.fromEntries(groups)
}

const asRecord = (offenders: Offenders) => Object.fromEntries(offenders)

export function measure(): Measures {
  const sources = readSources()
  const production = sources.filter(({ path }) => !isTest(path))
  const present = production.filter(({ path }) => !isHistory(path))
  const pages = readPages()
  const syntax = new Map(production.map((file: SourceFile) => [file.path, syntaxOf(file)]))
  const named = new Map([...syntax].filter(([path]) => !isHistory(path)))
  const circles = circlesIn(production)
  return {
    circles: {
      groups: circles.map((files) => files.join(' ')),
      files: circles.flat(),
    },
    'long files': byTopFolder(production.flatMap(longFile)),
    'long functions': byTopFolder(
      [...syntax].flatMap(([path, found]) => longFunctions(path, found)),
    ),
    'full folders': byTopFolder(fullFolders(production)),
    'unused exports': unusedExports(syntax, [...sources, ...readTests()]),
    'vendor words': byTopFolder(vendorLines(production)),
    'vague persons': { lines: vagueLines([...production, ...pages]) },
    'old identifiers': asRecord(oldIdentifiers(named)),
    'old values': asRecord(oldValues(named)),
    'old texts': asRecord(oldTexts([...present, ...pages], named)),
  }
}

/** What is over its allowance, with its offenders. */
export function excess(measures: Measures, allowances: Allowances): string[] {
  const shown = 25
  const width = 200
  return Object.entries(measures).flatMap(([kind, keys]) =>
    Object.entries(keys).flatMap(([key, offenders]) => {
      const allowed = allowances[kind]?.[key] ?? 0
      if (offenders.length <= allowed) return []
      return [
        `${kind}, ${key}: ${offenders.length}, and ${allowed} are allowed:`,
        ...offenders.slice(0, shown).map((line) => `  ${line}`.slice(0, width)),
      ]
    }),
  )
}

/** The allowances that the tree needs, where they are smaller than the given ones. */
export function tightened(measures: Measures, allowances: Allowances): Allowances {
  const next: Allowances = {}
  for (const [kind, keys] of Object.entries(allowances)) {
    next[kind] = {}
    for (const [key, allowed] of Object.entries(keys)) {
      const needed = Math.min(allowed, measures[kind]?.[key]?.length ?? 0)
      if (needed > 0) next[kind][key] = needed
    }
  }
  return next
}
