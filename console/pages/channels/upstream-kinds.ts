// What an upstream can be, for the first step of a new channel: which protocols it speaks and where
// they are below its base address.
import type { Preset as PresetAnswer } from '../../../src/admin/channels/preset-schema.ts'
import type { Messages } from '../../lib/texts.ts'
import type { messages } from './messages.ts'

type Word = typeof messages extends Messages<infer K> ? K : never

/** A provider that the gateway knows, as far as a new channel needs it. */
export type Preset = Pick<
  PresetAnswer,
  'name' | 'title' | 'protocols' | 'needs_base_url' | 'needs_key' | 'models' | 'cloud'
>

export interface Kind {
  id: string
  title: Word
  hint: Word
  /** Then addresses and models are the preset's. */
  preset?: Preset
  /** Protocol, and what is added to the base address. */
  protocols: Readonly<Record<string, string>>
  example: string
}

export const kinds: readonly Kind[] = [
  {
    id: 'text',
    title: 'kind_text',
    hint: 'kind_text_hint',
    protocols: { chat: '/v1', responses: '/v1', embeddings: '/v1', images: '/v1' },
    example: 'https://up.example',
  },
  {
    id: 'messages',
    title: 'kind_messages',
    hint: 'kind_messages_hint',
    protocols: { messages: '' },
    example: 'https://up.example',
  },
  {
    id: 'generate',
    title: 'kind_generate',
    hint: 'kind_generate_hint',
    protocols: { generate: '' },
    example: 'https://up.example',
  },
  {
    id: 'vf',
    title: 'kind_vf',
    hint: 'kind_vf_hint',
    protocols: { vf: '' },
    example: 'https://up.example',
  },
  {
    id: 'arkvendor',
    title: 'kind_arkvendor',
    hint: 'kind_arkvendor_hint',
    protocols: { arkvendor: '/api/v3' },
    example: 'https://up.example',
  },
  {
    id: 'vendorg',
    title: 'kind_vendorg',
    hint: 'kind_vendorg_hint',
    protocols: { vendorg: '' },
    example: 'https://up.example',
  },
  {
    id: 'imgvendor',
    title: 'kind_imgvendor',
    hint: 'kind_imgvendor_hint',
    protocols: { imgvendor: '' },
    example: 'https://up.example',
  },
]

export const kindOf = (preset: Preset): Kind => ({
  id: `preset ${preset.name}`,
  title: 'provider',
  hint: 'provider_hint',
  preset,
  protocols: preset.protocols,
  example: Object.values(preset.protocols).map((address) => new URL(address).origin)[0] ?? '',
})

/** Without a slash at the end, and with the path once, whether they were typed or not. */
export function addressesOf({ protocols }: Kind, base: string): Record<string, string> {
  const typed = base.trim().replace(/\/+$/, '')
  return Object.fromEntries(
    Object.entries(protocols).map(([protocol, path]) => [
      protocol,
      path !== '' && typed.endsWith(path) ? typed : typed + path,
    ]),
  )
}
