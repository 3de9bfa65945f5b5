// Price lists as YAML, in the format of gateway.yaml: parsed with line numbers for problems, and
// written. Knows no store, and accounts only by name.
import { type Document, LineCounter, parseDocument, stringify } from 'yaml'
import {
  checkDeclaration,
  declaredTerms,
  type ModelDeclaration,
  type PriceDeclaration,
  priceListDeclaration,
  settingName,
} from '../../contract/config-schema/index.ts'
import type { Price } from '../../contract/price.ts'
import { readPlainList } from './plain-list.ts'

export interface ListedPrice {
  declared: PriceDeclaration
  /** Line in its file, from 1. */
  line: number
}

export interface ListProblem {
  line: number
  /** The setting or the column. */
  field: string
  /** Continues the field's name. */
  message: string
}

/** Prices, and models that are added with them unless they are there. */
export interface ReadList {
  prices: ListedPrice[]
  models: ModelDeclaration[]
}

export type PriceList = ReadList | { problems: ListProblem[] }

// Anchors are a convenience of hand-written files; more than this is an attack on memory.
const maxAliases = 100

/** `prices:` and a list as in gateway.yaml, with `models:` or without, or the list alone. */
export const readYamlPrices = (text: string): PriceList => readPlain(text) ?? readYaml(text)

/** Undefined: it is YAML of another form, or something is wrong with it, and the parser knows where. */
function readPlain(text: string): ReadList | undefined {
  const plain = readPlainList(text)
  if (plain === undefined) return undefined
  const { value, lines } = plain
  const checked = checkDeclaration(
    priceListDeclaration,
    Array.isArray(value) ? { prices: value } : value,
  )
  if ('problems' in checked) return undefined
  const { prices, models = [] } = checked.value
  return { prices: prices.map((declared, at) => ({ declared, line: lines[at]! })), models }
}

function readYaml(text: string): PriceList {
  const lines = new LineCounter()
  const doc = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' })
  const lineAt = (offset: number) => lines.linePos(offset).line
  const broken = doc.errors[0] ?? doc.warnings[0]
  if (broken !== undefined) {
    const message = broken.message.replaceAll(/\s+/g, ' ')
    return { problems: [{ line: lineAt(broken.pos[0]), field: 'YAML', message: `: ${message}` }] }
  }
  const value = plainValue(doc)
  const isBare = Array.isArray(value)
  const checked = checkDeclaration(priceListDeclaration, isBare ? { prices: value } : (value ?? {}))
  if ('problems' in checked) {
    // A misspelt name is also reported as the right one missing: the misspelling comes first.
    const sorted = checked.problems.toSorted((a, b) => +b.unknownKey - +a.unknownKey)
    const problems = sorted.map(({ path, message }) => ({
      line: lineAt(offsetOf(doc, isBare ? path.slice(1) : path)),
      field: settingName(path) || 'the list',
      message,
    }))
    return { problems }
  }
  const prices = checked.value.prices.map((declared, index) => ({
    declared,
    line: lineAt(offsetOf(doc, isBare ? [index] : ['prices', index])),
  }))
  return { prices, models: checked.value.models ?? [] }
}

function plainValue(doc: Document): unknown {
  try {
    return doc.toJS({ maxAliasCount: maxAliases })
  } catch {
    return 'too many aliases'
  }
}

/** Of the deepest existing node on the path. */
function offsetOf(doc: Document, path: readonly (string | number)[]): number {
  for (let depth = path.length; depth >= 0; depth--) {
    const node = doc.getIn(path.slice(0, depth), true)
    const range = (node as { range?: [number, number, number] } | undefined)?.range
    if (range) return range[0]
  }
  return 0
}

/** As it could appear in gateway.yaml. */
export const declarationOf = ({ model, account, effectiveFromMs, terms }: Price) => ({
  model,
  ...(account !== undefined && { account: account.name }),
  effective_from: new Date(effectiveFromMs).toISOString(),
  ...declaredTerms(terms),
})

export const writeYamlPrices = (prices: readonly Price[]): string =>
  stringify({ prices: prices.map(declarationOf) }, { lineWidth: 0, aliasDuplicateObjects: false })
