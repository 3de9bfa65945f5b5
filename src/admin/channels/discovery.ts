// What an upstream has: compared with what its channel serves, and taken into the catalog if asked to.
import type { Channel } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import { announce, noTokens } from '../../engine/catalog/refresh.ts'
import { discoverModels } from '../../engine/routing/discover-models.ts'
import { upsertModel } from '../../store/catalog/models.ts'
import { auditChange } from '../answers.ts'
import { channelDiscovery, discoveryRequest } from '../catalog/channel-schema.ts'
import { changeChannel, find } from '../catalog/channel-store.ts'
import { forOperators } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import { type AdditionPlan, planAdditions } from './add-models.ts'

type Request = Ask<{ body: typeof discoveryRequest; found: Channel }>

async function discover(ask: Request) {
  const { engine, found, body } = ask
  const discovery = await discoverModels(engine, found)
  if (body.add !== true || !discovery.ok) return discovery
  const plan = planAdditions(engine, found, discovery.models, body.only)
  const refusal = await save(ask, plan)
  if (refusal !== undefined) return refusal
  return { ...discovery, added: plan.added, skipped: plan.skipped }
}

/** The catalog's entries and the channel's list in one transaction. */
async function save({ engine, found, x }: Request, plan: AdditionPlan) {
  const changed = await engine.store.tx(async (tx) => {
    for (const model of plan.models) {
      await upsertModel(tx, model, x.atMs)
      const after = { name: model.name, kind: model.kind, interfaces: model.interfaces }
      await auditChange(tx, x, { action: 'model.put', subject: model.name, after })
    }
    if (Object.keys(plan.served).length === 0) return undefined
    const models = { ...found.models, ...plan.served }
    return changeChannel(engine, tx, x, found.id, { models })
  })
  if (changed instanceof Refusal) return changed
  await announce(engine, noTokens)
  return undefined
}

const route = routesOf({
  tag: 'Channels',
  thing: 'channel',
  param: 'Id or name of a channel.',
  permission: forOperators,
  find,
})

export const discoveryRoutes = [
  route('POST /channels/:id/discover', {
    id: 'discoverModels',
    summary: 'Ask an upstream which models it has, compare, and add them',
    description:
      'Changes nothing without `add`; with it, models become entries of the catalog that the channel ' +
      'serves. They can be called once they have prices. Answers 200 either way.',
    body: discoveryRequest,
    optionalBody: true,
    examples: { all: { add: true }, some: { add: true, only: 'gpt-*' } },
    answer: channelDiscovery,
    returns: 'What it has, and what it no longer has.',
    refusals: ['conflict'],
    handle: discover,
  }),
]
