// Price versions, general ones and those of single accounts. None is ever changed.
import {
  declaredTerms,
  type PriceDeclaration,
  priceDeclaration,
  startOf,
  termsFrom,
} from '../../contract/config-schema/index.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { hasBegun, type Price, unitProblem } from '../../contract/price.ts'
import type { BaseDeps, Declares, Offers } from '../../engine/base-deps.ts'
import { isInFile } from '../../engine/catalog/import-prices.ts'
import { announce, noTokens } from '../../engine/catalog/refresh.ts'
import { newShortId } from '../../lib/crypto/ids.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { deletePrice, findPrice, insertPrice, listPrices } from '../../store/catalog/prices.ts'
import { auditChange, listOf, time } from '../answers.ts'
import { forAll, forFinance } from '../permission.ts'
import { type Ask, routesOf, type View } from '../route.ts'
import { deleted } from '../schema.ts'
import { notifyPrice } from './price-changes.ts'
import { priceList, priceQuery, price as priceSchema } from './price-schema.ts'

const creation = priceDeclaration.meta({ id: 'PriceDeclaration' })

async function create({ engine, body, viewer, x }: Ask<{ body: typeof creation }>) {
  const whose = await whoseOf(engine, body)
  if (whose instanceof Refusal) return whose
  if (isInFile(engine, whose)) {
    const message = `the price of '${body.model}' is declared in the configuration file, which wins`
    return refuse('conflict', `${message}; change it there`, { param: 'model' })
  }
  const price: Price = {
    id: newShortId('price', x.atMs),
    ...whose,
    terms: termsFrom(body),
    // A version that started in the past would reprice calls that are already charged.
    effectiveFromMs: Math.max(startOf(body) ?? x.atMs, x.atMs),
    source: 'api',
    createdBy: viewer?.actor ?? 'gateway',
  }
  await engine.store.tx(async (tx) => {
    price.effectiveFromMs = await insertPrice(tx, price, x.atMs)
    const after = { ...body, effective_from: time(price.effectiveFromMs) }
    await auditChange(tx, x, { action: 'price.create', subject: price.id, after })
    await notifyPrice(engine, tx, price, x.atMs)
  })
  engine.jobs.notices.wake()
  await announce(engine, noTokens)
  return priceView(engine, price)
}

/** Only a version that has not begun: what calls were charged by stays. */
async function withdraw({ engine, id, found, x }: Ask<{ found: Price }>) {
  const nowMs = engine.clock.nowMs()
  if (found.source !== 'api' && !hasBegun(found, nowMs)) {
    return refuse('conflict', 'this price is declared in the configuration file; change it there')
  }
  const isGone = await engine.store.tx(async (tx) => {
    if (!(await deletePrice(tx, id, nowMs))) return false
    const before = { model: found.model, ...declaredTerms(found.terms) }
    await auditChange(tx, x, { action: 'price.delete', subject: id, before })
    await notifyPrice(engine, tx, found, x.atMs, true)
    return true
  })
  if (!isGone) return refuse('price_in_force', 'this price has begun; make a new version instead')
  engine.jobs.notices.wake()
  await announce(engine, noTokens)
  return { id, deleted: true as const }
}

/** Which list a price belongs to. */
export async function whoseOf(
  engine: BaseDeps & Offers,
  { model, account: wanted, unit }: Pick<PriceDeclaration, 'model' | 'account' | 'unit'>,
  at = '',
): Promise<Pick<Price, 'model' | 'account'> | Refusal> {
  const priced = engine.catalog.models.get(model)
  if (priced === undefined) {
    return refuse('invalid_request', `there is no model '${model}'`, { param: `${at}model` })
  }
  const wrong = unitProblem(priced, unit)
  if (wrong !== undefined) {
    return refuse('invalid_request', `${at}unit ${wrong}`, { param: `${at}unit` })
  }
  if (wanted === undefined) return { model }
  const account = await findAccount(engine.store.read, wanted)
  return account === undefined
    ? refuse('invalid_request', `there is no account '${wanted}'`, { param: `${at}account` })
    : { model, account: { id: account.id, name: account.name } }
}

export function priceView(engine: PriceViewDeps, price: Price): View<typeof priceSchema> {
  const { unit, ...terms } = declaredTerms(price.terms)
  return {
    id: price.id,
    model: price.model,
    account: price.account?.name ?? null,
    unit,
    ...terms,
    effective_from: time(price.effectiveFromMs),
    ...stateOf(engine, price, engine.prices.listed(price.model, price.account?.id)),
    source: price.source,
    created_by: price.createdBy ?? null,
  }
}

/** `listed`: the version of its list that is in force. */
export function stateOf(
  { clock }: Pick<BaseDeps, 'clock'>,
  version: Price,
  listed: Price | undefined,
): Pick<View<typeof priceSchema>, 'current' | 'state'> {
  if (listed?.id === version.id) return { current: true, state: 'in_force' }
  const state = hasBegun(version, clock.nowMs()) ? 'past' : 'scheduled'
  return { current: false, state }
}

type PriceViewDeps = Declares & Offers & Pick<BaseDeps, 'clock'>

const tokenPrice = { unit: 'token', per_million: { input: '0.60', output: '1.50' } }

export const priceRoute = routesOf({
  tag: 'Models and prices',
  thing: 'price',
  permission: forFinance,
  find: ({ store }, id) => findPrice(store.read, id),
})

export const priceRoutes = [
  priceRoute('GET /prices', {
    id: 'listPrices',
    permission: forAll,
    summary: 'List all versions of prices; for a member, those of its account',
    query: priceQuery,
    answer: priceList,
    async handle({ engine, query, account, page }) {
      const filter = { ...page, model: query.model, accountId: account?.id }
      const versions = await listPrices(engine.store.read, filter)
      return listOf(versions, (each) => priceView(engine, each))
    },
  }),
  priceRoute('POST /prices', {
    id: 'createPrice',
    summary: 'Make a new version of a price',
    body: creation,
    examples: {
      tokens: { model: 'txta-plus', account: 'acme', ...tokenPrice },
      seconds: {
        model: 'vfb-1.1-t2v',
        account: 'acme',
        unit: 'video_second',
        per_second: { '720p': '0.80', '1080p': '1.10' },
      },
    },
    answer: priceSchema,
    status: 201,
    returns: 'The version.',
    refusals: ['conflict'],
    handle: create,
  }),
  priceRoute('DELETE /prices/:id', {
    id: 'deletePrice',
    summary: 'Withdraw a version of a price that has not begun',
    param: 'Id of a price.',
    answer: deleted,
    refusals: ['conflict', 'price_in_force'],
    handle: withdraw,
  }),
]
