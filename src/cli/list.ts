// What all list commands share: one page of rows as a table, and how to get the next page.
import type { Context, Outcome } from './command.ts'
import { type Column, cell, rowOf, rowsOf, table } from './show.ts'

export interface ListWish {
  path: string
  /** Plural, for the sentence that there are none. */
  what: string
  query?: Readonly<Record<string, string | undefined>>
  columns: readonly Column[]
}

export async function list({ line, admin }: Context, wish: ListWish): Promise<Outcome> {
  const answer = await admin.ask('GET', wish.path, {
    query: { ...wish.query, limit: line.count('limit'), cursor: line.text('cursor') },
  })
  const rows = rowsOf(answer)
  const lines = [rows.length === 0 ? `no ${wish.what}` : table(rows, wish.columns)]
  const next = rowOf(answer)['next_cursor']
  if (typeof next === 'string' && next !== '') {
    lines.push('', `more ${wish.what}: add --cursor ${cell(next)}`)
  }
  return { answer, text: lines.join('\n') }
}

/** A path segment from what a person typed. */
export const segment = (text: string): string => encodeURIComponent(text)
