// What draft prices would have charged over a past period, by account, model and unit, compared
// with what was charged. Computed from sums, never from single charges.
import type { PriceTerms } from '../../contract/price.ts'
import { declaredTerms } from '../../contract/price-terms.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import type { PriceBook } from './price-book.ts'
import { type Range, reprice, type Spent } from './reprice.ts'

/** A price that is not in force. */
export interface Draft {
  model: string
  /** Account of an account-specific price; absent: for all accounts. */
  accountId?: string
  terms: PriceTerms
}

interface PreviewRow {
  accountId: string
  model: string
  unit: string
  charges: number
  quantity: number
  /** Decimals of the currency; the preview is null where it cannot be computed. */
  charged: string
  would_charge: string | null
  difference: string | null
  exact: boolean
  /** Bounds of the exact value; `would_charge` is their middle. */
  at_least?: string
  at_most?: string
  /** Why the two cannot be compared. */
  not_comparable?: string
}

type PreviewTotal = Omit<PreviewRow, 'accountId' | 'model' | 'unit' | 'quantity'>

/** A sum of charges, and what it comes to at the draft for this model. */
export interface Compared {
  spent: Spent
  model: string
  range: Range
}

interface Preview {
  rows: PreviewRow[]
  compared: Compared[]
  /** Of everything that can be compared. */
  total: PreviewTotal
}

interface Tally extends Range {
  charges: number
  quantity: number
  chargedNanos: bigint
  why?: string
}

export function previewPrices(
  sums: readonly Spent[],
  drafts: readonly Draft[],
  book: PriceBook,
  bounds: readonly number[],
): Preview {
  const draftFor = draftsOf(drafts, book)
  const tallies = new Map<string, Tally & Pick<Spent, 'accountId' | 'model' | 'unit'>>()
  const total = newTally()
  const compared: Compared[] = []
  for (const spent of sums) {
    const before = book.byId(spent.priceId)
    const priced = before?.model ?? spent.model
    const terms = draftFor(spent, priced, before?.account !== undefined)
    if (terms === undefined) continue
    const came =
      terms === 'unchanged' ? asCharged(spent) : repriced(terms, spent, before?.terms, bounds)
    const why = typeof came === 'string' ? came : undefined
    const { accountId, model, unit } = spent
    const key = JSON.stringify([accountId, model, unit, why])
    let tally = tallies.get(key)
    if (tally === undefined) {
      tally = { accountId, model, unit, ...newTally(), ...(why !== undefined && { why }) }
      tallies.set(key, tally)
    }
    const range = typeof came === 'string' ? noRange : came
    add(tally, spent, range)
    if (why === undefined) {
      add(total, spent, range)
      compared.push({ spent, model: priced, range })
    }
  }
  const rows = [...tallies.values()].map((tally) => {
    const { accountId, model, unit, quantity } = tally
    const { charges, ...money } = view(tally)
    return { accountId, model, unit, charges, quantity, ...money }
  })
  return { rows, compared, total: view(total) }
}

const noRange: Range = { minNanos: 0n, maxNanos: 0n }

/** At the terms that they were charged at, charges are what they were. */
function repriced(
  terms: PriceTerms,
  spent: Spent,
  before: PriceTerms | undefined,
  bounds: readonly number[],
): Range | string {
  const came = reprice(terms, spent, before, bounds)
  const isExact = typeof came !== 'string' && came.minNanos === came.maxNanos
  const isSame = !isExact && before !== undefined && textOf(before) === textOf(terms)
  return isSame ? asCharged(spent) : came
}

const textOf = (terms: PriceTerms): string => JSON.stringify(declaredTerms(terms))

/** A draft for an account wins over one for all accounts, which skips accounts with own prices. */
function draftsOf(drafts: readonly Draft[], book: PriceBook) {
  const named = new Map(drafts.map((draft) => [nameOf(draft.model, draft.accountId), draft.terms]))
  const everybodys = (model: string) => named.get(nameOf(model)) ?? book.current(model)?.terms
  return (
    { accountId }: Spent,
    model: string,
    hadOwn: boolean,
  ): PriceTerms | 'unchanged' | undefined => {
    const own = named.get(nameOf(model, accountId))
    if (own?.unit === 'default') return everybodys(model) ?? own
    const draft = own ?? named.get(nameOf(model))
    return draft !== undefined && own === undefined && hadOwn ? 'unchanged' : draft
  }
}

const nameOf = (model: string, accountId = ''): string => `${model} ${accountId}`

const newTally = (): Tally => ({
  charges: 0,
  quantity: 0,
  chargedNanos: 0n,
  minNanos: 0n,
  maxNanos: 0n,
})

const asCharged = ({ amountNanos }: Spent): Range => ({
  minNanos: -amountNanos,
  maxNanos: -amountNanos,
})

function add(tally: Tally, spent: Spent, range: Range): void {
  tally.charges += spent.entries
  tally.quantity += spent.quantity
  tally.chargedNanos -= spent.amountNanos
  tally.minNanos += range.minNanos
  tally.maxNanos += range.maxNanos
}

function view({ charges, chargedNanos, minNanos, maxNanos, why }: Tally): PreviewTotal {
  const charged = formatNanos(chargedNanos)
  if (why !== undefined) {
    const unknown = { would_charge: null, difference: null, exact: false }
    return { charges, charged, ...unknown, not_comparable: why }
  }
  const middleNanos = (minNanos + maxNanos) / 2n
  const exact = minNanos === maxNanos
  return {
    charges,
    charged,
    would_charge: formatNanos(middleNanos),
    difference: formatNanos(middleNanos - chargedNanos),
    exact,
    ...(!exact && { at_least: formatNanos(minNanos), at_most: formatNanos(maxNanos) }),
  }
}
