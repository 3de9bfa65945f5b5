// Accounts, their credits, their ledger, and what each of them pays now.
import { z } from 'zod'
import type { Ledger, Spendable } from '../../billing/ledger.ts'
import { requestIdOf, taskIdOf } from '../../contract/bills/receipt.ts'
import type { Model } from '../../contract/catalog.ts'
import { accountSettingsFrom } from '../../contract/config-schema/account-settings.ts'
import { accountDeclaration, declaredTerms } from '../../contract/config-schema/index.ts'
import { refuse } from '../../contract/errors.ts'
import { chargeTextColumns } from '../../contract/ledger.ts'
import { tagsView } from '../../contract/tags/index.ts'
import type { Declares, Offers } from '../../engine/base-deps.ts'
import { setAccountBudgets } from '../../engine/catalog/account-budgets.ts'
import { openAccount } from '../../engine/catalog/open-account.ts'
import { announce, noTokens } from '../../engine/catalog/refresh.ts'
import { formatNanos, parseNanos } from '../../lib/text/decimal.ts'
import { type Account, findAccount, listAccounts } from '../../store/catalog/accounts.ts'
import { isUniqueConflict } from '../../store/index.ts'
import { listEntries, listEntriesByHand, type StoredEntry } from '../../store/ledger/entries.ts'
import { monthStart } from '../../store/proof/grains.ts'
import { auditChange, listOf, pageOfList, time } from '../answers.ts'
import { viewAccountBudgets } from '../budgets.ts'
import { type paidPrice, paidPriceList } from '../catalog/price-schema.ts'
import { forAdministrators, forAll, forFinance, forStaff, owning } from '../permission.ts'
import { type Ask, routesOf, type View } from '../route.ts'
import {
  accountChange,
  accountList,
  accountQuery,
  account as accountSchema,
  entryList,
  entryQuery,
  type entry as entrySchema,
  paidPriceQuery,
} from './account-schema.ts'
import { changeAccount, notForFinance, settingsView } from './change-account.ts'

const credit = z
  .strictObject({
    amount: z
      .string({ error: 'must be a decimal in quotes, such as "10.00"' })
      .refine(
        (text) => (parseNanos(text) ?? 0n) !== 0n,
        'must be a decimal other than 0, at most 9 places',
      ),
    note: z.string().max(500).optional(),
  })
  .meta({ id: 'Credit' })
const creation = accountDeclaration
  .extend({
    budget: accountChange.shape.budget,
    tag_budgets: accountChange.shape.tag_budgets,
  })
  .meta({ id: 'AccountDeclaration' })

async function createAccount({ engine, body, x }: Ask<{ body: typeof creation }>) {
  const balanceNanos = parseNanos(body.balance ?? '0')!
  try {
    const settings = accountSettingsFrom(body)
    const opened = { name: body.name, source: 'api' as const, balanceNanos, ...settings }
    const id = await openAccount(engine, opened, async (tx, subject) => {
      await setAccountBudgets(tx, subject, body, 'api')
      await auditChange(tx, x, { action: 'account.create', subject, after: body })
    })
    if ((body.budget ?? body.tag_budgets) != null) await announce(engine, noTokens)
    return view(engine, (await findAccount(engine.store.read, id))!)
  } catch (error) {
    if (!isUniqueConflict(error)) throw error
    return refuse('conflict', `there is an account '${body.name}' already`, { param: 'name' })
  }
}

async function listAll({ engine, viewer, query, page, x }: Ask<{ query: typeof accountQuery }>) {
  const { read } = engine.store
  const own = viewer?.accountId
  if (own !== undefined) {
    const account = await findAccount(read, own)
    return { items: account ? [await view(engine, account)] : [], next_cursor: null }
  }
  const found = await listAccounts(read, {
    ...{ ...page, search: query.search?.trim(), sort: query.sort },
    isFalling: query.order === 'desc',
    monthMs: monthStart(x.atMs),
  })
  const items = await viewAll(engine, found.items)
  return listOf({ ...found, items }, (account) => account)
}

async function creditAccount({
  engine,
  found: account,
  body,
  header,
  x,
}: Ask<{ body: typeof credit; found: Account }>) {
  const key = header('idempotency-key')
  const ref = `credit:${key === undefined ? x.requestId : `${account.id}:${key}`}`
  const { note, amount } = body
  const entry = { ref, atMs: x.atMs, ...(note !== undefined && { note }) }
  const step = engine.ledger.credit(account.id, parseNanos(amount)!, entry)
  const done = await step.commit(() =>
    engine.store.tx(async (tx) => {
      const written = await step.write(tx)
      if (written !== 'done') return written
      const { balanceNanos } = (await findAccount(tx, account.id))!
      const after = { ...body, balance: formatNanos(balanceNanos) }
      await auditChange(tx, x, { action: 'account.credit', subject: account.id, after })
      return written
    }, account.id),
  )
  engine.jobs.emptyAccounts.credited(account.id)
  if (done === 'mismatch') {
    return refuse('idempotency_mismatch', 'this Idempotency-Key was used for another amount')
  }
  if (done === 'insufficient') {
    const message = 'the account does not have that much available'
    return refuse('conflict', message, { param: 'amount' })
  }
  return view(engine, (await findAccount(engine.store.read, account.id))!)
}

function listPaidPrices({
  engine,
  found,
  query,
  page,
}: Ask<{ query: typeof paidPriceQuery; found: Account }>) {
  const wanted = query.model
  const models = [...engine.catalog.models.values()].filter(
    ({ name }) => wanted === undefined || name === wanted,
  )
  const { items, ...rest } = listOf(
    pageOfList(models, ({ name }) => name, page),
    (model) => model,
  )
  return { items: items.flatMap((model) => priceFor(engine, found, model)), ...rest }
}

interface AccountViewDeps extends Declares, Offers {
  readonly ledger: Ledger
}

/** What this account pays for a model now, be it its own price or the general one; none when it cannot call it. */
function priceFor(
  engine: AccountViewDeps,
  account: Account,
  model: Model,
): View<typeof paidPrice>[] {
  const { name } = model
  const pricedAs = pricedName(model)
  const price = pricedAs === undefined ? undefined : engine.prices.current(pricedAs, account.id)
  if (price === undefined) return []
  return [
    {
      model: name,
      ...declaredTerms(price.terms),
      effective_from: time(price.effectiveFromMs),
      own: price.account !== undefined,
      next: nextOf(engine, account, pricedAs!),
    },
  ]
}

/** A price of the account that ends leaves it with the general one. */
function nextOf({ prices }: Offers, { id }: Account, model: string) {
  const next = prices.next(model, id)
  if (next === undefined) return null
  const terms = next.terms.unit === 'default' ? prices.current(model)?.terms : next.terms
  if (terms === undefined) return null
  return { ...declaredTerms(terms), effective_from: time(next.effectiveFromMs) }
}

/** Undefined where it depends on the model that serves. */
function pricedName({ name, pricedAs = name, backing }: Model): string | undefined {
  if (backing === undefined) return pricedAs
  const [only, ...others] = backing.members
  if (backing.pricedAs !== undefined || others.length > 0) return backing.pricedAs
  return only?.model.pricedAs ?? only?.model.name
}

const view = async (engine: AccountViewDeps, account: Account) =>
  (await viewAll(engine, [account]))[0]!

async function viewAll(engine: AccountViewDeps, accounts: readonly Account[]) {
  const spendable = await engine.ledger.spendable(accounts)
  const budgetsOf = await viewAccountBudgets(
    engine,
    accounts.map(({ id }) => id),
  )
  return accounts.map((account, at) => ({
    ...viewOf(engine, account, spendable[at]!),
    ...budgetsOf(account.id),
  }))
}

const viewOf = (
  engine: AccountViewDeps,
  account: Account,
  { heldNanos, availableNanos }: Spendable,
): Omit<View<typeof accountSchema>, 'budget' | 'tag_budgets'> => ({
  id: account.id,
  name: account.name,
  ...settingsView(account),
  currency: engine.declared.file.currency,
  balance: formatNanos(account.balanceNanos),
  held: formatNanos(heldNanos),
  available: formatNanos(availableNanos),
  source: account.source,
  created_at: time(account.createdAtMs),
  ...(account.suspendedSinceMs !== undefined && {
    suspended_since: time(account.suspendedSinceMs),
  }),
})

export const entryView = (entry: StoredEntry): View<typeof entrySchema> => ({
  id: String(entry.id),
  at: time(entry.atMs),
  kind: entry.kind,
  amount: formatNanos(entry.amountNanos),
  request_id: requestIdOf(entry) ?? null,
  task_id: taskIdOf(entry) ?? null,
  model: entry.model ?? null,
  ...chargeTextColumns(({ field }) => entry[field] ?? null),
  unit: entry.unit ?? null,
  tier: entry.tier ?? null,
  quantity: entry.quantity ?? null,
  price_id: entry.priceId ?? null,
  estimated: entry.estimated ?? false,
  note: entry.note ?? null,
  ...tagsView(entry.tags),
})

const route = routesOf({
  tag: 'Accounts',
  thing: 'account',
  param: 'Id or name of an account.',
  permission: owning(forAll, 'account'),
  find: ({ store }, id) => findAccount(store.read, id),
})

export const accountRoutes = [
  route('POST /accounts', {
    id: 'createAccount',
    permission: forAdministrators,
    summary: 'Open an account',
    body: creation,
    examples: { plain: { name: 'example-account', balance: '50.00' } },
    answer: accountSchema,
    status: 201,
    refusals: ['conflict'],
    handle: createAccount,
  }),
  route('GET /accounts', {
    id: 'listAccounts',
    permission: forAll,
    summary: 'List accounts, oldest first',
    query: accountQuery,
    answer: accountList,
    handle: listAll,
  }),
  route('GET /accounts/:id', {
    id: 'getAccount',
    summary: 'Get an account',
    answer: accountSchema,
    handle: ({ engine, found }) => view(engine, found),
  }),
  route('PATCH /accounts/:id', {
    id: 'changeAccount',
    permission: forStaff,
    summary: 'Change the settings of an account',
    description:
      'Null takes a setting away. What gateway.yaml declares is changed there. Finance changes who the account is: ' +
      'names, addresses and the tax number.',
    body: accountChange,
    examples: {
      tags: { tag_names: ['team', 'job'] },
      endUsers: { end_users: 'plain' },
      budget: { budget: { amount: '500.00', per: 'month', zone: 'Asia/Shanghai' } },
      tagBudgets: { tag_budgets: [{ tag: 'team=red', amount: '50.00', per: 'week' }] },
    },
    answer: accountSchema,
    refusals: ['conflict'],
    handle: async ({ engine, found, body, x, viewer }) => {
      const refusal = notForFinance(viewer, body) ?? (await changeAccount(engine, x, found, body))
      return refusal ?? view(engine, (await findAccount(engine.store.read, found.id))!)
    },
  }),
  route('POST /accounts/:id/credits', {
    id: 'creditAccount',
    permission: forFinance,
    summary: 'Credit an account, or take money back',
    requestHeaders: { 'Idempotency-Key': 'Booked once for each key.' },
    body: credit,
    examples: {
      credit: { amount: '25.00', note: 'invoice 17' },
      adjustment: { amount: '-1.50' },
    },
    answer: accountSchema,
    status: 201,
    returns: 'The account afterwards.',
    refusals: ['conflict', 'idempotency_mismatch'],
    handle: creditAccount,
  }),
  route('GET /accounts/:id/ledger', {
    id: 'listEntries',
    summary: 'The ledger of an account, newest first',
    query: entryQuery,
    answer: entryList,
    returns: 'A page of entries.',
    async handle({ engine, found, query, page }) {
      const list = query.by_hand ? listEntriesByHand : listEntries
      return listOf(await list(engine.store.read, found.id, page), entryView)
    },
  }),
  route('GET /accounts/:id/prices', {
    id: 'listPricesOfAccount',
    summary: 'What an account pays now, model by model',
    query: paidPriceQuery,
    answer: paidPriceList,
    handle: listPaidPrices,
  }),
]
