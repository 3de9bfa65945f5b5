// All charges and refunds of some days as a FOCUS file: read from the ledger page by page, summed by day, and given out
// as days are complete.

import { rangeOf } from '../../billing/bills/bill-table.ts'
import { findInvoices } from '../../billing/bills/invoices.ts'
import { factsOf } from '../../billing/charge-label.ts'
import { type Basis, costLines, costOfLine, shared } from '../../billing/focus/cost-lines.ts'
import { type Billed, FocusTable, focusColumns } from '../../billing/focus/focus-table.ts'
import { hoursAt } from '../../contract/price-hours.ts'
import { tagsView } from '../../contract/tags/index.ts'
import type { Task } from '../../contract/task.ts'
import { csvRow } from '../../lib/text/csv.ts'
import { monthAt } from '../../lib/text/month.ts'
import { type Account, listAccounts } from '../../store/catalog/accounts.ts'
import { findIssuer } from '../../store/catalog/issuer.ts'
import { type ChargedCall, findChargedCalls } from '../../store/ledger/charged-calls.ts'
import { findClosedMonth } from '../../store/ledger/closed-months.ts'
import { findEntries, type StoredEntry } from '../../store/ledger/entries.ts'
import { findLines } from '../../store/proof/receipt-lines.ts'
import { findTaskRows } from '../../store/tasks/tasks.ts'
import type { Offers } from '../base-deps.ts'
import type { BooksDeps } from './bill-deps.ts'

type FocusDeps = BooksDeps & Offers

interface FocusRange {
  /** Absent: all. */
  account?: Account | undefined
  /** Whole days of UTC. */
  fromMs: number
  untilMs: number
}

const linesAtOnce = 1_000
const accountsAtOnce = 100
const dayMs = 86_400_000
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

export function openFocusFile(deps: FocusDeps, range: FocusRange): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const pages = rowsOf(deps, range)
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(csvRow(focusColumns))),
    async pull(controller) {
      const page = await pages.next()
      if (page.done) controller.close()
      else controller.enqueue(encoder.encode(page.value))
    },
    async cancel() {
      await pages.return(undefined)
    },
  })
}

async function* rowsOf(deps: FocusDeps, range: FocusRange): AsyncGenerator<string> {
  for await (const account of accountsIn(deps, range.account)) {
    for await (const rows of rowsOfAccount(deps, account, range)) {
      if (rows.length === 0) continue
      yield rows.map((row) => csvRow(focusColumns.map((column) => row[column]))).join('')
    }
  }
}

async function* accountsIn(
  { store }: FocusDeps,
  only: Account | undefined,
): AsyncGenerator<Account> {
  if (only !== undefined) {
    yield only
    return
  }
  let cursor: string | undefined
  do {
    const page = await listAccounts(store.read, { limit: accountsAtOnce, cursor })
    yield* page.items
    cursor = page.nextCursor
  } while (cursor !== undefined)
}

async function* rowsOfAccount(deps: FocusDeps, account: Account, range: FocusRange) {
  const { store, receiptWriter, declared } = deps
  const { fromMs, untilMs } = range
  await receiptWriter.drain(account.id)
  const stretch = { accountId: account.id, fromMs, untilMs }
  const { lines, lastNumber, ...first } = await rangeOf(store.read, stretch)
  if (lines === 0) return
  const issuer = declared.file.issuer ?? (await findIssuer(store.read))
  const table = new FocusTable({
    accountId: account.id,
    accountName: account.profile?.display_name ?? account.name,
    currency: declared.file.currency,
    issuer: issuer?.name ?? 'Model gateway',
    invoiceOf: await findInvoices(store.read, account.id, monthAt(fromMs), monthAt(untilMs - 1)),
  })
  let { afterNumber } = first
  for (let given = 0; given < lines; ) {
    const limit = Math.min(linesAtOnce, lines - given)
    const page = await findLines(store.read, { ...stretch, afterNumber, lastNumber, limit })
    if (page.length === 0) break
    for (const billed of await billedIn(
      deps,
      page.map(({ entry }) => entry),
    ))
      table.add(billed)
    const last = page.at(-1)!
    given += page.length
    afterNumber = last.number
    // Times are not strictly in the order of numbers: the day before may still get some.
    yield table.take(dayOf(last.entry.atMs - dayMs))
  }
  yield table.take()
}

async function billedIn(deps: FocusDeps, entries: readonly StoredEntry[]): Promise<Billed[]> {
  const charges = entries.filter(({ kind }) => kind === 'charge')
  const isCall = ({ ref }: StoredEntry) => ref.startsWith('req_')
  const calls = await findChargedCalls(
    deps.store.read,
    charges.filter(isCall).map(({ ref }) => ref),
  )
  const others = charges.filter((entry) => !isCall(entry)).map(({ ref }) => ref)
  const tasks = new Map(
    (await findTaskRows(deps.store.read, others)).map((task) => [task.id, task] as const),
  )
  const billed: Billed[] = []
  for (const entry of entries) {
    if (entry.kind === 'refund') billed.push(await refundOf(deps, entry))
    if (entry.kind !== 'charge') continue
    billed.push(...chargeOf(deps, entry, calls.get(entry.ref), tasks.get(entry.ref)))
  }
  return billed
}

const keysOf = (entry: StoredEntry) => ({
  day: dayOf(entry.atMs),
  model: entry.model ?? 'unknown',
  priceId: entry.priceId ?? '',
  tags: JSON.stringify(tagsView(entry.tags).tags),
})

function chargeOf(
  deps: FocusDeps,
  entry: StoredEntry,
  call: ChargedCall | undefined,
  task: Task | undefined,
): Billed[] {
  const keys = keysOf(entry)
  const basis = basisOf(deps, entry, call, task)
  const lines = basis === undefined ? [] : costLines(basis)
  if (lines.length === 0) return [{ ...keys, billedNanos: -entry.amountNanos }]
  const costs = lines.map(({ quantity, price }) => costOfLine(quantity, price))
  const parts = shared(-entry.amountNanos, costs)
  return lines.map((line, at) => {
    const { model = keys.model } = line
    return { ...keys, model, line, billedNanos: parts[at]! }
  })
}

function basisOf(
  { prices }: FocusDeps,
  { priceId = '', quantity = 0, tier = '', atMs }: StoredEntry,
  call: ChargedCall | undefined,
  task: Task | undefined,
): Basis | undefined {
  const price = prices.byId(priceId)
  if (price === undefined) return undefined
  const beganMs = call?.atMs ?? task?.createdAtMs ?? atMs
  const list = price.account && prices.generalAt(price.model, beganMs)
  const { toolCalls } = factsOf(tier)
  const counts = call?.counts ?? task?.usage?.tokens
  const { parts = counts?.parts, others } = call ?? {}
  const hours = task && hoursAt(price.terms, beganMs)
  return {
    terms: price.terms,
    list: list?.terms,
    applied: call?.applied ?? (hours === undefined ? undefined : { hours }),
    atMs: beganMs,
    usage: counts && {
      ...counts,
      ...(parts !== undefined && { parts }),
      ...(others !== undefined && { others }),
      ...(toolCalls !== undefined && { toolCalls }),
    },
    quantity,
    tier,
    termsOf: (id) => prices.byId(id)?.terms,
  }
}

async function refundOf({ store }: FocusDeps, entry: StoredEntry): Promise<Billed> {
  const charge = (await findEntries(store.read, entry.refundOf ?? '')).find(
    ({ kind }) => kind === 'charge',
  )
  const closed =
    charge && (await findClosedMonth(store.read, entry.accountId, monthAt(charge.atMs)))
  return {
    ...keysOf({
      ...entry,
      model: entry.model ?? charge?.model,
      priceId: entry.priceId ?? charge?.priceId,
    }),
    billedNanos: -entry.amountNanos,
    refund: closed === undefined ? 'plain' : 'correction',
  }
}
