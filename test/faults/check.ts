// What every case of the fault table must show: the right answer, the right bill, and no word of what
// lies behind the gateway.
import { expect } from 'bun:test'
import type { TestGateway } from '../support/gateway.ts'
import {
  type Account,
  accountOf,
  chargeOf,
  type EntryRow,
  type ErrorFields,
  nanos,
  type RequestRow,
  requestIdShape,
  until,
} from '../support/read.ts'
import type { Answer } from './caller.ts'
import { canary, leaked, type Seen, upstreamId, withoutMarks } from './fault.ts'
import { costOf, good, goodTokens, words } from './styles.ts'
import type { Case } from './table.ts'

/** All there is to know about a case that has run. */
export interface Outcome {
  answer: Answer
  /** The answer to a good request on the same connection. */
  next: Answer
  row: RequestRow
  charge: EntryRow | undefined
  account: Account
}

const idNames = ['x-gateway-request-id', 'x-request-id', 'request-id']
/** Headers a gateway may send; all others would be the upstream's. */
const ownHeaders = new Set([
  ...idNames,
  'content-type',
  'content-length',
  'transfer-encoding',
  'cache-control',
  'x-accel-buffering',
  'retry-after',
  'x-should-retry',
  'x-gateway-charge',
  'x-gateway-currency',
  'date',
])
const finalCodes = [
  'upstream_permission_denied',
  'upstream_invalid_request',
  'content_policy_violation',
]

/** Rows without money are written behind the answer, but not long behind it. */
const rowMs = 3_000
const noRow = { ending: 'no row was written' } as RequestRow
/** A row that is larger holds what an upstream stuffed into it. */
const maxRowBytes = 64 * 1024

export async function gather(
  gateway: TestGateway,
  { account }: Case,
  answer: Answer,
  next: Answer,
): Promise<Outcome> {
  const id = answer.headers[idNames[0]!] ?? ''
  const row = await until(
    `the row of ${id}`,
    async () => {
      const { status, body } = await gateway.admin('GET', `/requests/${id}`)
      return status === 200 ? (body as RequestRow) : undefined
    },
    rowMs,
  ).catch(() => noRow)
  return {
    answer: { ...answer, text: withoutMarks(answer.text) },
    next,
    row,
    charge: await chargeOf(gateway, id),
    account: await accountOf(gateway, account),
  }
}

export function checkOutcome(made: Case, outcome: Outcome, places: readonly string[]): void {
  const { fault, style, mode } = made
  const seen = typeof fault.seen === 'function' ? fault.seen(style.name, mode) : fault.seen
  checkIds(outcome)
  if (seen.kind === 'error') checkError(made, outcome, seen)
  else if (seen.kind === 'broken') checkBroken(made, outcome, seen)
  else if (seen.kind === 'good') checkGood(made, outcome, seen)
  else checkSane(outcome)
  checkBill(made, outcome, seen)
  checkSecrets(outcome, places)
  expect(outcome.answer.whole).toBe(true)
  expect([outcome.next.status, outcome.next.whole]).toEqual([200, true])
  expect(JSON.stringify(outcome.row).length).toBeLessThan(maxRowBytes)
}

function checkIds({ answer }: Outcome): void {
  const ids = idNames.map((name) => answer.headers[name])
  expect(ids[0]).toMatch(requestIdShape)
  expect(new Set(ids).size).toBe(1)
}

/** Overload has a status of its own in one style. */
export const seenBy = (style: string, status: number): number =>
  style === 'messages' && status === 503 ? 529 : status

type SeenAs<K extends Seen['kind']> = Extract<Seen, { kind: K }>

function checkError(made: Case, outcome: Outcome, seen: SeenAs<'error'>): void {
  const { answer, row } = outcome
  const body = JSON.parse(answer.text) as { error: ErrorFields; type?: string }
  const status = seenBy(made.style.name, seen.status)
  expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/json'])
  checkFields(made, outcome, body.error, seen.code)
  if (made.style.name === 'messages') expect(body.type).toBe('error')
  if (seen.retryAfter !== undefined) expect(answer.headers['retry-after']).toBe(seen.retryAfter)
  const isFinal = finalCodes.includes(body.error.code)
  expect(answer.headers['x-should-retry']).toBe(isFinal ? 'false' : undefined)
  expect(row.status).toBe(seen.status)
}

function checkFields(
  { fault, mode, style }: Case,
  { answer, row }: Outcome,
  error: ErrorFields,
  code: string | readonly string[],
): void {
  expect([code].flat()).toContain(error.code)
  const id = answer.headers['x-request-id']!
  expect(error.message).toEndWith(` (${id})`)
  expect(error.request_id).toBe(id)
  const types: Record<string, string> = {
    upstream_invalid_request: 'invalid_request_error',
    content_policy_violation: 'invalid_request_error',
    upstream_rate_limited: 'rate_limit_error',
    overloaded: style.name === 'messages' ? 'overloaded_error' : 'server_error',
  }
  expect(error.type).toBe(types[error.code] ?? 'upstream_error')
  if (fault.says !== undefined) expect(error.message).toContain(fault.says)
  if (fault.upstreamId === true) expect(error.upstream_request_id).toBe(upstreamId)
  expect([row.ending, row.error_code, row.stream]).toEqual([
    'failed',
    error.code,
    mode === 'stream',
  ])
}

/** The upstream's own events, then the style's error event, and nothing after it. */
function checkBroken(made: Case, outcome: Outcome, seen: SeenAs<'broken'>): void {
  const { answer } = outcome
  const { style, model } = made
  expect([answer.status, answer.headers['content-type']]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ])
  const events = answer.text.split(/(?<=\n\n)/)
  const last = events.at(-1)!
  expect(answer.text).toEndWith('\n\n')
  expect(answer.text).not.toContain(style.final)
  expect(events[0]).toBe(style.events(model, good)[0]!)
  const isNamed = style.name !== 'chat' && style.name !== 'generate'
  expect(last.startsWith('event: error\n')).toBe(isNamed)
  const data = JSON.parse(last.slice(last.indexOf('data: ') + 6)) as Record<string, unknown>
  checkFields(made, outcome, data['error'] as ErrorFields, seen.code)
  if (isNamed) expect(data['type']).toBe('error')
  if (style.name === 'messages') expect(data['request_id']).toBe(outcome.row.request_id)
  if (style.name !== 'responses') return
  const { code, message } = data['error'] as ErrorFields
  expect([data['code'], data['message']]).toEqual([code, message])
  const before = [...answer.text.matchAll(/"sequence_number":(\d+)/g)].map(([, n]) => Number(n))
  expect(before.at(-1)).toBe(Number(data['sequence_number']))
  expect(Number(data['sequence_number'])).toBeGreaterThan(Math.max(...before.slice(0, -1)))
}

function checkGood(made: Case, { answer, row }: Outcome, seen: SeenAs<'good'>): void {
  const { style, mode, model, fault } = made
  expect([answer.status, row.status, row.ending]).toEqual([200, 200, 'complete'])
  const told = fault.told === null ? undefined : (fault.told ?? good)
  const sent =
    mode === 'json' ? JSON.stringify(style.answer(model, told)) : style.events(model, told).join('')
  // Clients of messages fail at a stream without usage: it is put in.
  const isRepaired = style.name === 'messages' && mode === 'stream' && told === undefined
  if (seen.exact && !isRepaired) expect(answer.text).toBe(sent)
  else {
    if (style.name !== 'embeddings') expect(answer.text).toContain(words[0]!)
    if (mode === 'stream') expect(answer.text).toContain(style.final)
    else {
      const name = style.name === 'generate' ? 'modelVersion' : 'model'
      expect(JSON.parse(answer.text)).toMatchObject({ [name]: model })
    }
  }
}

function checkSane({ answer, row }: Outcome): void {
  expect([200, 502]).toContain(answer.status)
  expect(answer.text).not.toContain('"server_error"')
  expect(['complete', 'failed']).toContain(row.ending)
}

/** Failed is free; what is good costs its usage, or the gateway's own count if that is no use. */
function checkBill({ style }: Case, outcome: Outcome, seen: Seen): void {
  const { row, charge, account } = outcome
  expect(account.held).toBe('0.00')
  if (seen.kind === 'sane') {
    expect(nanos(account.balance)).toBe(nanos('1.00') - nanos(row.charge))
    return
  }
  if (seen.kind !== 'good') {
    expect([row.charge, charge, account.balance]).toEqual(['0.00', undefined, '1.00'])
    return
  }
  const estimated = seen.pays === 'count'
  const cost = costOf(style, estimated ? style.counted : goodTokens)
  expect([nanos(row.charge), row.estimated]).toEqual([cost, estimated])
  expect([nanos(charge?.amount ?? '0'), charge?.estimated]).toEqual([-cost, estimated])
  expect(nanos(account.balance)).toBe(nanos('1.00') - cost)
}

function checkSecrets({ answer, row }: Outcome, places: readonly string[]): void {
  for (const name of Object.keys(answer.headers)) expect(ownHeaders).toContain(name)
  const log = JSON.stringify(row)
  for (const secret of [canary, canary.slice(-8), ...leaked, ...places]) {
    expect([secret, answer.raw.includes(secret), log.includes(secret)]).toEqual([
      secret,
      false,
      false,
    ])
  }
}
