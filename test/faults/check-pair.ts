// What every case of the fault table must show where the call is translated: the answer in the caller's own
// grammar, one end or one error, and a charge for exactly what the caller was shown.
import { expect } from 'bun:test'
import {
  dataLines,
  type ErrorFields,
  nanos,
  type RequestRow,
  requestIdShape,
} from '../support/read.ts'
import { problemsIn } from '../translation/grammars.ts'
import type { Answer } from './caller.ts'
import { seenBy } from './check.ts'
import { beginsAtOnce, canary, leaked, type Seen } from './fault.ts'
import type { PairCase } from './pairs-table.ts'
import { goodTokens, type StyleName, words } from './styles.ts'

export interface PairOutcome {
  answer: Answer
  row: RequestRow
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any

export function checkPair(made: PairCase, { answer, row }: PairOutcome, places: readonly string[]) {
  const { fault, style, mode } = made
  const seen = typeof fault.seen === 'function' ? fault.seen(style.name, mode) : fault.seen
  expect(answer.whole).toBe(true)
  expect(answer.headers['x-request-id']).toMatch(requestIdShape)
  for (const secret of [canary, ...leaked, ...places]) {
    expect([secret, answer.raw.includes(secret)]).toEqual([secret, false])
  }
  if (seen.kind === 'good') checkGood(made, answer, row, seen.pays === 'count')
  else if (seen.kind === 'sane') checkSane(made, answer, row)
  else if (answer.status === 200 && seen.kind === 'broken') checkBroken(made, answer, row, seen)
  else checkError(made, answer, row, seen)
}

type Failing = Extract<Seen, { kind: 'error' | 'broken' }>

/** A caller to whom nothing was said yet gets a plain error. */
function checkError(made: PairCase, answer: Answer, row: RequestRow, seen: Failing): void {
  const { fault, caller } = made
  if (seen.kind === 'error') expect(answer.status).toBe(seenBy(caller.name, seen.status))
  else expect([beginsAtOnce(made), answer.status >= 500]).toEqual([false, true])
  const { error } = JSON.parse(answer.text) as { error: ErrorFields }
  checkFields(made, answer, row, error, seen)
  if (fault.upstreamId === true) expect(error.upstream_request_id).not.toBe('')
  if (fault.says !== undefined) expect(error.message).toContain(fault.says)
  if (seen.kind === 'error' && seen.retryAfter !== undefined) {
    expect(answer.headers['retry-after']).toBe(seen.retryAfter)
  }
}

function checkFields(
  { mode }: PairCase,
  { headers }: Answer,
  row: RequestRow,
  error: ErrorFields,
  { code }: Failing,
): void {
  expect([code].flat()).toContain(error.code)
  expect(error.message).toEndWith(` (${headers['x-request-id']})`)
  expect([row.ending, row.error_code, row.stream, row.charge]).toEqual([
    'failed',
    error.code,
    mode === 'stream',
    '0.00',
  ])
}

/** What stands only in the end of an answer that is complete. */
const ends: Readonly<Record<string, RegExp>> = {
  chat: /\[DONE\]|"finish_reason":"/,
  responses: /response\.(?:completed|incomplete)/,
  messages: /message_stop|message_delta/,
  generate: /finishReason/,
}

/** It begins as an answer of the caller's style, and its last event is the only error. */
function checkBroken(made: PairCase, answer: Answer, row: RequestRow, seen: Failing): void {
  const { caller } = made
  const data = dataLines(answer.text).map((line) => JSON.parse(line) as Any)
  expect(answer.text).not.toMatch(ends[caller.name]!)
  const failures = data
    .map((each) => each.error ?? each.response?.error)
    .map((each) => each != null)
  expect(failures.indexOf(true)).toBe(data.length - 1)
  const last = data.at(-1)
  checkFields(made, answer, row, last.error ?? last.response.error, seen)
  checkBegin[caller.name]!(data)
}

const checkBegin: Readonly<Record<string, (data: Any[]) => void>> = {
  chat: ([first]) => expect(first.choices[0].delta.role).toBe('assistant'),
  responses(data) {
    expect(data[0].type).toBe('response.created')
    expect(data.map((each) => each.sequence_number)).toEqual([...data.keys()])
  },
  messages: ([first]) => expect(first.type).toBe('message_start'),
  generate: ([first]) => expect(first.candidates[0].content.role).toBe('model'),
}

function checkGood(made: PairCase, answer: Answer, row: RequestRow, isCounted: boolean): void {
  const { caller } = made
  expect([answer.status, row.status, row.ending]).toEqual([200, 200, 'complete'])
  expect(answer.text).toContain(words[0]!.trim())
  const [input, output] = isCounted ? caller.counted : goodTokens
  expect([nanos(row.charge), row.estimated]).toEqual([
    BigInt(input * 1000 + output * 2000),
    isCounted,
  ])
  checkShown(made, answer, row)
}

/** What the caller is shown is what it is charged for. */
function checkShown({ caller, style, mode }: PairCase, answer: Answer, row: RequestRow): void {
  expect(answer.headers['x-gateway-translation']).toBe(`${caller.name}>${style.name}`)
  if (mode === 'stream') expect(problemsIn(caller.name, answer.text)).toEqual([])
  const shown = usageOf[caller.name]!(mode === 'stream' ? lastOf(answer) : JSON.parse(answer.text))
  expect(shown).toEqual([row.usage!.input_tokens, row.usage!.output_tokens])
}

/** The event that has the usage. */
function lastOf({ text }: Answer): Any {
  const data = dataLines(text).filter((line) => line !== '[DONE]')
  const events = data.map((line) => JSON.parse(line) as Any)
  return events.findLast((each) => each.usage ?? each.usageMetadata ?? each.response)
}

const usageOf: Readonly<Record<StyleName, (answer: Any) => [number, number]>> = {
  chat: ({ usage }) => [usage.prompt_tokens, usage.completion_tokens],
  responses: ({ response, usage = response.usage }) => [usage.input_tokens, usage.output_tokens],
  messages: ({ usage }) => [
    usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens,
    usage.output_tokens,
  ],
  generate: ({ usageMetadata: { promptTokenCount, candidatesTokenCount } }) => [
    promptTokenCount,
    candidatesTokenCount,
  ],
  embeddings: () => [0, 0],
}

function checkSane(made: PairCase, answer: Answer, row: RequestRow): void {
  expect([200, 502]).toContain(answer.status)
  expect(row.error_code).not.toBe('internal_error')
  expect(['complete', 'failed']).toContain(row.ending)
  if (row.ending === 'complete') checkShown(made, answer, row)
  else expect(row.charge).toBe('0.00')
}
