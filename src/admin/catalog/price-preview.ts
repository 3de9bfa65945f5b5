// What draft prices would have charged over a past period, from sums of the ledger by the hour.
import { z } from 'zod'
import { losingChannels } from '../../billing/prices/losing.ts'
import { type Draft, previewPrices } from '../../billing/prices/preview.ts'
import type { Spent } from '../../billing/prices/reprice.ts'
import { isNameOnly } from '../../contract/catalog.ts'
import {
  maxListed,
  type PriceDeclaration,
  priceDeclaration,
  termsFrom,
} from '../../contract/config-schema/index.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { BaseDeps, Offers } from '../../engine/base-deps.ts'
import { monthBounds, type Stretch } from '../../lib/text/month.ts'
import { accountNames, findAccount } from '../../store/catalog/accounts.ts'
import { hourMs, inputBuckets } from '../../store/proof/grains.ts'
import { type MoneySum, sumMoney } from '../../store/proof/totals.ts'
import { notFound, time, wrong } from '../answers.ts'
import type { Ask } from '../route.ts'
import { readPriceList } from './price-lists.ts'
import { pricePreview } from './price-schema.ts'
import { priceRoute, whoseOf } from './prices.ts'

const maxItems = 10_000
const maxPeriodMs = 400 * 24 * hourMs

const previewBody = z
  .strictObject({
    month: z.string().optional(),
    from: z.string().optional(),
    to: z.string().optional(),
    account: z.string().optional(),
    prices: z.array(priceDeclaration).min(1).max(maxListed).optional(),
    format: z.enum(['yaml', 'csv']).optional(),
    text: z.string().optional(),
  })
  .meta({ id: 'PricePreviewRequest' })

async function preview({ engine, body }: Ask<{ body: typeof previewBody }>) {
  const period = periodOf(body)
  if (period instanceof Refusal) return period
  const payer =
    body.account === undefined ? undefined : await findAccount(engine.store.read, body.account)
  if (body.account !== undefined && payer === undefined) return notFound('account', body.account)
  const declared = await declaredIn(engine, body)
  if (declared instanceof Refusal) return declared
  const drafts = await draftsIn(engine, declared)
  if (drafts instanceof Refusal) return drafts
  const sums = await spentIn(engine, period, drafts, payer?.id)
  const { rows, compared, total } = previewPrices(sums, drafts, engine.prices, inputBuckets)
  const costs = (model: string) => costsOf(engine, model)
  const losing = losingChannels(compared, costs, engine.prices, inputBuckets)
  const names = await accountNames(engine.store.read)
  const items = rows
    .map(({ accountId, ...row }) => ({ account: names.get(accountId) ?? accountId, ...row }))
    .sort((a, b) => compare(a.account, b.account) || compare(a.model, b.model))
  return {
    from: time(period.fromMs),
    to: time(period.untilMs),
    currency: engine.declared.file.currency,
    exact: total.exact,
    total,
    items: items.slice(0, maxItems),
    omitted_count: Math.max(0, items.length - maxItems),
    losing: losing.slice(0, maxItems),
  }
}

/** At the channels that serve a model now, as far as it is known. */
function costsOf({ catalog, costs, clock }: BaseDeps & Offers, name: string) {
  const model = catalog.models.get(name)
  const routes = model?.interfaces.flatMap((each) => catalog.routes(model, each)) ?? []
  const channels = new Set(routes.map(({ channel }) => channel.name))
  return [...channels].flatMap((channel) => {
    const cost = costs.find({ name, pricedAs: name }, channel, clock.nowMs())
    return cost === undefined ? [] : [{ channel, cost }]
  })
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function periodOf({ month, from, to }: z.infer<typeof previewBody>): Stretch | Refusal {
  if (month !== undefined) {
    if (from !== undefined || to !== undefined)
      return wrong('month', "goes without 'from' and 'to'")
    return monthBounds(month) ?? wrong('month', 'must be of the form 2026-11')
  }
  if (from === undefined) return wrong('month', "is missing; or give 'from' and 'to'")
  if (to === undefined) return wrong('to', 'is missing')
  const [fromMs, untilMs] = [Date.parse(from), Date.parse(to)]
  for (const [param, ms] of [
    ['from', fromMs],
    ['to', untilMs],
  ] as const) {
    // Not a time at all gives NaN, which is no whole hour either.
    if (ms % hourMs !== 0) return wrong(param, 'must be an RFC 3339 time on the full hour')
  }
  if (untilMs <= fromMs) return wrong('to', "must be after 'from'")
  if (untilMs - fromMs > maxPeriodMs) return wrong('from', 'must be within 400 days of the end')
  return { fromMs, untilMs }
}

/** In the body itself, or as a list in another format. */
async function declaredIn(
  { catalog }: Offers,
  { prices, format, text }: z.infer<typeof previewBody>,
): Promise<readonly PriceDeclaration[] | Refusal> {
  if (prices !== undefined && text === undefined && format === undefined) return prices
  if (prices !== undefined || text === undefined || format === undefined) {
    const message = "give either 'prices', or a list as 'text' with its 'format'"
    return refuse('invalid_request', message, { param: 'prices' })
  }
  const list = await readPriceList(format, text)
  if (list instanceof Refusal) return list
  const added = new Set(list.models.map(({ name }) => name))
  const drafts = list.prices.map(({ declared }) => declared)
  // What is not in the catalog yet was never charged.
  const known = drafts.filter(({ model }) => catalog.models.has(model) || !added.has(model))
  if (drafts.length > 0) return known
  const message = "'text' must have at least one price"
  return refuse('invalid_request', message, { param: 'text' })
}

async function draftsIn(
  engine: BaseDeps & Offers,
  declared: readonly PriceDeclaration[],
): Promise<Draft[] | Refusal> {
  const drafts = new Map<string, Draft>()
  for (const [index, each] of declared.entries()) {
    const at = `prices[${index}].`
    const whose = await whoseOf(engine, each, at)
    if (whose instanceof Refusal) return whose
    const { model, account } = whose
    const key = `${model} ${account?.id ?? ''}`
    if (drafts.has(key)) {
      const message = `${at}model is used twice; a draft is for the whole period`
      return refuse('invalid_request', message, { param: `${at}model` })
    }
    const terms = termsFrom(each)
    drafts.set(key, { model, ...(account !== undefined && { accountId: account.id }), terms })
  }
  return [...drafts.values()]
}

const dimensions = ['account', 'kind', 'model', 'unit', 'tier', 'price', 'bucket'] as const
/** Beyond this, leaving out the other models costs more than it saves. */
const fewModels = 16

/**
 * Of the accounts that a draft can be felt by. SQLite has one thread for all reports, which no
 * question may keep for long: there they are asked for one by one.
 */
async function spentIn(
  { store, catalog }: BaseDeps & Offers,
  period: Stretch,
  drafts: readonly Draft[],
  only: string | undefined,
): Promise<Spent[]> {
  const named = new Set(drafts.map(({ accountId }) => accountId))
  const isForAll = named.has(undefined) && only === undefined
  const wanted = only !== undefined ? [only] : [...named]
  const all = store.dialect === 'sqlite' ? [...(await accountNames(store.read)).keys()] : []
  const models = [...new Set(drafts.map(({ model }) => model))]
  // Calls of a virtual model may cost the price of one that has a draft.
  const isPlain = ![...catalog.models.values()].some(isNameOnly)
  const filter = isPlain && models.length <= fewModels ? { models } : {}
  const hasHours = drafts.some(({ terms }) => terms.hours !== undefined)
  const by = hasHours ? [...dimensions, 'hour' as const] : dimensions
  const found: MoneySum[] = []
  for (const accountId of isForAll && all.length > 0 ? all : wanted) {
    const asked = { accountId, ...period, ...filter, by }
    found.push(...(await sumMoney(store.read, asked)).filter(({ kind }) => kind === 'charge'))
  }
  return found.map(
    ({ accountId = '', model = '', unit = '', tier = '', priceId = '', ...sum }): Spent => ({
      ...sum,
      accountId,
      model,
      unit,
      tier,
      priceId,
      inputBucket: sum.inputBucket ?? 0,
    }),
  )
}

export const pricePreviewRoutes = [
  priceRoute('POST /prices/preview', {
    id: 'previewPrices',
    summary: 'What draft prices would have charged over a past period',
    body: previewBody,
    examples: {
      month: {
        month: '2026-11',
        prices: [
          { model: 'txta-plus', unit: 'token', per_million: { input: '0.60', output: '1.50' } },
        ],
      },
    },
    answer: pricePreview,
    returns: 'Both sides, account by account and model by model.',
    refusals: ['not_found'],
    handle: preview,
  }),
]
