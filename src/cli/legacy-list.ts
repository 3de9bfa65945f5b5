// What all list commands share: one page of rows as a table, and how to get the next page.
import type { Context, Outcome } from './command.ts'
import { type Column, cell, rowOf, rowsOf, table } from './show.ts'

export interface ListOptions {
  path: string
  /** Plural, for the sentence that there are none. */
  what: string
  query?: Readonly<Record<string, string | undefined>>
  columns: readonly Column[]
}

/** A page may be empty and still have a next one; so many are asked for until one is not. */
const maxPages = 200

export async function list(context: Context, input: ListOptions): Promise<Outcome> {
  const answer = await firstPage(context, input)
  const rows = rowsOf(answer)
  const lines = [rows.length === 0 ? `no ${input.what}` : table(rows, input.columns)]
  const next = nextOf(answer)
  if (next !== undefined) lines.push('', `more ${input.what}: add --cursor ${cell(next)}`)
  return { answer, text: lines.join('\n') }
}

async function firstPage({ line, admin }: Context, { path, query }: ListOptions): Promise<unknown> {
  const limit = line.count('limit')
  const ask = (cursor: string | undefined) =>
    admin.ask('GET', path, { query: { ...query, limit, cursor } })
  let answer = await ask(line.text('cursor'))
  for (let page = 1; page < maxPages; page++) {
    const next = nextOf(answer)
    if (next === undefined || rowsOf(answer).length > 0) break
    answer = await ask(next)
  }
  return answer
}

function nextOf(answer: unknown): string | undefined {
  const next = rowOf(answer)['next_cursor']
  return typeof next === 'string' && next !== '' ? next : undefined
}

/** A path segment from what a person typed. */
export const segment = (text: string): string => encodeURIComponent(text)
