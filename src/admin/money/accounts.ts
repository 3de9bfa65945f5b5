// Accounts, their credits, their ledger, and what each of them pays now.
import { z } from 'zod'
import type { Spendable } from '../../billing/ledger.ts'
import type { Model } from '../../contract/catalog.ts'
import { accountDeclaration, declaredTerms } from '../../contract/config-schema/index.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { requestIdOf, taskIdOf } from '../../contract/receipt.ts'
import { openAccount } from '../../engine/catalog/open-account.ts'
import type { Engine } from '../../engine/engine.ts'
import { formatNanos, parseNanos } from '../../lib/text/decimal.ts'
import { type Account, findAccount, listAccounts } from '../../store/catalog/accounts.ts'
import { isUniqueConflict } from '../../store/index.ts'
import { listEntries, type StoredEntry } from '../../store/ledger/entries.ts'
import {
  listOf,
  notFound,
  pageOfList,
  pageQuery,
  type Resource,
  readBody,
  recordChange,
  route,
  time,
} from '../legacy-route.ts'

export const credit = z.strictObject({
  amount: z
    .string({ error: 'must be a decimal in quotes, such as "10.00"' })
    .refine(
      (text) => (parseNanos(text) ?? 0n) !== 0n,
      'must be a decimal other than 0, at most 9 places',
    ),
  note: z.string().max(500).optional(),
})

export const accounts: Resource = (app, deps) => {
  const { engine } = deps
  const { store } = engine

  app.post(
    '/accounts',
    route(async (_, x) => {
      const body = await readBody(x, deps, accountDeclaration)
      if (body instanceof Refusal) return body
      const balanceNanos = parseNanos(body.balance ?? '0')!
      try {
        const opened = { name: body.name, source: 'api' as const, balanceNanos }
        const id = await openAccount(engine, opened, (tx, subject) =>
          recordChange(tx, x, { action: 'account.create', subject, after: body }),
        )
        return view(engine, (await findAccount(store.read, id))!)
      } catch (error) {
        if (!isUniqueConflict(error)) throw error
        return refuse('conflict', `there is an account '${body.name}' already`, { param: 'name' })
      }
    }, 201),
  )

  app.get(
    '/accounts',
    route(async ({ query }, x) => {
      const page = pageQuery(query, deps)
      if (page instanceof Refusal) return page
      const own = x.viewer?.accountId
      if (own !== undefined) {
        const account = await findAccount(store.read, own)
        return { items: account ? [await view(engine, account)] : [], next_cursor: null }
      }
      const found = await listAccounts(store.read, page)
      const items = await viewAll(engine, found.items)
      return listOf({ ...found, items }, (account) => account)
    }),
  )

  app.get(
    '/accounts/:id',
    route(async ({ id }) => {
      const account = await findAccount(store.read, id)
      return account === undefined ? notFound('account', id) : view(engine, account)
    }),
  )

  app.post(
    '/accounts/:id/credits',
    route(async ({ id, header }, x) => {
      const account = await findAccount(store.read, id)
      if (account === undefined) return notFound('account', id)
      const body = await readBody(x, deps, credit)
      if (body instanceof Refusal) return body
      const key = header('idempotency-key')
      const ref = `credit:${key === undefined ? x.requestId : `${account.id}:${key}`}`
      const done = await engine.ledger.credit(
        account.id,
        parseNanos(body.amount)!,
        { ref, atMs: x.atMs, ...(body.note !== undefined && { note: body.note }) },
        async (tx) => {
          // Booked by now, in this same transaction.
          const { balanceNanos } = (await findAccount(tx, account.id))!
          await recordChange(tx, x, {
            action: 'account.credit',
            subject: account.id,
            after: { ...body, balance: formatNanos(balanceNanos) },
          })
        },
      )
      if (done === 'mismatch') {
        return refuse('idempotency_mismatch', 'this Idempotency-Key was used for another amount')
      }
      if (done === 'insufficient') {
        return refuse('conflict', 'the account does not have that much available', {
          param: 'amount',
        })
      }
      return view(engine, (await findAccount(store.read, account.id))!)
    }, 201),
  )

  app.get(
    '/accounts/:id/ledger',
    route(async ({ id, query }) => {
      const account = await findAccount(store.read, id)
      if (account === undefined) return notFound('account', id)
      const page = pageQuery(query, deps)
      if (page instanceof Refusal) return page
      return listOf(await listEntries(store.read, account.id, page), entryView)
    }),
  )

  app.get(
    '/accounts/:id/prices',
    route(async ({ id, query }) => {
      const account = await findAccount(store.read, id)
      if (account === undefined) return notFound('account', id)
      const page = pageQuery(query, deps)
      if (page instanceof Refusal) return page
      const wanted = query('model')
      const { models } = engine.catalog
      const asked = [...models.values()].filter(
        ({ name }) => wanted === undefined || name === wanted,
      )
      const found = pageOfList(asked, ({ name }) => name, page)
      const { items, ...rest } = listOf(found, (model) => model)
      return { items: items.flatMap((model) => priceFor(engine, account, model as Model)), ...rest }
    }),
  )
}

/** What this account pays for a model now, whosever price that is; none when it cannot call it. */
function priceFor(engine: Engine, account: Account, { name, pricedAs = name }: Model): object[] {
  const price = engine.prices.current(pricedAs, account.id)
  if (price === undefined) return []
  return [
    {
      model: name,
      ...declaredTerms(price.terms),
      effective_from: time(price.effectiveFromMs),
      own: price.account !== undefined,
    },
  ]
}

const view = async (engine: Engine, account: Account) => (await viewAll(engine, [account]))[0]

async function viewAll(engine: Engine, accounts: readonly Account[]) {
  const spendable = await engine.ledger.spendable(accounts)
  return accounts.map((account, at) => viewOf(engine, account, spendable[at]!))
}

const viewOf = (engine: Engine, account: Account, { heldNanos, availableNanos }: Spendable) => ({
  id: account.id,
  name: account.name,
  currency: engine.declared.file.currency,
  balance: formatNanos(account.balanceNanos),
  held: formatNanos(heldNanos),
  available: formatNanos(availableNanos),
  source: account.source,
  created_at: time(account.createdAtMs),
  ...(account.suspendedSinceMs !== undefined && { stopped_since: time(account.suspendedSinceMs) }),
})

export const entryView = (entry: StoredEntry) => ({
  id: String(entry.id),
  at: time(entry.atMs),
  kind: entry.kind,
  amount: formatNanos(entry.amountNanos),
  request_id: requestIdOf(entry) ?? null,
  task_id: taskIdOf(entry.ref) ?? null,
  model: entry.model ?? null,
  unit: entry.unit ?? null,
  tier: entry.tier ?? null,
  quantity: entry.quantity ?? null,
  price_id: entry.priceId ?? null,
  estimated: entry.estimated ?? false,
  note: entry.note ?? null,
})
