// A list of the admin API as one file: its pages one after the other, as a table for spreadsheets or
// as lines of JSON. Columns come from the schema of a row. Never more than a page in memory.
import { z } from 'zod'
import { tagColumn } from '../contract/bills/bill-line.ts'
import { Refusal } from '../contract/errors.ts'
import { answerTable } from '../http/answer-file.ts'
import type { RequestContext } from '../http/request-context.ts'
import { text } from '../http/schema.ts'
import { csvRow } from '../lib/text/csv.ts'
import type { PageQuery } from '../store/index.ts'
import { isStaffOnly } from './member-view.ts'
import { query } from './schema.ts'

const types = { csv: 'text/csv; charset=utf-8', jsonl: 'application/x-ndjson' } as const
export type DownloadFormat = keyof typeof types

/** What a list takes and answers with besides its pages. */
export const downloadFields = {
  format: query.choice(['csv', 'jsonl'], 'The whole list as a file, instead of a page.'),
}
export const downloadFiles = { 'text/csv': text(), 'application/x-ndjson': text() }

/** The schema of a row, where the answer is a page of a list. */
export function rowSchemaOf(answer: z.ZodType | undefined): z.ZodType | undefined {
  if (!(answer instanceof z.ZodObject) || !('next_cursor' in answer.shape)) return undefined
  const { items } = answer.shape
  return items instanceof z.ZodArray ? (items.element as z.ZodType) : undefined
}

/** Whether rows have tags. */
export const hasTags = (row: z.ZodType): boolean => fieldsOf(row).some(([name]) => name === 'tags')

interface ListPage {
  items: readonly object[]
  next_cursor: string | null
}

interface Download {
  /** Of the file, without its date. */
  name: string
  format: DownloadFormat
  row: z.ZodType
  /** Rows that have tags have a column for each of these. */
  tagNames: readonly string[]
  /** Where to begin. */
  from: PageQuery
  /** A page as the viewer may see it. */
  read(page: PageQuery): Promise<object>
}

/** A download of which the client reads nothing for so long is cut: it may hold a snapshot. */
export const unreadSeconds = 30

/** The first page is read before the answer begins: a refusal is answered as such. */
export async function download(
  x: RequestContext,
  { name, format, row, tagNames, from, read }: Download,
): Promise<Response | Refusal> {
  const first = await read(from)
  if (first instanceof Refusal) return first
  x.connection.keepOpen(unreadSeconds)
  const day = new Date(x.atMs).toISOString().slice(0, 10)
  const ofTags = tagNames.map((tag) => ({ name: tagColumn(tag), path: ['tags', tag] }))
  const columns = [...columnsOf(row, x.viewer?.role === 'member'), ...ofTags]
  const encoder = new TextEncoder()
  let page: ListPage | undefined = first as ListPage
  let cursor: string | undefined
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      // With a UTF-8 byte order mark, without which some spreadsheets assume another encoding.
      const head = `\uFEFF${csvRow(columns.map((column) => column.name))}`
      if (format === 'csv') controller.enqueue(encoder.encode(head))
    },
    async pull(controller) {
      page ??= await nextPage(read, { ...from, cursor })
      const rows = page.items.map((each) =>
        format === 'csv' ? csvRow(columns.map(({ path }) => cellOf(each, path))) : jsonLine(each),
      )
      controller.enqueue(encoder.encode(rows.join('')))
      cursor = page.next_cursor ?? undefined
      page = undefined
      if (cursor === undefined) controller.close()
    },
  })
  return answerTable(x, body, `${name}-${day}.${format}`, types[format])
}

async function nextPage(read: Download['read'], page: PageQuery): Promise<ListPage> {
  const found = await read(page)
  if (found instanceof Refusal) throw new Error(found.message)
  return found as ListPage
}

interface Column {
  name: string
  path: readonly string[]
}

/** A column for each field; of an object inside a row, one for each of its fields. */
function columnsOf(row: z.ZodType, isMember: boolean): Column[] {
  const columns = columnsAt([], row, isMember)
  return [...new Map(columns.map((column) => [column.name, column])).values()]
}

function columnsAt(path: readonly string[], schema: z.ZodType, isMember: boolean): Column[] {
  const fields = fieldsOf(schema)
  if (fields.length === 0) return [{ name: path.join('_'), path }]
  return fields
    .filter(([, field]) => !(isMember && isStaffOnly(field)))
    .flatMap(([name, inner]) => columnsAt([...path, name], inner, isMember))
}

function fieldsOf(schema: z.ZodType): [string, z.ZodType][] {
  const { innerType } = schema.def as { innerType?: z.ZodType }
  if (innerType !== undefined) return fieldsOf(innerType)
  if (schema instanceof z.ZodUnion) {
    return schema.options.flatMap((option) => fieldsOf(option as z.ZodType))
  }
  return schema instanceof z.ZodObject ? Object.entries(schema.shape) : []
}

function cellOf(row: object, path: readonly string[]): unknown {
  const value = path.reduce<unknown>(
    (part, name) =>
      typeof part === 'object' && part !== null && Object.hasOwn(part, name)
        ? (part as Readonly<Record<string, unknown>>)[name]
        : undefined,
    row,
  )
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}

const jsonLine = (row: object): string => `${JSON.stringify(row)}\n`
