// The lines of a batch's input: what each asks for, and what is wrong with it.
import { type BatchError, maxBatchLines } from '../../contract/batches/index.ts'
import { isObject } from '../../lib/json/parse.ts'
import { spansIn } from '../../lib/json/spans.ts'
import type { ByteLine } from '../../lib/text/byte-lines.ts'

export interface LineRequest {
  customId: string
  /** Of its body. */
  fields: Readonly<Record<string, unknown>>
  /** The whole line. */
  text: string
}

/** Its body as it stands there: numbers beyond double precision and the order of keys stay as they are. */
export function bodyIn({ text }: Pick<LineRequest, 'text'>): string {
  // Where it is given twice, the last counts, as for every reader of JSON.
  const { start, end } = spansIn(text, 0).findLast(({ key }) => key === 'body')!
  return text.slice(start, end)
}

const maxCustomId = 512

/** What a line asks for, or the first mistake in it. */
export function readLine(
  { number: line, text }: ByteLine,
  endpoint: string,
): LineRequest | BatchError {
  const wrong = (code: string, message: string, param: string | null = null): BatchError => ({
    code,
    message,
    line,
    param,
  })
  if (text === '') return wrong('line_too_large', 'the line is larger than a request may be')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return wrong('invalid_json_line', 'the line is not valid JSON')
  }
  if (!isObject(value)) return wrong('invalid_json_line', 'the line is not a JSON object')
  const { custom_id: customId, method, url, body } = value
  if (typeof customId !== 'string' || customId === '' || customId.length > maxCustomId) {
    const message = `'custom_id' must be a text of 1 to ${maxCustomId} characters`
    return wrong('missing_required_parameter', message, 'custom_id')
  }
  if (method !== 'POST') return wrong('invalid_method', "'method' must be POST", 'method')
  if (url !== endpoint) {
    return wrong('invalid_url', `'url' must be ${endpoint}, as the batch says`, 'url')
  }
  if (!isObject(body)) {
    return wrong('missing_required_parameter', "'body' must be an object", 'body')
  }
  return { customId, fields: body, text }
}

export const isLineRequest = (read: LineRequest | BatchError): read is LineRequest =>
  'customId' in read

/** Beyond them nothing new is learned. */
const maxErrors = 100

/** How many lines there are, and what is wrong with them. */
export async function checkLines(
  lines: AsyncIterable<ByteLine>,
  endpoint: string,
): Promise<{ total: number; errors: BatchError[] }> {
  const errors: BatchError[] = []
  const ids = new Set<string>()
  let total = 0
  for await (const line of lines) {
    total++
    const read = readLine(line, endpoint)
    if (!isLineRequest(read)) errors.push(read)
    else if (ids.has(read.customId)) errors.push(duplicate(line.number, read.customId))
    else ids.add(read.customId)
    if (errors.length >= maxErrors) break
  }
  if (total === 0) errors.push(about('empty_file', 'the input file has no lines'))
  if (total > maxBatchLines) {
    errors.push(about('too_many_lines', `a batch may have at most ${maxBatchLines} lines`))
  }
  return { total, errors }
}

const duplicate = (line: number, id: string): BatchError => ({
  code: 'duplicate_custom_id',
  message: `'custom_id' ${JSON.stringify(id.slice(0, 64))} is given twice`,
  line,
  param: 'custom_id',
})

const about = (code: string, message: string): BatchError => ({
  code,
  message,
  line: null,
  param: null,
})
