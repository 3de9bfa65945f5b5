// What all list commands share: one page of rows as a table, and how to get the next page.
import type { z } from 'zod'
import { columnsOf, filtersOf, flagsOf } from './columns.ts'
import { type Command, type Context, type Outcome, pageFlags } from './command.ts'
import { saveFile } from './save-file.ts'
import { cell, type Row, rowOf, rowsOf, table } from './show.ts'

interface ListSpec {
  /** Of the call. */
  path: string
  /** Plural, for the sentence that there are none. */
  what: string
  item: z.ZodObject
  query?: z.ZodObject
  /** Values that are made of more than one field, by the title of their column. */
  own?: Readonly<Record<string, (row: Row) => string>>
}

/** A command that prints a list. `:id` in the path of the call is the command's argument. */
export const listCommand = (
  command: Pick<Command, 'path' | 'summary'> & { args?: readonly string[] },
  spec: ListSpec,
): Command => ({
  args: [],
  ...command,
  flags: { ...(spec.query !== undefined && flagsOf(spec.query)), ...pageFlags },
  run: (context) => list(context, spec),
})

/** A page may be empty and still have a next one; so many are asked for until one is not. */
const maxPages = 200

export async function list(context: Context, spec: ListSpec): Promise<Outcome> {
  const { line, admin } = context
  const path = spec.path.replace(':id', () => segment(line.arg(0)))
  const filters = spec.query === undefined ? {} : filtersOf(spec.query, line)
  const file = line.text('out')
  if (file !== undefined) {
    const query = { ...filters, format: /\.jsonl$/i.test(file) ? 'jsonl' : 'csv' }
    return saveFile(await admin.open('GET', path, { query }), file, `the ${spec.what}`)
  }
  const answer = await firstPage(context, path, filters)
  const rows = rowsOf(answer)
  const { what, item, own } = spec
  const lines = [rows.length === 0 ? `no ${what}` : table(rows, columnsOf(item, own))]
  const next = nextOf(answer)
  if (next !== undefined) lines.push('', `more ${what}: add --cursor ${cell(next)}`)
  return { answer, text: lines.join('\n') }
}

async function firstPage(
  { line, admin }: Context,
  path: string,
  filters: Readonly<Record<string, string | undefined>>,
): Promise<unknown> {
  const limit = line.count('limit')
  const ask = (cursor: string | undefined) =>
    admin.ask('GET', path, { query: { ...filters, limit, cursor } })
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
