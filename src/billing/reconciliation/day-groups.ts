// Statement lines without an id, summed by day and model, beside our work of the same day and
// model. Where a statement lacks a time or a model, groups are not split by it.
import type {
  JudgedLine,
  LineOutcome,
  StatementLine,
  Verdict,
} from '../../store/ledger/statements.ts'
import type { ChannelUsage } from './channel-usage.ts'
import { addOurs, judge, noneOfOurs, type Ours, shownOurs, type Theirs } from './judge-lines.ts'
import { explain, type Scope } from './reasons.ts'

interface DayGroup {
  theirs: Theirs
  ours: Ours
  firstNumber: number
  isOfOtherCurrency: boolean
  outcome?: LineOutcome
}

const dayMs = 24 * 3_600_000
/** More than ten years of a hundred models. */
const maxGroups = 500_000

export class DayGroups {
  readonly #scope: Scope
  readonly #groups = new Map<string, DayGroup>()

  constructor(scope: Scope) {
    this.#scope = scope
  }

  get size(): number {
    return this.#groups.size
  }

  addTheirs(line: StatementLine): void {
    const key = this.#keyOf(line.atMs, line.model)
    let group = this.#groups.get(key)
    if (group === undefined) {
      if (this.#groups.size >= maxGroups) throw new TooManyGroups()
      const theirs = { lines: 0, quantity: undefined, amountNanos: undefined }
      group = { theirs, ours: noneOfOurs(), firstNumber: line.number, isOfOtherCurrency: false }
      this.#groups.set(key, group)
    }
    const { theirs } = group
    theirs.lines++
    group.isOfOtherCurrency ||= line.currency !== this.#scope.currency
    if (line.quantity !== undefined) theirs.quantity = (theirs.quantity ?? 0) + line.quantity
    if (line.amountNanos !== undefined) {
      theirs.amountNanos = (theirs.amountNanos ?? 0n) + line.amountNanos
    }
  }

  /** True: the statement has lines of that day and model, and this work is in their sum. */
  addOurs(work: ChannelUsage): boolean {
    const { atMs, model, upstreamModel } = work
    for (const at of [atMs, undefined]) {
      for (const name of [upstreamModel, model, undefined]) {
        const group = this.#groups.get(this.#keyOf(at, name))
        if (group === undefined) continue
        addOurs(group.ours, work)
        return true
      }
    }
    return false
  }

  /** Undefined for a line that names an id. */
  verdictOf({ number, atMs, model, upstreamId }: JudgedLine): Verdict | undefined {
    const group = upstreamId === undefined && this.#groups.get(this.#keyOf(atMs, model))
    if (!group) return undefined
    const { rule } = this.#scope
    group.outcome ??= judge(group.theirs, group.ours, rule)
    const { outcome, ours, theirs, firstNumber, isOfOtherCurrency } = group
    const { reason, costNanos } = explain({ outcome, theirs, ours, isOfOtherCurrency }, this.#scope)
    if (number !== firstNumber) return { number, outcome, reason, partOf: firstNumber }
    const shown = shownOurs(ours, outcome, rule)
    return {
      ...{ number, outcome, reason, costNanos },
      ...(theirs.lines > 1 && { theirQuantity: theirs.quantity, theirNanos: theirs.amountNanos }),
      ...(ours.isKnown && { ourQuantity: shown.quantity, ourAmountNanos: shown.nanos }),
    }
  }

  #keyOf(atMs: number | undefined, model: string | undefined): string {
    const day = atMs === undefined ? '' : Math.floor((atMs + this.#scope.zoneMs) / dayMs)
    return `${day}\n${(model ?? '').toLowerCase()}`
  }
}

export class TooManyGroups extends Error {
  constructor() {
    super(`the statement has more than ${maxGroups} days and models`)
  }
}
