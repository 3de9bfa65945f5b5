// What the company of the demonstration sells: models with prices, and the channels that serve them with
// what their upstreams take. All channels are the sandbox.
import type { Interface, ModelKind, Protocol } from '../contract/catalog.ts'

export interface DemoModel {
  name: string
  title: string
  kind: ModelKind
  interfaces: Interface[]
  protocols?: Protocol[]
  /** The terms of its price. */
  price: Record<string, unknown>
  /** Channels that serve it, best first. */
  channels: string[]
  /** Its name at the sandbox, where that knows certain names only. */
  upstream?: string
}

type Served = Pick<DemoModel, 'channels' | 'interfaces'>

const tokens = (input: string, output: string, cache_read?: string) => ({
  unit: 'token',
  per_million: { input, output, ...(cache_read !== undefined && { cache_read }) },
})

const text = (
  name: string,
  title: string,
  served: Served,
  ...rates: Parameters<typeof tokens>
): DemoModel => ({ name, title, kind: 'text', ...served, price: tokens(...rates) })

const openai: Served = {
  channels: ['openai-direct', 'azure-eu'],
  interfaces: ['chat', 'responses'],
}
const openaiAlone: Served = { channels: ['openai-direct'], interfaces: ['chat', 'responses'] }
const anthropic: Served = {
  channels: ['anthropic-direct', 'bedrock-frankfurt'],
  interfaces: ['messages'],
}
const google: Served = { channels: ['vertex-eu'], interfaces: ['generate'] }
const asia: Served = { channels: ['dashscope-sg'], interfaces: ['chat'] }
const open: Served = { channels: ['gpu-oslo', 'dashscope-sg'], interfaces: ['chat'] }

const embedding = (name: string, title: string, channel: string, input: string): DemoModel => ({
  name,
  title,
  kind: 'embedding',
  channels: [channel],
  interfaces: ['embeddings'],
  price: tokens(input, '0'),
})

const video = (
  name: string,
  title: string,
  upstream: string,
  ...[at720p, at1080p]: [string, string]
): DemoModel => ({
  name,
  title,
  kind: 'video',
  channels: ['video-studio'],
  interfaces: ['videos'],
  protocols: ['vf'],
  price: { unit: 'video_second', per_second: { '720p': at720p, '1080p': at1080p } },
  upstream,
})

const image = (name: string, title: string, channel: string, per_image: string): DemoModel => ({
  name,
  title,
  kind: 'image',
  channels: [channel],
  interfaces: ['images'],
  protocols: ['images'],
  price: { unit: 'image', per_image },
})

const call = (
  name: string,
  title: string,
  kind: ModelKind,
  use: Interface,
  price: Record<string, unknown>,
): DemoModel => ({ name, title, kind, channels: ['openai-direct'], interfaces: [use], price })

export const demoModels: readonly DemoModel[] = [
  text('gpt-5.2', 'GPT-5.2', openai, '1.75', '14.00', '0.175'),
  text('gpt-5-mini', 'GPT-5 mini', openai, '0.25', '2.00', '0.025'),
  text('gpt-5-nano', 'GPT-5 nano', openaiAlone, '0.05', '0.40', '0.005'),
  text('gpt-4.1', 'GPT-4.1', openai, '2.00', '8.00', '0.50'),
  text('gpt-4o-mini', 'GPT-4o mini', openai, '0.15', '0.60', '0.075'),
  text('o4-mini', 'o4-mini', openaiAlone, '1.10', '4.40', '0.275'),
  text('claude-opus-4.5', 'Claude Opus 4.5', anthropic, '5.00', '25.00', '0.50'),
  text('claude-sonnet-4.5', 'Claude Sonnet 4.5', anthropic, '3.30', '16.50', '0.33'),
  text('claude-haiku-4.5', 'Claude Haiku 4.5', anthropic, '1.00', '5.00', '0.10'),
  text('gemini-3-pro', 'Gemini 3 Pro', google, '2.00', '12.00', '0.20'),
  text('gemini-2.5-flash', 'Gemini 2.5 Flash', google, '0.30', '2.50', '0.03'),
  text('gemini-2.5-flash-lite', 'Gemini 2.5 Flash-Lite', google, '0.10', '0.40', '0.01'),
  text('qwen3-max', 'Qwen3 Max', asia, '1.20', '6.00', '0.24'),
  text('qwen-plus', 'Qwen Plus', asia, '0.40', '1.20'),
  text('kimi-k2', 'Kimi K2', asia, '0.60', '2.50', '0.15'),
  text('glm-4.6', 'GLM-4.6', asia, '0.60', '2.20', '0.11'),
  text('deepseek-v3.2', 'DeepSeek V3.2', asia, '0.28', '0.42', '0.028'),
  text('mistral-large', 'Mistral Large', open, '2.00', '6.00'),
  text('llama-4-maverick', 'Llama 4 Maverick', open, '0.27', '0.85'),
  embedding('text-embedding-3-large', 'Text embedding 3 large', 'openai-direct', '0.13'),
  embedding('text-embedding-3-small', 'Text embedding 3 small', 'openai-direct', '0.02'),
  embedding('bge-m3', 'BGE M3', 'gpu-oslo', '0.01'),
  call('rerank-v3.5', 'Rerank 3.5', 'rerank', 'rerank', { unit: 'search', per_search: '0.002' }),
  call('omni-moderation', 'Omni moderation', 'moderation', 'moderations', { unit: 'free' }),
  call('tts-hd', 'Text to speech HD', 'speech', 'speech', {
    unit: 'character',
    per_million: '30.00',
  }),
  call('whisper-large-v3', 'Whisper large v3', 'transcription', 'transcriptions', {
    unit: 'audio_second',
    per_minute: '0.006',
  }),
  image('gpt-image-1', 'GPT Image 1', 'openai-direct', '0.042'),
  image('qwen-image', 'Qwen Image', 'dashscope-sg', '0.028'),
  video('wan-2.5-t2v', 'Wan 2.5 text to video', 'vfa-2.7-t2v', '0.20', '0.30'),
  video('wan-2.5-i2v', 'Wan 2.5 image to video', 'vfa-2.7-i2v', '0.20', '0.30'),
  video('kling-2.5-t2v', 'Kling 2.5 text to video', 'vfb-1.1-t2v', '0.28', '0.42'),
]

interface DemoChannel {
  name: string
  protocols: Protocol[]
  priority: number
  /** The part of a price that its upstream takes, where there is no entry in `demoCosts`. */
  cost_factor?: string
  region?: string
}

const demoChannels: readonly DemoChannel[] = [
  {
    name: 'openai-direct',
    protocols: [
      ...(['chat', 'responses', 'embeddings', 'images', 'rerank', 'moderations'] as const),
      ...(['speech', 'transcriptions'] as const),
    ],
    priority: 10,
    cost_factor: '0.82',
  },
  { name: 'azure-eu', protocols: ['chat', 'responses'], priority: 5, cost_factor: '0.94' },
  { name: 'anthropic-direct', protocols: ['messages'], priority: 10, cost_factor: '0.86' },
  { name: 'bedrock-frankfurt', protocols: ['messages'], priority: 5, cost_factor: '0.97' },
  { name: 'vertex-eu', protocols: ['generate'], priority: 10, cost_factor: '0.80' },
  { name: 'dashscope-sg', protocols: ['chat', 'images'], priority: 8, cost_factor: '0.71' },
  { name: 'gpu-oslo', protocols: ['chat', 'embeddings'], priority: 10, cost_factor: '0.55' },
  { name: 'video-studio', protocols: ['vf'], priority: 10, cost_factor: '0.64' },
]

const deepseek = { channel: 'dashscope-sg', model: 'deepseek-v3.2' }

/** What is not a part of the price. */
export const demoCosts = [
  { ...deepseek, ...tokens('0.20', '0.31', '0.02') },
  { channel: 'openai-direct', model: 'gpt-5.2', ...tokens('1.25', '10.00', '0.125') },
  { channel: 'anthropic-direct', model: 'claude-opus-4.5', ...tokens('4.30', '21.50', '0.43') },
]

/** What an upstream takes since some days ago: more than is charged. */
export const raisedCost = { ...deepseek, ...tokens('0.29', '0.46', '0.029') }

export const demoModel = (name: string): DemoModel =>
  demoModels.find((model) => model.name === name)!

/** The configuration file, over a sandbox at these addresses that takes this key. */
export function demoFile(bases: Readonly<Record<Protocol, string>>, key: string): object {
  return {
    currency: 'USD',
    issuer: {
      name: 'Polaris Model Services GmbH',
      address: 'Speicherstraße 7\n20457 Hamburg\nGermany',
      tax_id: 'DE318 274 009',
      email: 'billing@polaris.example',
    },
    top_up: {
      text: 'Pay by bank transfer or by card; the balance is raised within an hour.',
      url: 'https://pay.polaris.example/top-up?account={account}',
    },
    channels: demoChannels.map(({ name, protocols, priority, cost_factor }) => ({
      name,
      keys: [key],
      protocols: Object.fromEntries(protocols.map((each) => [each, bases[each]])),
      models: Object.fromEntries(
        demoModels
          .filter(({ channels }) => channels.includes(name))
          .map((model) => [model.name, model.upstream ?? '*']),
      ),
      priority,
      cost_factor,
    })),
    models: demoModels.map(({ name, title, kind, interfaces, protocols }) => ({
      name,
      kind,
      interfaces,
      ...(protocols !== undefined && { protocols }),
      display_name: title,
      ...(kind === 'text' && { context_window: 400_000, max_output_tokens: 32_000 }),
    })),
  }
}
