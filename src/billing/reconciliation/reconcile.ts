// Compares the lines of a statement with our usage of its channel: by id where lines name one, else
// in sums by day and model. Reads our side once and theirs once, page by page.
import type { Store } from '../../store/index.ts'
import { channelUsage } from '../../store/ledger/channel-usage.ts'
import {
  insertLines,
  type JudgedLine,
  linesAfter,
  linesByUpstreamId,
  type Verdict,
} from '../../store/ledger/statements.ts'
import { type ChannelUsage, usageItems } from './channel-usage.ts'
import { DayGroups } from './day-groups.ts'
import { addOurs, expectedOf, judge, noneOfOurs, type Ours, shownOurs } from './judge-lines.ts'
import { explain, type Scope } from './reasons.ts'
import { Verdicts } from './verdicts.ts'

/** Ids are searched a day beyond the period. */
export interface Reconciling extends Scope {
  statementId: string
  channel: string
  /** Their last line. */
  lastNumber: number
  pageSize?: number
  /** Called between pages; throws when it has taken too long. */
  keepOn?: () => void
}

const workPerPage = 2_000
const dayMs = 24 * 3_600_000
const idsAtOnce = 500

export async function reconcile(store: Store, job: Reconciling): Promise<void> {
  const groups = new DayGroups(job)
  await eachPage(store, job, async (lines) => {
    for (const line of lines) if (line.upstreamId === undefined) groups.addTheirs(line)
  })
  const matcher = new Matcher(store, job, groups)
  const input = {
    channel: job.channel,
    fromMs: job.fromMs - dayMs,
    untilMs: job.untilMs + dayMs,
  }
  const pageSize = job.pageSize ?? workPerPage
  for await (const work of channelUsage(store.read, store.dialect, input, pageSize)) {
    job.keepOn?.()
    await matcher.match(work.flatMap(usageItems))
  }
  await matcher.end()
  if (groups.size === 0) return
  const verdicts = new Verdicts(store, job.statementId)
  await eachPage(store, job, async (lines) => {
    for (const line of lines) {
      const verdict = groups.verdictOf(line)
      if (verdict !== undefined) verdicts.add(verdict)
    }
    await verdicts.flush()
  })
}

/** All their lines, in order. */
async function eachPage(
  { read }: Store,
  { statementId, lastNumber, pageSize = workPerPage, keepOn }: Reconciling,
  work: (lines: readonly JudgedLine[]) => Promise<void>,
): Promise<void> {
  let after = 0
  for (;;) {
    keepOn?.()
    const page = await linesAfter(read, statementId, { after, limit: pageSize })
    const theirs = page.filter(({ number }) => number <= lastNumber)
    if (theirs.length > 0) await work(theirs)
    if (page.length < pageSize || theirs.length < page.length) return
    after = page.at(-1)!.number
  }
}

/** Lines that name the same work, and that work. */
interface Group {
  lines: Map<number, JudgedLine>
  ours: Ours
  ref: string
  work: ChannelUsage
}

class Matcher {
  readonly #store: Store
  readonly #job: Reconciling
  readonly #groups: DayGroups
  readonly #verdicts: Verdicts
  #nextNumber: number

  constructor(store: Store, job: Reconciling, groups: DayGroups) {
    this.#store = store
    this.#job = job
    this.#groups = groups
    this.#verdicts = new Verdicts(store, job.statementId)
    this.#nextNumber = job.lastNumber + 1
  }

  async match(work: readonly ChannelUsage[]): Promise<void> {
    const lines = await this.#linesFor(work)
    const groupOf = new Map<number, Group>()
    const alone: JudgedLine[] = []
    for (const each of work) {
      const named = each.upstreamIds.flatMap((id) => lines.get(id) ?? [])
      if (named.length > 0) join(groupOf, named, each)
      else if (this.#isInPeriod(each) && !this.#groups.addOurs(each) && isBilled(each)) {
        const costNanos = expectedOf(each, this.#job.rule) ?? 0n
        alone.push({ ...onlyHere(this.#nextNumber++, each), costNanos })
      }
    }
    for (const group of new Set(groupOf.values())) {
      for (const verdict of this.#judge(group)) this.#verdicts.add(verdict)
    }
    await this.#verdicts.flushIfLarge()
    const { dialect } = this.#store
    const { statementId } = this.#job
    if (alone.length > 0) {
      await this.#store.tx((tx) => insertLines(tx, dialect, statementId, alone))
    }
  }

  end(): Promise<void> {
    return this.#verdicts.flush()
  }

  #isInPeriod({ atMs }: ChannelUsage): boolean {
    return atMs >= this.#job.fromMs && atMs < this.#job.untilMs
  }

  async #linesFor(work: readonly ChannelUsage[]): Promise<Map<string, JudgedLine[]>> {
    const ids = [...new Set(work.flatMap(({ upstreamIds }) => upstreamIds))]
    const found = new Map<string, JudgedLine[]>()
    const { statementId, lastNumber } = this.#job
    for (let at = 0; at < ids.length; at += idsAtOnce) {
      const some = ids.slice(at, at + idsAtOnce)
      const lines = await linesByUpstreamId(this.#store.read, statementId, some, lastNumber)
      for (const line of lines) {
        const same = found.get(line.upstreamId!)
        const now = this.#verdicts.of(line)
        if (same === undefined) found.set(line.upstreamId!, [now])
        else same.push(now)
      }
    }
    return found
  }

  #judge({ lines, ours, ref, work }: Group): Verdict[] {
    const sorted = [...lines.values()].sort((a, b) => a.number - b.number)
    const theirs = theirsOf(sorted)
    const outcome = judge(theirs, ours, this.#job.rule)
    const isOfOtherCurrency = sorted.some(({ currency }) => currency !== this.#job.currency)
    const named = { lines: sorted, work }
    const { reason, costNanos } = explain(
      { outcome, theirs, ours, isOfOtherCurrency, named },
      this.#job,
    )
    const shown = shownOurs(ours, outcome, this.#job.rule)
    const sums = { theirQuantity: theirs.quantity, theirNanos: theirs.amountNanos }
    const first = { costNanos, ourQuantity: shown.quantity, ourAmountNanos: shown.nanos }
    return sorted.map(({ number }, at) => ({
      ...{ number, outcome, reason, ref },
      ...(at === 0 ? { ...first, ...(sorted.length > 1 && sums) } : { partOf: sorted[0]!.number }),
    }))
  }
}

/** Work that names several lines connects them, and so do lines that several works name. */
function join(groupOf: Map<number, Group>, named: readonly JudgedLine[], work: ChannelUsage): void {
  // At most one: of the two ids of a task, only that of its create can also belong to another.
  const [known] = named.flatMap(({ number }) => groupOf.get(number) ?? [])
  const group = known ?? { lines: new Map(), ours: noneOfOurs(), ref: work.ref, work }
  for (const line of named) {
    if (group.lines.has(line.number)) continue
    group.lines.set(line.number, line)
    groupOf.set(line.number, group)
    addBefore(group, line)
  }
  addOurs(group.ours, work)
}

/** Includes what an earlier page has found for the line. */
function addBefore(group: Group, line: JudgedLine): void {
  const { ref, outcome, ourQuantity, ourAmountNanos } = line
  if (ref === undefined) return
  group.ref = ref
  const isLost = outcome === 'loss'
  const [quantity, nanos] = [ourQuantity ?? 0, ourAmountNanos ?? 0n]
  addOurs(group.ours, {
    quantity: isLost ? 0 : quantity,
    amountNanos: isLost ? 0n : nanos,
    costNanos: ourQuantity === undefined ? 0n : costBefore(line),
    lostQuantity: isLost ? quantity : 0,
    lostNanos: isLost ? nanos : 0n,
    isLost,
  })
}

const costBefore = ({ outcome, reason, costNanos }: JudgedLine): bigint | undefined =>
  outcome === 'loss' || reason === 'unknown_cost' || reason === 'late' ? undefined : costNanos

export function theirsOf(lines: readonly JudgedLine[]) {
  const given = <T>(values: (T | undefined)[]): T[] => values.filter((value) => value !== undefined)
  const quantities = given(lines.map(({ quantity }) => quantity))
  const amounts = given(lines.map(({ amountNanos }) => amountNanos))
  return {
    lines: lines.length,
    quantity: quantities.length === 0 ? undefined : quantities.reduce((a, b) => a + b, 0),
    amountNanos: amounts.length === 0 ? undefined : amounts.reduce((a, b) => a + b, 0n),
  }
}

const isBilled = ({ quantity, amountNanos }: ChannelUsage): boolean =>
  quantity > 0 || amountNanos > 0n

const onlyHere = (number: number, work: ChannelUsage): JudgedLine => ({
  number,
  outcome: 'gateway_only',
  atMs: work.atMs,
  model: work.upstreamModel,
  ...(work.upstreamIds[0] !== undefined && { upstreamId: work.upstreamIds[0] }),
  ref: work.ref,
  ourQuantity: work.quantity,
  ourAmountNanos: work.costNanos ?? work.amountNanos,
})
