// Which names have totals of their own: the first thousand models, values of a tag and end users of an
// account and month. Others count as one; the entries keep their names. Decided in the transaction that
// writes the totals, by one writer at a time, so that a name is in or out for the whole month.

import type { Entry } from '../../contract/ledger.ts'
import { pairsIn } from '../../contract/tags/index.ts'
import { maxTotalNames, otherNames } from '../../contract/totals.ts'
import { monthAt } from '../../lib/text/month.ts'

/** The name of models among the names of tags; no tag has it. */
export const modelName = ''

export const nameColumns = ['account_id', 'month', 'name', 'value'] as const

interface Scope {
  account_id: string
  month: string
  name: string
}

/** Which of these values are known, and how many of the scope are; beyond the maximum, any number. */
export interface NamesAsked extends Scope {
  values: readonly string[]
}
export interface NamesKnown {
  values: readonly string[]
  count: number
}

export const knownNameStatement =
  'SELECT 1 AS found FROM total_names WHERE account_id = ? AND month = ? AND name = ? AND value = ?'
export const countNamesStatement = `SELECT count(*) AS count FROM (SELECT 1 FROM total_names
  WHERE account_id = ? AND month = ? AND name = ? LIMIT ${maxTotalNames}) AS names`
export const addNameStatement = `INSERT INTO total_names (${nameColumns.join(', ')})
  VALUES (?, ?, ?, ?) ON CONFLICT (${nameColumns.join(', ')}) DO NOTHING`

type Named = Pick<Entry, 'accountId' | 'atMs' | 'kind' | 'model' | 'tags'>

/** The names of a chunk of entries, as totals have them. */
export interface TotalNames {
  /** `name`: that of a tag, or of models. */
  of(row: Named, name: string, value: string): string
  /** To be stored, in the order of `nameColumns`. */
  added: readonly (readonly string[])[]
}

/** Asks about each scope once, with all its values in the chunk. */
export function* nameTotals(rows: readonly Named[]): Generator<NamesAsked, TotalNames, NamesKnown> {
  const scopes = scopesIn(rows)
  const added: string[][] = []
  const kept = new Map<string, ReadonlySet<string>>()
  let isWhole = true
  for (const [key, { scope, values }] of scopes) {
    const asked = [...values]
    const { values: known, count } = yield { ...scope, values: asked }
    const names = new Set(known)
    let left = maxTotalNames - count
    for (const value of asked) {
      if (names.has(value)) continue
      if (left <= 0) {
        isWhole = false
        continue
      }
      left--
      names.add(value)
      added.push([scope.account_id, scope.month, scope.name, value])
    }
    kept.set(key, names)
  }
  // Nearly always all are kept.
  const of: TotalNames['of'] = isWhole
    ? (_, __, value) => value
    : (row, name, value) => (kept.get(keyOf(row, name))!.has(value) ? value : otherNames)
  return { of, added }
}

const keyOf = ({ accountId, atMs }: Named, name: string): string =>
  `${accountId} ${monthOf(atMs)} ${name}`

function scopesIn(rows: readonly Named[]) {
  const scopes = new Map<string, { scope: Scope; values: Set<string> }>()
  const add = (row: Named, name: string, value: string) => {
    const key = keyOf(row, name)
    let found = scopes.get(key)
    if (found === undefined) {
      const { accountId, atMs } = row
      found = { scope: { account_id: accountId, month: monthOf(atMs), name }, values: new Set() }
      scopes.set(key, found)
    }
    found.values.add(value)
  }
  let last: Named | undefined
  for (const row of rows) {
    // Calls of one account come in rows.
    const isKnown =
      last?.model === row.model && last?.accountId === row.accountId && isSameDay(last, row)
    if (row.model !== undefined && !isKnown) add(row, modelName, row.model)
    last = row
    if (row.kind !== 'charge' || row.tags === undefined) continue
    for (const [name, value] of pairsIn(row.tags)) add(row, name, value)
  }
  return scopes
}

const dayMs = 86_400_000

const isSameDay = (one: Named, other: Named): boolean =>
  Math.floor(one.atMs / dayMs) === Math.floor(other.atMs / dayMs)

let lastDay = { day: -1, month: '' }

/** Entries of a chunk are mostly of one day. */
function monthOf(atMs: number): string {
  const day = Math.floor(atMs / dayMs)
  if (lastDay.day !== day) lastDay = { day, month: monthAt(atMs) }
  return lastDay.month
}
