// How a channel takes calls of other text styles than its own.
import { z } from 'zod'
import type { Channel, TranslationSettings } from '../catalog.ts'
import { name, strict } from './fields.ts'

const yes = (description: string) => z.boolean().meta({ description }).optional()

/** What its upstream can do, where that is not as usual for its style. */
export const capabilitiesDeclaration = strict({
  instructions: z
    .enum(['first', 'anywhere'])
    .meta({ description: 'Where instructions may stand. Default: first; responses: anywhere.' })
    .optional(),
  documents: yes('It takes documents. Default true; chat: false.'),
  media_urls: yes('It fetches media by URL. Default true.'),
  cache_control: yes('It reads cache_control on parts. Default false; messages: true.'),
  max_tokens_field: z
    .enum(['max_tokens', 'max_completion_tokens'])
    .meta({ description: 'Its name of the output limit (chat). Default max_tokens.' })
    .optional(),
  replay_reasoning: yes('It wants the reasoning of earlier turns back as text. Default false.'),
  output_schema: yes('It takes a JSON schema for the output. Default true.'),
  free_form_tools: yes('It takes tools with free text as input. Default false; responses: true.'),
  media_in_results: yes('It takes media in the results of tools (generate). Default true.'),
  stream_options: yes(
    'It takes stream_options (chat); false: it reports usage in streams unasked. Default true.',
  ),
  background: yes(
    'It makes responses in the background (responses); false: the gateway makes them. Default true.',
  ),
  reasoning: z
    .enum(['effort', 'budget', 'none'])
    .meta({ description: 'How it is told to reason. Default effort.' })
    .optional(),
})

export const translationModes = ['on', 'strict', 'off'] as const

export const translationMode = z.enum(translationModes).meta({
  description:
    'Calls of other text styles: on translates them, strict refuses those that would lose something, off refuses all. Default on.',
})

export const realmName = name(
  'Channels of one text style and one realm accept sealed reasoning of each other. Default: the host of the base URL.',
)

interface Declared {
  translation?: (typeof translationModes)[number] | undefined
  capabilities?: z.infer<typeof capabilitiesDeclaration> | undefined
  realm?: string | undefined
}

export function translationFrom({
  translation,
  capabilities,
  realm,
}: Declared): Pick<Channel, 'translation' | 'capabilities' | 'realm'> {
  return {
    ...(translation !== undefined && translation !== 'on' && { translation }),
    ...(capabilities !== undefined && { capabilities: settingsFrom(capabilities) }),
    ...(realm !== undefined && { realm }),
  }
}

const fields = {
  instructions: 'instructions',
  documents: 'documents',
  media_urls: 'mediaUrls',
  cache_control: 'cacheControl',
  max_tokens_field: 'maxTokensField',
  replay_reasoning: 'replayReasoning',
  output_schema: 'outputSchema',
  free_form_tools: 'freeFormTools',
  media_in_results: 'mediaInResults',
  stream_options: 'streamOptions',
  background: 'background',
  reasoning: 'reasoning',
} as const satisfies Record<
  keyof z.infer<typeof capabilitiesDeclaration>,
  keyof TranslationSettings
>

const settingsFrom = (
  declared: NonNullable<Declared['capabilities']>,
): Partial<TranslationSettings> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const value = declared[name as keyof typeof fields]
      return value === undefined ? [] : [[field, value]]
    }),
  )

/** The same as it is declared. */
export const capabilitiesView = (
  settings: Partial<TranslationSettings> = {},
): NonNullable<Declared['capabilities']> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) =>
      settings[field] === undefined ? [] : [[name, settings[field]]],
    ),
  )
