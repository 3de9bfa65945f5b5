// The built-in catalog: every model the gateway knows without configuration, and an initial price
// for each. Rows only; which channel serves a model is configuration.
import type { Interface, Model, ModelKind, Protocol } from '../contract/catalog.ts'
import { modelFrom, type PriceDeclaration } from '../contract/config-schema/index.ts'

interface Family {
  kind: ModelKind
  interfaces: Interface[]
  /** Absent where the interfaces' own protocols apply. */
  protocols?: Protocol[]
  context_window?: number
  max_output_tokens?: number
  max_tokens_per_image?: number
  names: readonly string[]
}

const families: readonly Family[] = [
  {
    kind: 'text',
    interfaces: ['chat', 'responses', 'messages', 'generate'],
    context_window: 1_000_000,
    max_output_tokens: 8192,
    max_tokens_per_image: 16_384,
    names: ['txta-plus', 'txta-turbo', 'txta-max', 'txta-vl-plus', 'txta-vl-long'],
  },
  {
    kind: 'embedding',
    interfaces: ['embeddings', 'generate'],
    context_window: 32_768,
    names: ['txta-embed'],
  },
  { kind: 'rerank', interfaces: ['rerank'], context_window: 32_768, names: ['rnka-plus'] },
  { kind: 'moderation', interfaces: ['moderations'], names: ['mdra-plus'] },
  { kind: 'speech', interfaces: ['speech'], names: ['ttsa-plus'] },
  { kind: 'transcription', interfaces: ['transcriptions'], names: ['asra-plus'] },
  {
    kind: 'image',
    interfaces: ['images'],
    protocols: ['images', 'vf'],
    names: ['imga-plus', 'imga-edit', 'imga-max'],
  },
  {
    kind: 'image',
    interfaces: ['imgvendor'],
    names: [
      'imgvendor-v1',
      'imgvendor-v1-5',
      'imgvendor-v2',
      'imgvendor-v2-new',
      'imgvendor-v2-1',
      'imgvendor-v3',
      'imgvendor-v3-omni',
      'imgvendor-image-o1',
    ],
  },
  {
    kind: 'video',
    interfaces: ['videos'],
    protocols: ['vf'],
    names: [
      'vfa-2.7-t2v',
      'vfa-2.7-i2v',
      'vfa-2.7-r2v',
      'vfa-2.7-videoedit',
      'vfb-1.1-t2v',
      'vfb-1.1-i2v',
      'vfb-1.1-r2v',
      'vfb-1.0-i2v',
      'vfb-1.0-r2v',
      'vfb-1.0-video-edit',
    ],
  },
  {
    kind: 'video',
    interfaces: ['arkvendor', 'videos'],
    names: [
      'vidmodel-1-5-pro',
      'vidmodel-1-0-pro',
      'vidmodel-1-0-pro-fast',
      'vidmodel-1-0-lite-t2v',
      'vidmodel-1-0-lite-i2v',
    ],
  },
  { kind: 'video', interfaces: ['vendorg', 'videos'], names: ['vendorg-video-1'] },
]

// Listed so that a request gets "wrong interface" rather than "unknown model": the vendor makes
// videos with it, and no interface of this gateway reaches those.
const unreachable: Model = {
  name: 'imgvendor-v2-5-turbo',
  kind: 'video',
  interfaces: [],
  protocols: ['imgvendor'],
  displayName: 'imgvendor-v2-5-turbo',
  ownedBy: 'imgvendor',
  source: 'builtin',
}

export const builtinModels: readonly Model[] = [
  ...families.flatMap(({ names, ...family }) =>
    names.map((name) => modelFrom({ name, ...family }, 'builtin')),
  ),
  unreachable,
]

interface CachePrices {
  cache_read?: string
  cache_write?: string
}

const perTokens = (
  model: string,
  input: string,
  output: string,
  cache: CachePrices = {},
): PriceDeclaration => ({ model, unit: 'token', per_million: { input, output, ...cache } })

const tier = (up_to: number, input: string, output: string, cache: CachePrices) => ({
  up_to,
  per_million: { input, output, ...cache },
})

const perImage = (model: string, per_image: string): PriceDeclaration => ({
  model,
  unit: 'image',
  per_image,
})

const perSecond = (model: string, at720p: string, at1080p: string): PriceDeclaration => ({
  model,
  unit: 'video_second',
  per_second: { '720p': at720p, '1080p': at1080p },
})

const perVideoTokens = (model: string, per_million: string): PriceDeclaration => ({
  model,
  unit: 'video_token',
  per_million,
})

/** Every term that a price of tokens can have, to be seen without a provider. */
const everyTerm: readonly PriceDeclaration[] = [
  {
    model: 'txta-max',
    unit: 'token',
    per_million: {
      input: '4.00',
      output: '16.00',
      cache_read: '0.40',
      cache_write: '5.00',
      cache_write_1h: '8.00',
      input_audio: '12.00',
      output_audio: '48.00',
      input_image: '6.00',
      output_image: '60.00',
    },
    service_tiers: {
      priority: { factor: '2' },
      flex: { factor: '0.5' },
      batch: { factor: '0.5' },
      fast: { per_million: { input: '24.00', output: '96.00', cache_read: '2.40' } },
    },
    geo: { us: { factor: '1.1' } },
    hours: [
      { from: '00:30', to: '08:30', zone: 'Asia/Shanghai', factor: '0.5' },
      { days: ['sat', 'sun'], from: '00:00', to: '00:00', zone: 'Asia/Shanghai', factor: '0.8' },
    ],
  },
  {
    model: 'imga-max',
    unit: 'token',
    per_million: { input: '5.00', output: '10.00', input_image: '8.00', output_image: '40.00' },
  },
]

export const builtinPrices: readonly PriceDeclaration[] = [
  perTokens('txta-plus', '0.80', '2.00', { cache_read: '0.08', cache_write: '1.00' }),
  perTokens('txta-turbo', '0.30', '0.60', { cache_read: '0.03', cache_write: '0.375' }),
  perTokens('txta-vl-plus', '1.00', '10.00', { cache_read: '0.10', cache_write: '1.25' }),
  ...everyTerm,
  {
    model: 'txta-vl-long',
    unit: 'token',
    tiers: [
      tier(32_000, '1.00', '10.00', { cache_read: '0.10', cache_write: '1.25' }),
      tier(128_000, '1.50', '15.00', { cache_read: '0.15', cache_write: '1.875' }),
      tier(256_000, '3.00', '30.00', { cache_read: '0.30', cache_write: '3.75' }),
    ],
  },
  perTokens('txta-embed', '0.50', '0'),
  { model: 'rnka-plus', unit: 'search', per_search: '0.014' },
  { model: 'mdra-plus', unit: 'free' },
  { model: 'ttsa-plus', unit: 'character', per_million: '100.00' },
  { model: 'asra-plus', unit: 'audio_second', per_minute: '0.042' },
  perImage('imga-plus', '0.20'),
  perImage('imga-edit', '0.30'),
  perImage('imgvendor-v1', '0.025'),
  perImage('imgvendor-v1-5', '0.10'),
  perImage('imgvendor-v2', '0.10'),
  perImage('imgvendor-v2-new', '0.10'),
  perImage('imgvendor-v2-1', '0.10'),
  perImage('imgvendor-v3', '0.20'),
  perImage('imgvendor-v3-omni', '0.20'),
  perImage('imgvendor-image-o1', '0.20'),
  perSecond('vfa-2.7-t2v', '0.60', '1.00'),
  perSecond('vfa-2.7-i2v', '0.60', '1.00'),
  perSecond('vfa-2.7-r2v', '0.60', '1.00'),
  perSecond('vfa-2.7-videoedit', '0.60', '1.00'),
  perSecond('vfb-1.1-t2v', '0.90', '1.20'),
  perSecond('vfb-1.1-i2v', '0.90', '1.20'),
  perSecond('vfb-1.1-r2v', '0.90', '1.20'),
  perSecond('vfb-1.0-i2v', '0.90', '1.60'),
  perSecond('vfb-1.0-r2v', '0.90', '1.60'),
  perSecond('vfb-1.0-video-edit', '0.90', '1.60'),
  perVideoTokens('vidmodel-1-5-pro', '16.00'),
  perVideoTokens('vidmodel-1-0-pro', '15.00'),
  perVideoTokens('vidmodel-1-0-pro-fast', '4.20'),
  perVideoTokens('vidmodel-1-0-lite-t2v', '10.00'),
  perVideoTokens('vidmodel-1-0-lite-i2v', '10.00'),
  perSecond('vendorg-video-1', '1.00', '1.50'),
  perSecond('imgvendor-v2-5-turbo', '0.30', '0.50'),
]
