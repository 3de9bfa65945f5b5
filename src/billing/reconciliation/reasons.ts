// What explains the difference between what an upstream bills and what its work should cost. Pure. Whether there
// is a difference is decided in judge-lines.ts.
import { monthAt } from '../../lib/text/month.ts'
import type { JudgedLine, LineOutcome, LineReason } from '../../store/ledger/statements.ts'
import type { ChannelUsage } from './channel-usage.ts'
import { expectedOf, judge, type Ours, type Rule, type Theirs } from './judge-lines.ts'

/** What a statement is about, for all its lines. */
export interface Scope {
  /** Its period. */
  fromMs: number
  untilMs: number
  zoneMs: number
  rule: Rule
  /** That of its first line, where it is not the ledger's. */
  currency?: string | undefined
  /** Names of models, in small letters: another name on a line tells nothing. */
  models?: ReadonlySet<string> | undefined
}

/** Lines that are compared together, and our side of them. */
interface Compared {
  outcome: LineOutcome
  theirs: Theirs
  ours: Ours
  /** Not in the currency of the statement's first line. */
  isOfOtherCurrency: boolean
  /** Where the lines name it. */
  named?: { lines: readonly JudgedLine[]; work: ChannelUsage }
}

interface Explained {
  /** Undefined: what the outcome says. */
  reason: LineReason | undefined
  /** What the work should cost, as far as it belongs to the month of the lines. */
  costNanos: bigint
}

export function explain(compared: Compared, scope: Scope): Explained {
  const { theirs, ours } = compared
  const reason = reasonFor(compared, scope)
  // A statement without amounts says nothing about money.
  const isCompared = theirs.amountNanos !== undefined && reason !== 'late'
  return { reason, costNanos: isCompared ? (expectedOf(ours, scope.rule) ?? 0n) : 0n }
}

function reasonFor(compared: Compared, scope: Scope): LineReason | undefined {
  const { outcome, theirs, ours, isOfOtherCurrency, named } = compared
  if (outcome === 'upstream_only' || outcome === 'loss') return undefined
  if (named !== undefined) {
    if (isTwice(named.lines, ours, scope.rule)) return 'billed_twice'
    if (hasOtherModel(named.lines, named.work, scope)) return 'model_differs'
  }
  if (outcome === 'quantity_differs') return undefined
  if (outcome === 'amount_differs') return isOfOtherCurrency ? 'exchange' : 'price_differs'
  const timing = named && timingOf(named.lines[0]!, named.work, scope)
  if (timing !== undefined) return timing
  if (theirs.amountNanos === undefined) return undefined
  const expected = expectedOf(ours, scope.rule)
  if (expected === undefined) return theirs.amountNanos === 0n ? undefined : 'unknown_cost'
  return expected === theirs.amountNanos ? undefined : 'rounding'
}

/** Each of them bills all of the work. */
function isTwice(lines: readonly JudgedLine[], ours: Ours, rule: Rule): boolean {
  const [first, ...others] = lines
  if (first === undefined || others.length === 0) return false
  const { quantity, amountNanos } = first
  const isSame = others.every(
    (line) => line.quantity === quantity && line.amountNanos === amountNanos,
  )
  return isSame && judge({ lines: 1, quantity, amountNanos }, ours, rule) === 'matched'
}

const undated = (name: string): string => name.replace(/-\d{4}-?\d{2}-?\d{2}$/, '')

function hasOtherModel(
  lines: readonly JudgedLine[],
  { model, upstreamModel }: ChannelUsage,
  { models }: Scope,
): boolean {
  const own = [model, upstreamModel].map((name) => undated(name.toLowerCase()))
  return lines.some(({ model: named }) => {
    const name = named?.toLowerCase()
    return name !== undefined && models?.has(name) === true && !own.includes(undated(name))
  })
}

const dayMs = 24 * 3_600_000
/** Upstreams tell the time at which they began or ended; a call of the last minute may be of the next day there. */
const nearMs = 3_600_000

function timingOf(
  { atMs }: JudgedLine,
  work: ChannelUsage,
  { fromMs, untilMs, zoneMs }: Scope,
): 'late' | 'day_differs' | undefined {
  if (atMs === undefined) return undefined
  const [theirs, ours] = [atMs + zoneMs, work.atMs + zoneMs]
  const billed = Math.min(Math.max(theirs, fromMs + zoneMs), untilMs + zoneMs - 1)
  if (monthAt(billed) !== monthAt(ours)) return 'late'
  if (Math.floor(theirs / dayMs) === Math.floor(ours / dayMs)) return undefined
  // A line that has only its day is of the whole day.
  const end = theirs % dayMs === 0 ? theirs + dayMs : theirs
  const apart = ours < theirs ? theirs - ours : ours - end
  return apart > nearMs ? 'day_differs' : undefined
}
