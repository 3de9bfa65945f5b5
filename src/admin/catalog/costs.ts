// What upstreams take: versions as prices have them, one list for each channel and model. None is ever changed.
import { isDeepStrictEqual } from 'node:util'
import {
  type CostDeclaration,
  costDeclaration,
  declaredTerms,
  needsRate,
  startOf,
  termsFrom,
} from '../../contract/config-schema/index.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { hasBegun, type Price } from '../../contract/price.ts'
import { costProblem, isOfList } from '../../engine/catalog/declared-prices.ts'
import { announce, noTokens } from '../../engine/catalog/refresh.ts'
import type { Engine } from '../../engine/engine.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { newShortId } from '../../lib/crypto/ids.ts'
import { deletePrice, findPrice, insertPrice, listPrices } from '../../store/catalog/prices.ts'
import type { Tx } from '../../store/index.ts'
import { auditChange, listOf, time } from '../answers.ts'
import { forFinance, forStaff } from '../permission.ts'
import { type Ask, routesOf, type View } from '../route.ts'
import { deleted } from '../schema.ts'
import { maxImportBytes } from '../serve.ts'
import {
  costFactors,
  costImport,
  costImportRequest,
  costList,
  costQuery,
  cost as costSchema,
} from './price-schema.ts'
import { stateOf } from './prices.ts'
import { readAside } from './read-aside.ts'

const creation = costDeclaration.meta({ id: 'CostDeclaration' })

async function create({ engine, body, viewer, x }: Ask<{ body: typeof creation }>) {
  const refused = misfit(engine, body)
  if (refused !== undefined) return refused
  const cost = versionOf(body, viewer?.actor, x.atMs)
  await engine.store.tx((tx) => add(tx, x, cost, body))
  await announce(engine, noTokens)
  return costView(engine, cost)
}

const versionOf = (body: CostDeclaration, actor: string | undefined, atMs: number): Price => ({
  id: newShortId('cost', atMs),
  ...{ model: body.model, channel: body.channel },
  ...(body.currency !== undefined && { currency: body.currency }),
  terms: termsFrom(body),
  // What has been served is paid for.
  effectiveFromMs: Math.max(startOf(body) ?? atMs, atMs),
  source: 'api',
  createdBy: actor ?? 'gateway',
})

async function add(tx: Tx, x: RequestContext, cost: Price, body: CostDeclaration): Promise<void> {
  cost.effectiveFromMs = await insertPrice(tx, cost, x.atMs)
  const after = { ...body, effective_from: time(cost.effectiveFromMs) }
  await auditChange(tx, x, { action: 'cost.create', subject: cost.id, after })
}

/** All of a list or nothing; what is in force already stays as it is. */
async function importCosts({ engine, body, viewer, x }: Ask<{ body: typeof costImportRequest }>) {
  const read = await readAside('costs', body.yaml, 'yaml')
  if (read instanceof Refusal) return read
  const refused = (message: string) => refuse('invalid_request', message, { param: 'yaml' })
  if ('problem' in read) return refused(read.problem)
  const lists = new Set<string>()
  const planned: { declared: CostDeclaration; cost: Price; outcome: 'added' | 'unchanged' }[] = []
  for (const [index, declared] of read.costs.entries()) {
    const { channel, model } = declared
    const key = JSON.stringify([channel, model, startOf(declared)])
    if (lists.has(key)) return refused(`costs[${index}] is there twice`)
    lists.add(key)
    const current = engine.costs.versions.listed(model, channel)
    const isSame =
      current !== undefined && startOf(declared) === undefined && says(current, declared)
    const problem = isSame ? undefined : misfit(engine, declared)
    if (problem !== undefined) return refused(`costs[${index}]: ${problem.message}`)
    const cost = isSame ? current : versionOf(declared, viewer?.actor, x.atMs)
    planned.push({ declared, cost, outcome: isSame ? 'unchanged' : 'added' })
  }
  const added = planned.filter(({ outcome }) => outcome === 'added')
  if (body.dry_run !== true && added.length > 0) {
    await engine.store.tx(async (tx) => {
      for (const { cost, declared } of added) await add(tx, x, cost, declared)
    })
    await announce(engine, noTokens)
  }
  return {
    dry_run: body.dry_run === true,
    added: added.length,
    unchanged: planned.length - added.length,
    items: planned.map(({ cost, outcome }) => ({ outcome, ...costView(engine, cost) })),
  }
}

const says = ({ terms, currency }: Price, declared: CostDeclaration): boolean =>
  currency === declared.currency && isDeepStrictEqual(terms, termsFrom(declared))

/** Why nothing can cost that. */
function misfit(
  { catalog, declared }: Engine,
  { channel, model: name, unit, currency }: CostDeclaration,
): Refusal | undefined {
  if (declared.file.costs.some((each) => isOfList({ model: name, channel }, each))) {
    const message = `the cost of '${name}' at '${channel}' is declared in the configuration file, which wins`
    return refuse('conflict', `${message}; change it there`, { param: 'model' })
  }
  const wrong = (param: string, message: string) => refuse('invalid_request', message, { param })
  if (!catalog.channels.some((each) => each.name === channel)) {
    return wrong('channel', `there is no channel '${channel}'`)
  }
  const model = catalog.models.get(name)
  if (model === undefined) return wrong('model', `there is no model '${name}'`)
  const problem = costProblem(model, unit)
  if (problem !== undefined) return wrong(problem.includes('unit') ? 'unit' : 'model', problem)
  return needsRate(declared.file, currency)
    ? wrong('currency', `${currency} has no rate in 'exchange' of the configuration file`)
    : undefined
}

/** Only a version that has not begun: what calls were counted by stays. */
async function withdraw({ engine, id, found, x }: Ask<{ found: Price }>) {
  const nowMs = engine.clock.nowMs()
  if (found.source !== 'api' && !hasBegun(found, nowMs)) {
    return refuse('conflict', 'this cost is declared in the configuration file; change it there')
  }
  const isGone = await engine.store.tx(async (tx) => {
    if (!(await deletePrice(tx, id, nowMs))) return false
    const { model, channel, terms } = found
    const before = { channel, model, ...declaredTerms(terms) }
    await auditChange(tx, x, { action: 'cost.delete', subject: id, before })
    return true
  })
  if (!isGone) return refuse('price_in_force', 'this cost has begun; make a new version instead')
  await announce(engine, noTokens)
  return { id, deleted: true as const }
}

function costView(engine: Engine, cost: Price): View<typeof costSchema> {
  const { unit, ...terms } = declaredTerms(cost.terms)
  const current = engine.costs.versions.listed(cost.model, cost.channel)
  return {
    id: cost.id,
    channel: cost.channel!,
    model: cost.model,
    unit,
    ...terms,
    currency: cost.currency ?? engine.declared.file.currency,
    effective_from: time(cost.effectiveFromMs),
    ...stateOf(engine, cost, current),
    source: cost.source,
    created_by: cost.createdBy ?? null,
  }
}

const costRoute = routesOf({
  tag: 'Models and prices',
  thing: 'cost',
  permission: forFinance,
  find: ({ store }, id) => findPrice(store.read, id, 'cost'),
})

export const costRoutes = [
  costRoute('GET /costs', {
    id: 'listCosts',
    permission: forStaff,
    summary: 'List all versions of what upstreams take',
    query: costQuery,
    answer: costList,
    async handle({ engine, query, page }) {
      const { channel, model } = query
      const filter = { ...page, channel, model }
      const versions = await listPrices(engine.store.read, filter, 'cost')
      return listOf(versions, (each) => costView(engine, each))
    },
  }),
  costRoute('GET /costs/factors', {
    id: 'getCostFactors',
    permission: forStaff,
    summary: 'What applies to models without a cost of their own, and rates of exchange',
    answer: costFactors,
    returns: 'Factors of all channels, and the rates.',
    handle: ({ engine: { catalog, declared } }) => ({
      currency: declared.file.currency,
      exchange: { ...declared.file.exchange },
      channels: catalog.channels.map(({ name, costFactor }) => ({
        channel: name,
        cost_factor: costFactor ?? null,
      })),
    }),
  }),
  costRoute('POST /costs', {
    id: 'createCost',
    summary: 'Make a new version of what the upstream of a channel takes for a model',
    body: creation,
    examples: {
      tokens: {
        channel: 'sandbox',
        model: 'txta-plus',
        unit: 'token',
        per_million: { input: '0.40', output: '1.00' },
      },
    },
    answer: costSchema,
    status: 201,
    returns: 'The version.',
    refusals: ['conflict'],
    handle: create,
  }),
  costRoute('POST /costs/import', {
    id: 'importCosts',
    summary: 'Make new versions of many costs, or show what a list would change',
    body: costImportRequest,
    maxBodyBytes: maxImportBytes,
    examples: {
      list: {
        yaml: 'costs:\n  - { channel: sandbox, model: txta-plus, unit: token, per_million: { input: "0.40", output: "1.00" } }\n',
        dry_run: true,
      },
    },
    answer: costImport,
    returns: 'What each line makes.',
    handle: importCosts,
  }),
  costRoute('DELETE /costs/:id', {
    id: 'deleteCost',
    summary: 'Withdraw a version of a cost that has not begun',
    param: 'Id of a cost.',
    answer: deleted,
    refusals: ['conflict', 'price_in_force'],
    handle: withdraw,
  }),
]
