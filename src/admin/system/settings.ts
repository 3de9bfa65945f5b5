// What this gateway runs with: the settings in force, what the file declares, and both as YAML in the
// words of gateway.yaml. Secrets are masked everywhere.
import { stringify } from 'yaml'
import type { Channel, Model } from '../../contract/catalog.ts'
import {
  declaredMembers,
  declaredTerms,
  keptMsOf,
  logKeepMs,
} from '../../contract/config-schema/index.ts'
import { capabilitiesView } from '../../contract/config-schema/translation.ts'
import type { Price } from '../../contract/price.ts'
import type { Declares, Offers } from '../../engine/base-deps.ts'
import { time } from '../answers.ts'
import { timeoutsView } from '../catalog/channel-store.ts'
import { forAdministrators } from '../permission.ts'
import { type AdminDeps, routesOf, type View } from '../route.ts'
import { settings as settingsSchema } from './system-schema.ts'
import { withoutSecrets } from './without-secrets.ts'

const dayMs = 86_400_000

export function settingsOf({ engine, limits }: AdminDeps): View<typeof settingsSchema> {
  const { file } = engine.declared
  const channels = file.channels.map(({ keys, ...rest }) => ({ ...rest, keys: keys.length }))
  const tokens = file.tokens.map(({ token, ...rest }) => ({
    ...rest,
    given: token !== undefined,
  }))
  const webhooks = file.webhooks.map(({ secret, ...rest }) => ({
    ...rest,
    given: secret !== undefined,
  }))
  return {
    public_url: engine.publicUrl,
    region: file.region,
    currency: file.currency,
    limits: { ...limits },
    engine_limits: { ...engine.limits },
    tasks: file.tasks ?? {},
    downloads: file.downloads ?? {},
    media: engine.media?.copies === true,
    callbacks: file.callbacks === undefined ? 'a secret for each account' : 'secret from the file',
    retention: {
      request_log_days: logKeepMs(file.logs) / dayMs,
      results_days: file.media === undefined ? null : keptMsOf(file.media) / dayMs,
    },
    file: {
      accounts: file.accounts,
      tokens,
      channels,
      models: file.models,
      prices: file.prices,
      webhooks,
    },
    yaml: { file: yamlOf(engine, file), effective: yamlOf(engine, effective(engine)) },
  }
}

const yamlOf = (engine: Parameters<typeof withoutSecrets>[0], value: object): string =>
  stringify(withoutSecrets(engine, value), { lineWidth: 0, aliasDuplicateObjects: false })

/** The file with what was added here; what ships with the gateway is in neither. */
function effective({ declared: { file }, catalog, prices }: Declares & Offers): object {
  const ours = <T extends { source: string }>(each: T) => each.source === 'api'
  return {
    ...file,
    channels: [...file.channels, ...catalog.channels.filter(ours).map(declaredChannel)],
    models: [...file.models, ...[...catalog.models.values()].filter(ours).map(declaredModel)],
    prices: [...file.prices, ...prices.active().filter(ours).map(declaredPrice)],
  }
}

const declaredChannel = (channel: Channel) => ({
  name: channel.name,
  region: channel.region,
  keys: channel.keys,
  protocols: channel.protocols,
  models: channel.models,
  priority: channel.priority,
  weight: channel.weight,
  timeouts: timeoutsView(channel),
  max_concurrency: channel.maxConcurrency,
  messages: channel.messages,
  ...(channel.translation !== undefined && { translation: channel.translation }),
  ...(channel.capabilities !== undefined && {
    capabilities: capabilitiesView(channel.capabilities),
  }),
  ...(channel.realm !== undefined && { realm: channel.realm }),
  ...(channel.affinity !== undefined && { affinity: channel.affinity }),
  ...(channel.autoCache && { auto_cache: true }),
  ...(channel.trace === false && { trace: false }),
})

function declaredModel(model: Model): object {
  const { name, kind, displayName: display_name, virtual, alias } = model
  if (alias !== undefined) return { name, alias, display_name }
  if (virtual === undefined) return plainModel(model)
  return { name, kind, virtual: declaredMembers(virtual), price: virtual.price, display_name }
}

const plainModel = (model: Model) => ({
  name: model.name,
  kind: model.kind,
  interfaces: model.interfaces,
  protocols: model.protocols,
  display_name: model.displayName,
  ...(model.contextWindow !== undefined && { context_window: model.contextWindow }),
  ...(model.maxOutputTokens !== undefined && { max_output_tokens: model.maxOutputTokens }),
  ...(model.maxTokensPerImage !== undefined && { max_tokens_per_image: model.maxTokensPerImage }),
  ...(model.translate === false && { translate: false }),
  ...(model.routing !== undefined && { routing: model.routing }),
})

const declaredPrice = ({ model, account, terms, effectiveFromMs }: Price) => ({
  model,
  ...(account !== undefined && { account: account.name }),
  ...declaredTerms(terms),
  effective_from: time(effectiveFromMs),
})

export const gatewayRoute = routesOf({
  tag: 'Gateway',
  thing: 'gateway',
  permission: forAdministrators,
})

export const settingsRoutes = [
  gatewayRoute('GET /settings', {
    id: 'getSettings',
    summary: 'What this gateway runs with, without secrets',
    answer: settingsSchema,
    returns: 'The settings.',
    handle: ({ deps }) => settingsOf(deps),
  }),
]
