// Presets of channels: what is known of providers before a key is given, and what a channel made from one
// would be.
import { presetEndpoint } from '../../contract/config-schema/channel/auth.ts'
import { resolveChannel } from '../../contract/config-schema/index.ts'
import { presets } from '../../contract/config-schema/names.ts'
import type { Preset } from '../../contract/config-schema/preset.ts'
import { listOf, pageOfList } from '../answers.ts'
import { channelCreation } from '../catalog/channel-body-schema.ts'
import { channel as channelSchema } from '../catalog/channel-schema.ts'
import { fromDeclaration, misplaced, sealed, storedView } from '../catalog/channel-store.ts'
import { forOperators } from '../permission.ts'
import { type Ask, routesOf, type View } from '../route.ts'
import { presetList, presetQuery, type preset as presetSchema } from './preset-schema.ts'

const presetView = (preset: Preset): View<typeof presetSchema> => ({
  name: preset.name,
  title: preset.title,
  group: preset.group,
  protocols: preset.protocols,
  endpoints: Object.fromEntries(
    Object.entries(preset.protocols).map(([protocol, address]) => [
      protocol,
      presetEndpoint(preset, protocol, address),
    ]),
  ),
  needs_base_url: preset.needsBaseUrl ?? false,
  needs_key: preset.keyless !== true,
  cloud: preset.cloud ?? null,
  key_form: preset.keyForm ?? null,
  models: preset.models,
  retention: preset.retention ?? null,
  training: preset.training ?? null,
  docs: preset.docs,
  notes: preset.notes ?? [],
})

/** As it would be stored; nothing is, and nothing is asked of the upstream. */
function preview({ engine, body, x }: Ask<{ body: typeof channelCreation }>) {
  const { disabled = false, ...declared } = body
  const made = fromDeclaration(engine, resolveChannel(declared), '')
  const channel = sealed(engine, { ...made, disabled }, x.atMs)
  return misplaced(engine, channel) ?? storedView(channel)
}

const route = routesOf({ tag: 'Channels', thing: 'preset', permission: forOperators })

export const presetRoutes = [
  route('GET /presets', {
    id: 'listPresets',
    summary: 'List presets of channels, by name',
    query: presetQuery,
    defaultLimit: 200,
    answer: presetList,
    handle: ({ page }) =>
      listOf(
        pageOfList(presets.values(), ({ name }) => name, page),
        presetView,
      ),
  }),
  route('POST /channels/preview', {
    id: 'previewChannel',
    summary: 'Show the channel that a declaration would make, with the URLs of its calls',
    description: 'Changes nothing and calls nothing.',
    body: channelCreation,
    examples: {
      preset: { preset: 'ollama', base_url: 'http://10.0.0.5:11434', name: 'example-preview' },
    },
    answer: channelSchema,
    returns: 'The channel.',
    refusals: ['conflict'],
    handle: preview,
  }),
]
