// Why a request or a task cost what it cost: what the upstream reported, what was made of it, at
// which price, by which arithmetic, in which entries, and the receipt that proves it.

import {
  explainReading,
  explainRefunds,
  explainTokens,
  explainUnits,
  factorsOf,
  roundingRule,
} from '../../billing/bills/explain.ts'
import { explainLoss } from '../../billing/call-loss.ts'
import { tierLabel } from '../../billing/charge-label.ts'
import { type Costed, costedCall, costedTask, marginOf } from '../../billing/margin.ts'
import { checkedReceipt } from '../../billing/proof/receipt.ts'
import { billView } from '../../contract/bills/bill-line.ts'
import type { Price } from '../../contract/price.ts'
import { hoursAt } from '../../contract/price-hours.ts'
import type { RequestDetail, RequestRecord } from '../../contract/requests.ts'
import type { Task } from '../../contract/task.ts'
import type { Declares, Offers } from '../../engine/base-deps.ts'
import type { BooksDeps } from '../../engine/books/bill-deps.ts'
import { ownBudgets } from '../../engine/books/own-budgets.ts'
import type { Engine } from '../../engine/engine.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { findSpender } from '../../store/catalog/token-lineage.ts'
import { findEntries, type StoredEntry } from '../../store/ledger/entries.ts'
import { shortNanos } from '../../store/proof/audit-chain.ts'
import { priceView } from '../catalog/prices.ts'
import { entryView } from '../money/accounts.ts'
import type { View } from '../route.ts'
import { taskUsageView } from '../tasks/task-view.ts'
import { usageView } from '../token-usage.ts'
import type { explanation } from './request-schema.ts'

type ExplainDeps = BooksDeps & Declares & Offers & Pick<Engine, 'ledger'>

export const reasonView = ({ finishReason }: RequestDetail) =>
  finishReason === undefined ? undefined : { finish_reason: finishReason }

export const translationView = ({ translation, translationLosses: losses }: RequestDetail) => ({
  ...(translation !== undefined && { translation }),
  ...(losses !== undefined && { translation_losses: losses }),
})

/** `isStaff`: also which attempts failed and what the operator bears, which names the channel. */
export async function explainCall(
  engine: ExplainDeps,
  record: RequestRecord,
  isStaff: boolean,
): Promise<View<typeof explanation>> {
  const { currency } = engine.declared.file
  const { usage, priceId, detail } = record
  const price = priceId === undefined ? undefined : engine.prices.byId(priceId)
  const entries = await findEntries(engine.store.read, record.requestId)
  const isPriced = usage !== undefined && price !== undefined
  const steps = isPriced
    ? explainUsage(engine, record, price, usage)
    : [`nothing was charged: ${detail.error ?? detail.ending}`]
  if (detail.estimated) {
    steps.push('the upstream reported no usable usage; the gateway counted the text')
  }
  steps.push(...explainServed(record.model, detail, isStaff))
  steps.push(...explainTranslation(detail))
  steps.push(...explainMarks(detail))
  if (isStaff) steps.push(...explainAffinity(detail), ...explainLoss(detail))
  return {
    request_id: record.requestId,
    model: record.model,
    served_model: detail.servedModel ?? null,
    currency,
    charge: formatNanos(record.chargeNanos),
    ...reasonView(detail),
    ...translationView(detail),
    usage: usage === undefined ? null : usageView(usage, record.charge),
    usage_reported: detail.reported ?? null,
    normalisation: readingSteps(record),
    estimated: detail.estimated ?? false,
    tier: isPriced ? (tierLabel(price.terms, { inputTokens: usage.inputTokens }) ?? null) : null,
    service_tier: detail.applied?.serviceTier ?? null,
    factors: isPriced ? factorsOf(price.terms, detail.applied) : [],
    ...(await proofOf(engine, { price, steps, entries, of: costedCall(record) })),
    budgets: await budgetsOf(engine, record),
  }
}

function readingSteps({ usage, charge, detail }: RequestRecord): string[] {
  const isByTokens = usage !== undefined && charge === undefined
  return isByTokens && !detail.estimated ? explainReading(detail.reported, usage) : []
}

function explainUsage(
  { declared, prices }: ExplainDeps,
  { charge, detail: { applied } }: RequestRecord,
  price: Price,
  usage: NonNullable<RequestRecord['usage']>,
): string[] {
  const { currency } = declared.file
  if (price.terms.unit === 'token') {
    return explainTokens(price, usage, currency, applied, (id) => prices.byId(id)?.terms)
  }
  const of = { quantity: charge?.quantity ?? 0, tier: undefined }
  const hours = applied?.hours
  return explainUnits(price, hours === undefined ? of : { ...of, hours }, currency)
}

/** Which member of a virtual model served; for staff also why no earlier one did. */
function explainServed(
  model: string,
  { servedModel, attempts }: RequestDetail,
  isStaff: boolean,
): string[] {
  const failed = isStaff
    ? attempts.filter((each) => each.model !== undefined && each.model !== servedModel)
    : []
  const causes = failed.map((each) =>
    each.unsent
      ? `${each.model} cannot carry the request`
      : `${each.model} failed (${each.status ?? 'no answer'})`,
  )
  if (servedModel === undefined) return causes.length === 0 ? [] : [causes.join(', ')]
  return [[`'${model}' was served by ${servedModel}`, ...causes].join('; ')]
}

function explainTranslation({ translation, translationLosses: lost }: RequestDetail): string[] {
  if (translation === undefined) return []
  const path = translation.replace('>', ' to ')
  const changed = lost === undefined ? '' : `; changed or left out: ${lost.join(', ')}`
  return [`translated from ${path}${changed}; usage is the upstream's own`]
}

const explainMarks = ({ cacheMarks: marks }: RequestDetail): string[] =>
  marks === undefined
    ? []
    : [`the channel sets marks for the upstream's prompt cache: ${marks} added to the request`]

/** Where the last attempt went, which the usage is of. */
function explainAffinity({ attempts, conversationBy }: RequestDetail): string[] {
  const last = attempts.at(-1)
  if (last?.affinity === undefined) return []
  const place = `${last.channel}${last.key === undefined ? '' : `, key ${last.key}`}`
  const what = {
    new: `a new conversation, placed at ${place}`,
    kept: `its conversation was kept at ${place}`,
    moved: `its conversation was moved to ${place} (${last.moved})`,
  }[last.affinity]
  return [`${what}; known by ${conversationBy ?? 'how it begins'}`]
}

/** A task is charged for what came of it, by the price it was admitted at. */
export async function explainTask(
  engine: ExplainDeps,
  task: Task,
  isStaff: boolean,
): Promise<View<typeof explanation>> {
  const { currency } = engine.declared.file
  const entries = await findEntries(engine.store.read, task.id)
  const charge = entries.find(({ kind }) => kind === 'charge')
  const price = engine.prices.byId(task.priceId)
  const tier = charge?.tier
  const hours = price && hoursAt(price.terms, task.createdAtMs)
  const applied = charge === undefined || hours === undefined ? undefined : { hours }
  const held = `set aside when it was made: ${formatNanos(task.holdNanos)} ${currency}`
  const steps =
    charge === undefined ? [notCharged(task)] : explainCharge(task, charge, price, currency)
  const isShown = isStaff && charge !== undefined
  const short = isShown ? await shortNanos(engine.store.read, task.id) : 0n
  if (short > 0n) {
    steps.push(`not covered by the balance and carried by the operator: ${formatNanos(short)}`)
  }
  if (charge?.estimated) steps.push('the upstream reported no usage; what was asked for counts')
  return {
    request_id: task.requestId,
    task_id: task.id,
    model: task.model,
    served_model: task.servedModel ?? null,
    currency,
    charge: formatNanos(task.chargeNanos),
    usage: task.usage === undefined ? null : taskUsageView(task.usage),
    usage_reported: task.reported ?? null,
    normalisation: charge === undefined || charge.estimated ? [] : [readingOf(charge)],
    estimated: charge?.estimated ?? false,
    tier: tier ?? null,
    service_tier: null,
    factors: price === undefined ? [] : factorsOf(price.terms, applied),
    ...(await proofOf(engine, { price, steps: [held, ...steps], entries, of: costedTask(task) })),
    budgets: await budgetsOf(engine, task),
  }
}

function explainCharge(
  { usage, createdAtMs }: Task,
  { quantity = 0, tier }: StoredEntry,
  price: Price | undefined,
  currency: string,
): string[] {
  if (price === undefined) return []
  const hours = hoursAt(price.terms, createdAtMs)
  const applied = hours === undefined ? {} : { hours }
  return usage?.tokens === undefined
    ? explainUnits(price, { quantity, tier, ...applied }, currency)
    : explainTokens(price, usage.tokens, currency, applied)
}

const notCharged = ({ error, state }: Task): string =>
  `nothing was charged: ${error?.message ?? `the task is ${state}`}`

const readingOf = ({ quantity = 0, unit = '' }: StoredEntry): string =>
  `as reported, and no more than was asked for: ${quantity} x ${unit.replace('_', ' ')}`

async function proofOf(
  engine: ExplainDeps,
  of: { price: Price | undefined; steps: string[]; entries: StoredEntry[]; of: Costed },
) {
  const charge = of.entries.find(({ kind }) => kind === 'charge')
  const { refundedNanos, steps } = explainRefunds(of.entries)
  return {
    refunded: formatNanos(refundedNanos),
    ...marginOf(of.of, refundedNanos),
    price: of.price === undefined ? null : priceView(engine, of.price),
    steps: [...of.steps, ...steps],
    rounding: charge === undefined ? null : roundingRule,
    entries: of.entries.map(entryView),
    receipt: charge === undefined ? null : await receiptOf(engine, charge),
  }
}

async function budgetsOf(
  engine: ExplainDeps,
  { accountId, tokenId, tags }: { accountId: string; tokenId: string; tags?: string },
) {
  const token = await findSpender(engine.store.read, tokenId)
  return token === undefined ? [] : ownBudgets(engine, { ...token, accountId, tags })
}

/** Signed on the spot, so that it can be checked alone; told as altered if it is. */
async function receiptOf(
  engine: ExplainDeps,
  { id, accountId }: StoredEntry,
): Promise<View<typeof explanation>['receipt']> {
  await engine.receiptWriter.drain(accountId)
  const checked = await checkedReceipt(engine.store.read, engine.receiptWriter.keys, id)
  if (checked === undefined) return null
  const { line, sealedBy, broken } = checked
  const { bill_signature: _, ...cells } = billView(line)
  const shown = Object.entries(cells).map(([name, value]) => [name, value ?? null])
  return {
    ...Object.fromEntries(shown),
    sealed_by: sealedBy ?? null,
    problem: broken === undefined ? null : `receipt ${broken.number}: ${broken.problem}`,
  }
}
