// The columns of FOCUS 1.2, and the rows of one account: what was billed by day, model, rate and version of a price,
// split by tags.
import { monthBounds } from '../../lib/text/month.ts'
import { type CostLine, costOfLine, exactPlaces } from './cost-lines.ts'

export const focusColumns = [
  'BilledCost',
  'BillingAccountId',
  'BillingAccountName',
  'BillingAccountType',
  'BillingCurrency',
  'BillingPeriodEnd',
  'BillingPeriodStart',
  'ChargeCategory',
  'ChargeClass',
  'ChargeDescription',
  'ChargeFrequency',
  'ChargePeriodEnd',
  'ChargePeriodStart',
  'ConsumedQuantity',
  'ConsumedUnit',
  'ContractedCost',
  'ContractedUnitPrice',
  'EffectiveCost',
  'InvoiceId',
  'InvoiceIssuerName',
  'ListCost',
  'ListUnitPrice',
  'PricingCategory',
  'PricingQuantity',
  'PricingUnit',
  'ProviderName',
  'PublisherName',
  'ResourceId',
  'ResourceName',
  'ResourceType',
  'ServiceCategory',
  'ServiceName',
  'ServiceSubcategory',
  'SkuId',
  'SkuMeter',
  'SkuPriceDetails',
  'SkuPriceId',
  'Tags',
] as const
type FocusRow = Readonly<Record<(typeof focusColumns)[number], string | null>>

/** Whose bill it is, and by whom. */
interface FocusParties {
  accountId: string
  accountName: string
  currency: string
  issuer: string
  /** The number of the bill of a month; undefined: it is open. */
  invoiceOf: ReadonlyMap<string, string>
}

/** A part of a charge, or a refund. */
export interface Billed {
  day: string
  model: string
  priceId: string
  tags: string
  billedNanos: bigint
  /** Undefined: a refund, or a charge whose usage is not on record. */
  line?: CostLine
  /** Of a refund: whether the month of its charge is closed. */
  refund?: 'plain' | 'correction'
}

interface Group extends Omit<Billed, 'line' | 'billedNanos'> {
  line: Omit<CostLine, 'quantity'> | undefined
  quantity: bigint
  billedNanos: bigint
}

/** Sums of one account, given out by day. */
export class FocusTable {
  readonly #groups = new Map<string, Group>()
  readonly #parties: FocusParties

  constructor(parties: FocusParties) {
    this.#parties = parties
  }

  add(billed: Billed): void {
    const { line, day, model, priceId, tags, refund, billedNanos } = billed
    const { meter, label, price, listPrice } = line ?? {}
    const what = [day, model, meter, priceId, label, String(price), String(listPrice), tags, refund]
    const key = JSON.stringify(what)
    const group = this.#groups.get(key)
    if (group === undefined) {
      this.#groups.set(key, { ...billed, line, quantity: line?.quantity ?? 0n })
      return
    }
    group.billedNanos += billedNanos
    group.quantity += line?.quantity ?? 0n
  }

  /** Rows of the days before this one, which are complete; of all without it. */
  take(day?: string): FocusRow[] {
    const rows: FocusRow[] = []
    for (const [key, group] of [...this.#groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (day !== undefined && group.day >= day) continue
      rows.push(rowOf(group, this.#parties))
      this.#groups.delete(key)
    }
    return rows
  }
}

const dayMs = 86_400_000
const seconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

function rowOf(group: Group, parties: FocusParties): FocusRow {
  const { day, model, line, refund, tags } = group
  const month = day.slice(0, 7)
  const { fromMs, untilMs } = monthBounds(month)!
  const startMs = Date.parse(day)
  const billed = decimal(group.billedNanos, 9)
  return {
    BilledCost: billed,
    BillingAccountId: parties.accountId,
    BillingAccountName: parties.accountName,
    BillingAccountType: 'Account',
    BillingCurrency: parties.currency,
    BillingPeriodEnd: seconds(untilMs),
    BillingPeriodStart: seconds(fromMs),
    ChargeCategory: 'Usage',
    ChargeClass: refund === 'correction' ? 'Correction' : null,
    ChargeDescription: refund === undefined ? describe(model, line) : `Refund of ${model}`,
    ChargeFrequency: 'Usage-Based',
    ChargePeriodEnd: seconds(startMs + dayMs),
    ChargePeriodStart: seconds(startMs),
    EffectiveCost: billed,
    InvoiceId: parties.invoiceOf.get(month) ?? null,
    InvoiceIssuerName: parties.issuer,
    ProviderName: parties.issuer,
    PublisherName: parties.issuer,
    ResourceId: model,
    ResourceName: model,
    ResourceType: 'Model',
    ServiceCategory: 'AI and Machine Learning',
    ServiceName: 'Model gateway',
    ServiceSubcategory: 'Generative AI',
    Tags: tags,
    ...pricing(group),
  }
}

const describe = (model: string, line: Group['line']): string =>
  [model, line?.meter, line?.label].filter((part) => part).join(', ')

/** Of a refund: nothing more was used, so that quantities and products of prices stay what they were. */
function pricing({ line, quantity, model, priceId, billedNanos, refund }: Group) {
  const meter = line?.meter ?? (refund === undefined ? 'usage' : 'refund')
  const isUnknown = line === undefined && refund === undefined
  const count = isUnknown ? '1' : decimal(quantity, 3)
  const cost = (price: bigint | undefined) =>
    isUnknown ? decimal(billedNanos, 9) : decimal(costOfLine(quantity, price ?? 0n), exactPlaces)
  const each = (price: bigint | undefined) =>
    isUnknown ? decimal(billedNanos, 9) : decimal(price ?? 0n, exactPlaces)
  const unit = line?.unit ?? 'Requests'
  const of = line?.label ? `/${line.label}` : ''
  return {
    ConsumedQuantity: count,
    ConsumedUnit: unit,
    ContractedCost: cost(line?.price),
    ContractedUnitPrice: each(line?.price),
    ListCost: cost(line?.listPrice),
    ListUnitPrice: each(line?.listPrice),
    PricingCategory: /hours=/.test(line?.label ?? '') ? 'Dynamic' : 'Standard',
    PricingQuantity: count,
    PricingUnit: unit,
    SkuId: `${model}/${meter}`,
    SkuMeter: meter,
    SkuPriceDetails: JSON.stringify({
      x_PriceId: priceId,
      x_Rate: meter,
      x_Terms: line?.label ?? '',
    }),
    SkuPriceId: `${model}/${meter}/${priceId}${of}`,
  }
}

/** As FOCUS writes numbers: without zeros at the end, and a sign only below zero. */
function decimal(value: bigint, places: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(places + 1, '0')
  const fraction = digits.slice(-places).replace(/0+$/, '')
  const whole = digits.slice(0, -places)
  return `${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}
