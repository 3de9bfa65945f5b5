// The lines of a batch's input: what each asks for, and what is wrong with it.
import { type BatchError, maxBatchLines } from '../../contract/batches/index.ts'
import { textWork } from '../../contract/requests.ts'
import { readLong } from '../../lib/json/json-thread.ts'
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
  const { start, end } = spansIn(text, text.indexOf('{')).findLast(({ key }) => key === 'body')!
  return text.slice(start, end)
}

const maxCustomId = 512

/** Longer ones are read in a thread, as bodies of requests are. */
export const longLineBytes = 128 * 1024

/** How lines are read. */
interface LineTerms {
  endpoint: string
  /** How deep a body may nest. */
  jsonDepth: number
  /** Long lines of one account are read in turn with those of others. */
  accountId: string
}

/** What a line asks for, or the first mistake in it; a promise for a long one. */
export function readLine(
  line: ByteLine,
  terms: LineTerms,
): LineRequest | BatchError | Promise<LineRequest | BatchError> {
  const { number, text, bytes } = line
  if (bytes !== undefined) return readLongLine(number, bytes, terms)
  if (text === '') return tooLarge(number, 'the line is larger than a request may be')
  try {
    return lineIn(number, text, JSON.parse(text), terms)
  } catch {
    return notJson(number)
  }
}

/** Of the shapes that it takes long to parse, as of requests, not everything is taken. */
async function readLongLine(
  number: number,
  bytes: Uint8Array<ArrayBuffer>,
  terms: LineTerms,
): Promise<LineRequest | BatchError> {
  const depth = terms.jsonDepth + 1
  const read = await readLong(bytes, depth, textWork, false, terms.accountId)
  if ('value' in read) return lineIn(number, read.text, read.value, terms)
  if (!('problem' in read)) return notJson(number)
  const { problem } = read
  if (problem.kind === 'too_much_work') {
    return tooLarge(number, 'the line has too many values, keys or escaped characters')
  }
  const path = problem.kind === 'key_twice' ? ` '${problem.path}'` : ''
  const message = `the line cannot be read: ${problem.kind.replaceAll('_', ' ')}${path}`
  return wrong(number, 'invalid_json_line', message)
}

const wrong = (
  line: number,
  code: string,
  message: string,
  param: string | null = null,
): BatchError => ({ code, message, line, param })

const tooLarge = (line: number, why: string): BatchError => wrong(line, 'line_too_large', why)

const notJson = (line: number): BatchError =>
  wrong(line, 'invalid_json_line', 'the line is not valid JSON')

function lineIn(
  line: number,
  text: string,
  value: unknown,
  { endpoint }: LineTerms,
): LineRequest | BatchError {
  if (!isObject(value)) return wrong(line, 'invalid_json_line', 'the line is not a JSON object')
  const { custom_id: customId, method, url, body } = value
  if (typeof customId !== 'string' || customId === '' || customId.length > maxCustomId) {
    const message = `'custom_id' must be a text of 1 to ${maxCustomId} characters`
    return wrong(line, 'missing_required_parameter', message, 'custom_id')
  }
  if (method !== 'POST') return wrong(line, 'invalid_method', "'method' must be POST", 'method')
  if (url !== endpoint) {
    return wrong(line, 'invalid_url', `'url' must be ${endpoint}, as the batch says`, 'url')
  }
  if (!isObject(body)) {
    return wrong(line, 'missing_required_parameter', "'body' must be an object", 'body')
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
  terms: LineTerms,
): Promise<{ total: number; errors: BatchError[] }> {
  const errors: BatchError[] = []
  const ids = new Set<string>()
  let total = 0
  for await (const line of lines) {
    total++
    const read = await readLine(line, terms)
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
