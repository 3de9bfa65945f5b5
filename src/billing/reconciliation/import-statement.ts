// Imports an upstream's statement: lines first, then the comparison, and only then the statement
// itself. Until that last write none of it is visible; a later import deletes the remains of an
// interrupted one.
import { newShortId } from '../../lib/crypto/ids.ts'
import type { Store } from '../../store/index.ts'
import {
  dropLines,
  insertLines,
  insertStatement,
  lineOutcomes,
  type OutcomeSum,
  type Statement,
  type StatementLine,
  sumOutcomes,
  unfinishedBefore,
} from '../../store/ledger/statements.ts'
import { TooManyGroups } from './day-groups.ts'
import type { Rule } from './judge-lines.ts'
import { type Problem, StatementReader } from './read-statement.ts'
import { type Reconciling, reconcile } from './reconcile.ts'
import type { ColumnMap, StatementForm } from './statement-columns.ts'

export interface StatementOptions {
  channel: string
  name: string
  form: StatementForm
  rule: Omit<Rule, 'roundingNanos'>
  /** Names of models that a line may have by mistake. */
  models?: Iterable<string>
  /** It may have no lines: nothing was billed. */
  mayBeEmpty?: boolean
  /** Its period; absent: taken from its lines. */
  fromMs?: number | undefined
  untilMs?: number | undefined
}

/** As stored with the statement. */
export interface StatementBody {
  lines: number
  map: ColumnMap
  zone_ms: number
  cost_factor?: string
  tolerance: string
  outcomes: Record<string, Omit<OutcomeSumBody, 'outcome'>>
}

interface OutcomeSumBody {
  outcome: string
  lines: number
  quantity: number
  amount_nanos: string
  our_quantity: number
  our_amount_nanos: string
}

const linesPerWrite = 1_000
const linesPerDrop = 5_000
/** An import that takes longer is aborted; remains older than twice that are abandoned. */
const maxMs = 3_600_000
const dayMs = 24 * 3_600_000

export async function importStatement(
  store: Store,
  input: StatementOptions,
  chunks: AsyncIterable<string>,
  nowMs: () => number,
): Promise<Statement | Problem> {
  const startedMs = nowMs()
  await clearUnfinished(store, startedMs - 2 * maxMs)
  const id = newShortId('stm', startedMs)
  const keepOn = () => {
    if (nowMs() - startedMs > maxMs) throw new TookTooLong()
  }
  try {
    const statement = await takeIn(store, id, input, chunks, keepOn)
    if ('problem' in statement) await clearLines(store, id)
    return statement
  } catch (error) {
    await clearLines(store, id).catch(() => {})
    if (error instanceof TooManyGroups || error instanceof TookTooLong) {
      return { line: 1, problem: error.message }
    }
    throw error
  }
}

class TookTooLong extends Error {
  override message = 'taking it in took too long'
}

async function takeIn(
  store: Store,
  id: string,
  input: StatementOptions,
  chunks: AsyncIterable<string>,
  keepOn: () => void,
): Promise<Statement | Problem> {
  const reader = new StatementReader(input.form, input.mayBeEmpty)
  const writer = new LineWriter(store, id)
  for await (const chunk of chunks) {
    keepOn()
    const lines = reader.push(chunk)
    if ('problem' in lines) return lines
    await writer.add(lines)
  }
  const rest = reader.end()
  if ('problem' in rest) return rest
  await writer.add(rest)
  await writer.flush()
  const period = periodOf(reader, input)
  if ('problem' in period) return period
  const rule: Rule = { ...input.rule, roundingNanos: halfUnit(reader.seen.decimals) }
  const job: Reconciling = {
    statementId: id,
    channel: input.channel,
    ...period,
    zoneMs: input.form.zoneMs,
    currency: reader.seen.currency,
    models: smallNames(input),
    lastNumber: reader.seen.last,
    ...{ rule, keepOn },
  }
  await reconcile(store, job)
  const body = await bodyOf(store, id, reader, input)
  const atMs = Number.parseInt(id.slice(4, 16), 16)
  const { channel, name } = input
  const statement = { id, atMs, channel, name, ...period, body: JSON.stringify(body) }
  await store.tx((tx) => insertStatement(tx, statement))
  return statement
}

const smallNames = ({ models = [] }: StatementOptions): Set<string> =>
  new Set([...models].map((name) => name.toLowerCase()))

/** Buffers lines, so that few writes insert many. */
class LineWriter {
  readonly #store: Store
  readonly #id: string
  #waiting: StatementLine[] = []

  constructor(store: Store, id: string) {
    this.#store = store
    this.#id = id
  }

  async add(lines: readonly StatementLine[]): Promise<void> {
    for (const line of lines) {
      this.#waiting.push(line)
      if (this.#waiting.length >= linesPerWrite) await this.flush()
    }
  }

  async flush(): Promise<void> {
    const lines = this.#waiting
    this.#waiting = []
    if (lines.length === 0) return
    const { dialect } = this.#store
    await this.#store.tx((tx) => insertLines(tx, dialect, this.#id, lines))
  }
}

/** Whole days in the statement's time zone, unless a period is given. */
function periodOf(
  { seen }: StatementReader,
  { fromMs, untilMs, form: { zoneMs } }: StatementOptions,
): { fromMs: number; untilMs: number } | Problem {
  if (!Number.isFinite(seen.fromMs) && (fromMs === undefined || untilMs === undefined)) {
    return { line: 1, problem: 'no column tells the time: say from when and until when it is' }
  }
  const dayOf = (ms: number) => Math.floor((ms + zoneMs) / dayMs) * dayMs - zoneMs
  const period = {
    fromMs: fromMs ?? dayOf(seen.fromMs),
    untilMs: untilMs ?? dayOf(seen.untilMs) + dayMs,
  }
  return period.fromMs < period.untilMs
    ? period
    : { line: 1, problem: 'the period ends before it begins' }
}

/** Amounts in hundredths may be off by half a hundredth per line. */
const halfUnit = (decimals: number): bigint => 10n ** BigInt(9 - decimals) / 2n

async function bodyOf(
  store: Store,
  id: string,
  { seen, columns }: StatementReader,
  { form, rule }: StatementOptions,
): Promise<StatementBody> {
  const sums = new Map((await sumOutcomes(store.read, id)).map((sum) => [sum.outcome, sum]))
  const outcomes = lineOutcomes.map((outcome) => [outcome, sumBody(sums.get(outcome))] as const)
  return {
    lines: seen.lines,
    map: columns?.map ?? {},
    zone_ms: form.zoneMs,
    ...(rule.factorNanos !== undefined && { cost_factor: rule.factorNanos.toString() }),
    tolerance: rule.toleranceNanos.toString(),
    outcomes: Object.fromEntries(outcomes),
  }
}

const sumBody = (sum: OutcomeSum | undefined) => ({
  lines: sum?.lines ?? 0,
  quantity: sum?.quantity ?? 0,
  amount_nanos: (sum?.amountNanos ?? 0n).toString(),
  our_quantity: sum?.ourQuantity ?? 0,
  our_amount_nanos: (sum?.ourAmountNanos ?? 0n).toString(),
})

/** Few at a time, so that other writers can proceed. */
export async function clearLines(store: Store, id: string): Promise<void> {
  while ((await store.tx((tx) => dropLines(tx, id, linesPerDrop))) === linesPerDrop);
}

/** Deletes what imports interrupted before this moment have left behind. */
async function clearUnfinished(store: Store, beforeMs: number): Promise<void> {
  const beforeId = `stm_${Math.max(0, beforeMs).toString(16).padStart(12, '0')}`
  for (const id of await unfinishedBefore(store.read, beforeId)) await clearLines(store, id)
}
