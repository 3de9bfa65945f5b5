// One line of a batch: an ordinary call in the name of the batch's token. Its answer is durable before its
// charge; what a limit or a busy channel refuses is tried again.

import type { Catalog } from '../../catalog/snapshot.ts'
import type { OwnCall, RunOwnCall } from '../../contract/caller-api.ts'
import type { Token } from '../../contract/catalog.ts'
import { Refusal, type RefusalCode, refusals, refuse } from '../../contract/errors.ts'
import { batchTier } from '../../contract/price.ts'
import { tagsHeader } from '../../contract/tags/index.ts'
import { newId } from '../../lib/crypto/ids.ts'
import { decodeLine } from '../../lib/json/json-thread.ts'
import { onOneLine } from '../../lib/json/plain-text.ts'
import { parseNanos } from '../../lib/text/decimal.ts'
import { nextTurn } from '../../lib/turns.ts'
import { tokenById } from '../admission/authenticate.ts'
import type { RateLimits } from '../admission/limits/rate-limits.ts'
import { countedAs } from '../admission/reserve.ts'
import type { Load } from '../base-deps.ts'
import type { CallDeps } from '../calls/open-call.ts'
import type { FileDeps } from './files.ts'
import { type PreparedLine, prepareLine } from './native/native-line.ts'
import { bodyIn, type LineRequest, longLineBytes } from './read-lines.ts'

export interface LineDeps extends FileDeps {
  readonly catalog: Catalog
  readonly rates: RateLimits
  readonly load: Load
  readonly runOwnCall: RunOwnCall
}

/** How often a line is tried that fails in this way; without a row: once. */
const maxTries: Partial<Record<RefusalCode, number>> = {
  overloaded: 6,
  // Nothing was sent: its channels are down.
  no_available_channel: 12,
  upstream_rate_limited: 5,
  upstream_error: 3,
  upstream_unreachable: 3,
  upstream_timeout: 2,
  upstream_invalid_response: 2,
  internal_error: 2,
}
/** Limits of the token delay a line; the batch's own end bounds that. */
const limitPollMs = 250
const firstWaitMs = 500
const maxWaitMs = 30_000

type LineOutcome =
  | { kind: 'completed'; chargeNanos: bigint }
  /** As a line of the error file. */
  | { kind: 'failed'; requestId?: string; text: string }
  /** It found no money beside other lines of its account, or no slot of a channel. */
  | { kind: 'crowded' }
  /** The batch stopped first: nothing was done, or nothing that counts. */
  | { kind: 'stopped' }

export type FinalOutcome = Exclude<LineOutcome, { kind: 'crowded' }>

interface LineRun {
  tokenId: string
  endpoint: string
  tags: string | undefined
  line: LineRequest
  /** Makes its line of the output file durable; false: the batch is another gateway's. */
  keep(requestId: string, text: string): Promise<boolean>
  /** No other line of the account runs: a refusal for want of money is final. */
  isOnlyLine: boolean
  isStopped(): boolean
  sleep(ms: number): Promise<void>
  /** Takes the call in place of the engine. */
  instead?: OwnCall['instead']
}

export async function runLine(deps: LineDeps, run: LineRun): Promise<LineOutcome> {
  const { line } = run
  const unfit = unfitField(line.fields)
  if (unfit !== undefined) return refused(line, unfit)
  // To find it in a long line is work of its own.
  if (line.text.length > longLineBytes) await nextTurn()
  const body = bodyIn(line)
  for (let tries = 1; ; ) {
    if (run.isStopped() || deps.load.draining) return { kind: 'stopped' }
    const token = tokenById(deps, run.tokenId)
    if (token instanceof Refusal) return refused(line, token)
    const answer = deps.rates.refusalNow(countedAs(token)) ?? (await send(deps, run, token, body))
    if (answer instanceof Refusal) {
      await run.sleep(limitPollMs)
      continue
    }
    if (answer.isFull) {
      await run.sleep(limitPollMs)
      return { kind: 'crowded' }
    }
    if (answer.status === 200) return { kind: 'completed', chargeNanos: answer.chargeNanos }
    const { code } = answer
    if (code === 'rate_limit_exceeded') {
      await run.sleep(limitPollMs)
      continue
    }
    const isPoor = refusals[code as RefusalCode]?.type === 'insufficient_quota'
    // An answer that was made and cannot be paid is not made again.
    if (isPoor && !answer.isMade && !run.isOnlyLine) return { kind: 'crowded' }
    if (tries >= (maxTries[code as RefusalCode] ?? 1)) return failure(line, answer)
    await run.sleep(waitOf(answer.retryAfterSeconds, tries++))
  }
}

/** Money and the gateway's own trouble are no outcome of a line that its upstream has run. */
const notYet: ReadonlySet<string> = new Set(['overloaded', 'internal_error'])

/** A line whose result is there: it is charged and kept, however long that takes. */
export async function adoptLine(
  deps: LineDeps,
  run: LineRun & Required<Pick<LineRun, 'instead'>>,
): Promise<FinalOutcome> {
  for (;;) {
    if (run.isStopped()) return { kind: 'stopped' }
    const token = tokenById(deps, run.tokenId)
    if (token instanceof Refusal) return refused(run.line, token)
    const answer = await send(deps, run, token, bodyIn(run.line))
    if (answer.status === 200) return { kind: 'completed', chargeNanos: answer.chargeNanos }
    if (!notYet.has(answer.code)) return failure(run.line, answer)
    await run.sleep(limitPollMs)
  }
}

/** As a batch API of an upstream would take it; undefined: it has to be made as a call. */
export async function offerLine(
  deps: LineDeps & CallDeps,
  run: Pick<LineRun, 'tokenId' | 'endpoint' | 'tags' | 'line'>,
): Promise<PreparedLine | undefined> {
  const token = tokenById(deps, run.tokenId)
  if (token instanceof Refusal || unfitField(run.line.fields) !== undefined) return undefined
  let prepared: PreparedLine | undefined
  const instead: LineRun['instead'] = async (context, call) => {
    prepared = await prepareLine(deps, context, call)
    return unsent
  }
  await send(deps, { ...run, instead, isOnlyLine: false }, token, bodyIn(run.line))
  return prepared
}

const unsent = refuse('overloaded', 'it is not sent yet')

interface LineAnswer {
  status: number
  requestId: string
  body: string
  code: string
  message: string
  retryAfterSeconds: number
  chargeNanos: bigint
  /** There was an answer, which could not be charged. */
  isMade: boolean
  /** Callers have all slots of its channels. */
  isFull: boolean
}

type SentLine = Pick<LineRun, 'endpoint' | 'tags' | 'line' | 'isOnlyLine' | 'instead'> &
  Partial<Pick<LineRun, 'keep'>>

async function send(
  { runOwnCall, log }: LineDeps,
  run: SentLine,
  token: Token,
  body: string,
): Promise<LineAnswer> {
  let isMade = false
  let isFull = false
  const response = await runOwnCall({
    ...{ token, body, path: run.endpoint, serviceTier: batchTier },
    isTrial: !run.isOnlyLine,
    full() {
      isFull = true
    },
    ...(run.instead !== undefined && { instead: run.instead }),
    ...(run.tags !== undefined && { headers: { [tagsHeader]: run.tags } }),
    async keep(id, answer) {
      isMade = true
      try {
        const made = await lineOf(answer, token.accountId)
        return await run.keep!(id, answerLine(run.line, 200, id, made))
      } catch (error) {
        // One that could not be written is none: the call ends as any that was not answered.
        log.warn('answer of a line not stored', { request_id: id, error })
        return false
      }
    },
  })
  const { status, headers } = response
  const answer = await response.text()
  return {
    ...{ status, isMade, isFull, body: answer },
    requestId: headers.get('x-gateway-request-id') ?? '',
    retryAfterSeconds: Number(headers.get('retry-after') ?? 0),
    chargeNanos: parseNanos(headers.get('x-gateway-charge') ?? '') ?? 0n,
    ...(status === 200 ? { code: '', message: '' } : errorIn(answer)),
  }
}

function failure(line: LineRequest, answer: LineAnswer): FinalOutcome {
  const { status, requestId, body, code, message } = answer
  const text = answerLine(line, status, requestId, onOneLine(body), { code, message })
  return { kind: 'failed', requestId, text }
}

/** As long as it was told to, or longer each time. */
const waitOf = (seconds: number, tries: number): number =>
  Math.min(maxWaitMs, Math.max(seconds * 1000, firstWaitMs * 2 ** Math.min(tries - 1, 6)))

/** Fields that make no sense where no caller waits. */
function unfitField(fields: LineRequest['fields']): Refusal | undefined {
  for (const field of ['stream', 'background']) {
    if (fields[field] !== true) continue
    return refuse('invalid_request', `'${field}' cannot be used in a batch`, { param: field })
  }
  return undefined
}

/** Without a call. */
export function refused(
  line: LineRequest,
  { code, message, status, extras }: Refusal,
): FinalOutcome {
  const { type } = refusals[code]
  const error = { message, type, code, param: extras.param ?? null }
  const text = answerLine(line, status, '', JSON.stringify({ error }), { code, message })
  return { kind: 'failed', text }
}

/** A line of the output or error file; `body`: JSON on one line. */
function answerLine(
  { customId }: Pick<LineRequest, 'customId'>,
  status: number,
  requestId: string,
  body: string,
  error: { code: string; message: string } | null = null,
): string {
  const [id, custom, call] = [newId('batch_req'), customId, requestId].map((text) =>
    JSON.stringify(text),
  )
  const response = `{"status_code":${status},"request_id":${call},"body":${body}}`
  return `{"id":${id},"custom_id":${custom},"response":${response},"error":${JSON.stringify(error)}}`
}

const unrun = {
  expired: { code: 'batch_expired', message: 'the batch expired before this line was run' },
  cancelled: {
    code: 'batch_cancelled',
    message: 'the batch was cancelled before this line was run',
  },
  failed: { code: 'upstream_error', message: 'the upstream gave no result for this line' },
} as const

/** A line that was not run. */
export const unrunLine = ({ customId }: LineRequest, why: keyof typeof unrun): string =>
  JSON.stringify({
    id: newId('batch_req'),
    ...{ custom_id: customId, response: null, error: unrun[why] },
  })

/** Longer answers, as upstreams may write them on many lines, are read in a thread. */
const longAnswerBytes = 64 * 1024

/** An answer as a part of a line; a promise for a long one. */
function lineOf(body: string | Uint8Array, accountId: string): string | Promise<string> {
  if (typeof body === 'string') return onOneLine(body)
  if (body.length > longAnswerBytes) return decodeLine(body, accountId)
  return onOneLine(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
}

function errorIn(answer: string): { code: string; message: string } {
  try {
    const { error } = JSON.parse(answer) as { error: { code: unknown; message: unknown } }
    return { code: String(error.code), message: String(error.message) }
  } catch {
    return { code: 'internal_error', message: 'something went wrong in the gateway' }
  }
}
