// Models in the forms of the two public lists, and what a call costs: tokens times dollars per million, written out by
// hand. Where the makers say their rates is in maker-pages.ts, and which rates of a row nobody but a list has.
//   In LiteLLM's form: a stored copy of its public list, of August 2026, except for gpt-5.6, which has its maker's rates of
//   November, and for two rows, which say so.
//   In the form of models.dev: a fact sheet of November 2026, put into that form; none is copied from its file, and what
//   the sheet did not have is assumed, as the rows say.
//   `search` (platform.claude.com/docs, "Web search tool"), `compaction` (the same, "Compaction") and `cached`
//   (developers.openai.com/api/docs, "Prompt caching") are usage reports that the makers publish as examples; `hour`,
//   `long` and those of Gemini are made after them, to reach the other rates.
import type { Style } from '../support/priced-upstream.ts'

/** Tokens, and dollars per million of them. */
type Line = readonly [tokens: number, rate: string]

export interface MakerCase {
  list: 'litellm' | 'models.dev'
  model: string
  /** As the list has it. For models.dev: the cost, or all of the model. */
  entry: Readonly<Record<string, unknown>>
  style: Style | 'images'
  usage: Readonly<Record<string, unknown>>
  /** As the answer names them. */
  served?: { tier?: string; speed?: string; geo?: string }
  /** At the rates of the entry. */
  lines: readonly Line[]
  /** Dollars beside the tokens. */
  calls?: string
  /** Fields of the list that have to be told as not carried. */
  lost?: readonly string[]
}

export const cached = {
  prompt_tokens: 2_006,
  completion_tokens: 300,
  total_tokens: 2_306,
  prompt_tokens_details: { cached_tokens: 1_920 },
}
const hello = { prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 }
const long = { prompt_tokens: 300_000, completion_tokens: 300, total_tokens: 300_300 }
const search = {
  input_tokens: 105,
  output_tokens: 6_039,
  cache_read_input_tokens: 7_123,
  cache_creation_input_tokens: 7_345,
  server_tool_use: { web_search_requests: 1 },
}
const { server_tool_use: _, ...plain } = search
const hour = {
  ...plain,
  cache_creation: { ephemeral_5m_input_tokens: 345, ephemeral_1h_input_tokens: 7_000 },
}
const compaction = {
  input_tokens: 23_000,
  output_tokens: 1_000,
  iterations: [
    { type: 'compaction', input_tokens: 180_000, output_tokens: 3_500 },
    { type: 'message', input_tokens: 23_000, output_tokens: 1_000 },
  ],
}
const metadata = (prompt: number, candidates: number, more: object = {}) => ({
  promptTokenCount: prompt,
  candidatesTokenCount: candidates,
  totalTokenCount: prompt + candidates,
  ...more,
})

const openai = { litellm_provider: 'openai', mode: 'chat', max_output_tokens: 128_000 }
const anthropic = { litellm_provider: 'anthropic', mode: 'chat', max_output_tokens: 128_000 }
const google = { litellm_provider: 'gemini', mode: 'chat', max_output_tokens: 65_536 }
const searches = (each: number) => ({
  search_context_cost_per_query: {
    search_context_size_low: each,
    search_context_size_medium: each,
    search_context_size_high: each,
  },
})
const uplift = {
  regional_processing_uplift_multiplier_eu: 1.1,
  regional_processing_uplift_multiplier_us: 1.1,
}
const uplifts = Object.keys(uplift)

const sol = {
  ...openai,
  ...uplift,
  cache_creation_input_token_cost: 5e-6,
  cache_creation_input_token_cost_above_272k_tokens: 1e-5,
  cache_creation_input_token_cost_flex: 2.5e-6,
  cache_creation_input_token_cost_priority: 1e-5,
  cache_read_input_token_cost: 4e-7,
  cache_read_input_token_cost_above_272k_tokens: 8e-7,
  cache_read_input_token_cost_flex: 2e-7,
  cache_read_input_token_cost_priority: 8e-7,
  input_cost_per_token: 4e-6,
  input_cost_per_token_above_272k_tokens: 8e-6,
  input_cost_per_token_batches: 2e-6,
  input_cost_per_token_flex: 2e-6,
  input_cost_per_token_priority: 8e-6,
  output_cost_per_token: 2e-5,
  output_cost_per_token_above_272k_tokens: 3e-5,
  output_cost_per_token_batches: 1e-5,
  output_cost_per_token_flex: 1e-5,
  output_cost_per_token_priority: 4e-5,
}
const gpt54 = {
  ...openai,
  ...uplift,
  cache_read_input_token_cost: 2.5e-7,
  cache_read_input_token_cost_above_272k_tokens: 5e-7,
  cache_read_input_token_cost_flex: 1.3e-7,
  cache_read_input_token_cost_priority: 5e-7,
  input_cost_per_token: 2.5e-6,
  input_cost_per_token_above_272k_tokens: 5e-6,
  input_cost_per_token_batches: 1.25e-6,
  input_cost_per_token_flex: 1.25e-6,
  input_cost_per_token_priority: 5e-6,
  output_cost_per_token: 1.5e-5,
  output_cost_per_token_above_272k_tokens: 2.25e-5,
  output_cost_per_token_batches: 7.5e-6,
  output_cost_per_token_flex: 7.5e-6,
  output_cost_per_token_priority: 3e-5,
}
const pro = {
  ...openai,
  ...uplift,
  mode: 'responses',
  cache_read_input_token_cost: 3e-6,
  cache_read_input_token_cost_above_272k_tokens: 6e-6,
  input_cost_per_token: 3e-5,
  input_cost_per_token_above_272k_tokens: 6e-5,
  input_cost_per_token_flex: 1.5e-5,
  input_cost_per_token_batches: 1.5e-5,
  output_cost_per_token: 0.00018,
  output_cost_per_token_above_272k_tokens: 0.00027,
  output_cost_per_token_flex: 9e-5,
  output_cost_per_token_batches: 9e-5,
}
const mini = (input: number, output: number, isPriority = true) => ({
  ...openai,
  ...uplift,
  cache_read_input_token_cost: input / 10,
  cache_read_input_token_cost_flex: input / 20,
  input_cost_per_token: input,
  input_cost_per_token_flex: input / 2,
  input_cost_per_token_batches: input / 2,
  output_cost_per_token: output,
  output_cost_per_token_flex: output / 2,
  output_cost_per_token_batches: output / 2,
  ...(isPriority && {
    cache_read_input_token_cost_priority: input / 5,
    input_cost_per_token_priority: input * 2,
    output_cost_per_token_priority: output * 2,
  }),
})
const older = (input: number, output: number) => ({
  ...openai,
  cache_read_input_token_cost: input / 10,
  cache_read_input_token_cost_priority: input / 5,
  input_cost_per_token: input,
  input_cost_per_token_priority: input * 2,
  output_cost_per_token: output,
  output_cost_per_token_priority: output * 2,
})
const claude = (input: string, more: object = {}) => ({
  ...anthropic,
  ...searches(0.01),
  ...claudes[input],
  ...more,
})
const claudes: Readonly<Record<string, object>> = {
  2: {
    cache_creation_input_token_cost: 2.5e-6,
    cache_creation_input_token_cost_above_1hr: 4e-6,
    cache_read_input_token_cost: 2e-7,
    input_cost_per_token: 2e-6,
    output_cost_per_token: 1e-5,
  },
  3: {
    cache_creation_input_token_cost: 3.75e-6,
    cache_creation_input_token_cost_above_1hr: 6e-6,
    cache_read_input_token_cost: 3e-7,
    input_cost_per_token: 3e-6,
    output_cost_per_token: 1.5e-5,
  },
  5: {
    cache_creation_input_token_cost: 6.25e-6,
    cache_creation_input_token_cost_above_1hr: 1e-5,
    cache_read_input_token_cost: 5e-7,
    input_cost_per_token: 5e-6,
    output_cost_per_token: 2.5e-5,
  },
  10: {
    cache_creation_input_token_cost: 1.25e-5,
    cache_creation_input_token_cost_above_1hr: 2e-5,
    cache_read_input_token_cost: 1e-6,
    input_cost_per_token: 1e-5,
    output_cost_per_token: 5e-5,
  },
  15: {
    cache_creation_input_token_cost: 1.875e-5,
    cache_creation_input_token_cost_above_1hr: 3e-5,
    cache_read_input_token_cost: 1.5e-6,
    input_cost_per_token: 1.5e-5,
    output_cost_per_token: 7.5e-5,
  },
}
const flash = (input: number, output: number, audio: number, priority: object) => ({
  ...google,
  ...searches(0.014),
  cache_read_input_token_cost: input / 10,
  input_cost_per_audio_token: audio,
  input_cost_per_token: input,
  output_cost_per_reasoning_token: output,
  output_cost_per_token: output,
  ...priority,
})

const inLitellm: readonly Omit<MakerCase, 'list'>[] = [
  {
    model: 'gpt-5.6',
    entry: sol,
    style: 'chat',
    usage: cached,
    lines: [
      [86, '4'],
      [1_920, '0.4'],
      [300, '20'],
    ],
    lost: uplifts,
  },
  {
    model: 'gpt-5.6-sol',
    entry: sol,
    style: 'chat',
    usage: cached,
    served: { tier: 'priority' },
    lines: [
      [86, '8'],
      [1_920, '0.8'],
      [300, '40'],
    ],
  },
  {
    model: 'gpt-5.3-chat-latest',
    entry: older(1.75e-6, 1.4e-5),
    style: 'chat',
    usage: hello,
    served: { tier: 'default' },
    lines: [
      [19, '1.75'],
      [10, '14'],
    ],
  },
  {
    model: 'gpt-5.4',
    entry: gpt54,
    style: 'chat',
    usage: hello,
    served: { tier: 'flex' },
    lines: [
      [19, '1.25'],
      [10, '7.5'],
    ],
    lost: ['cache_read_input_token_cost_flex', ...uplifts],
  },
  {
    model: 'gpt-5.4-2026-03-05',
    entry: gpt54,
    style: 'chat',
    usage: long,
    lines: [
      [300_000, '5'],
      [300, '22.5'],
    ],
  },
  {
    model: 'gpt-5.5-pro',
    entry: pro,
    style: 'responses',
    usage: { input_tokens: 36, output_tokens: 87, total_tokens: 123 },
    lines: [
      [36, '30'],
      [87, '180'],
    ],
  },
  {
    model: 'gpt-5.4-pro',
    entry: pro,
    style: 'responses',
    usage: { input_tokens: 36, output_tokens: 87, total_tokens: 123 },
    served: { tier: 'batch' },
    lines: [
      [36, '15'],
      [87, '90'],
    ],
  },
  {
    model: 'gpt-5.4-mini',
    entry: mini(7.5e-7, 4.5e-6),
    style: 'chat',
    usage: cached,
    served: { tier: 'priority' },
    lines: [
      [86, '1.5'],
      [1_920, '0.15'],
      [300, '9'],
    ],
  },
  {
    model: 'gpt-5.4-nano',
    entry: mini(2e-7, 1.25e-6, false),
    style: 'chat',
    usage: cached,
    served: { tier: 'flex' },
    lines: [
      [86, '0.1'],
      [1_920, '0.01'],
      [300, '0.625'],
    ],
  },
  {
    model: 'gpt-5.1',
    entry: older(1.25e-6, 1e-5),
    style: 'chat',
    usage: cached,
    lines: [
      [86, '1.25'],
      [1_920, '0.125'],
      [300, '10'],
    ],
  },
  {
    model: 'gpt-5.2',
    entry: older(1.75e-6, 1.4e-5),
    style: 'chat',
    usage: cached,
    served: { tier: 'priority' },
    lines: [
      [86, '3.5'],
      [1_920, '0.35'],
      [300, '28'],
    ],
  },
  {
    model: 'gpt-5.2-pro',
    entry: {
      ...openai,
      mode: 'responses',
      input_cost_per_token: 2.1e-5,
      output_cost_per_token: 0.000168,
    },
    style: 'responses',
    usage: { input_tokens: 328, output_tokens: 52, total_tokens: 380 },
    lines: [
      [328, '21'],
      [52, '168'],
    ],
  },
  {
    // Not of the list: the form of the name, the place and the search are those of its siblings there.
    model: 'claude-sonnet-5',
    entry: claude('2', { provider_specific_entry: { us: 1.1 } }),
    style: 'messages',
    usage: search,
    lines: [
      [105, '2'],
      [7_123, '0.2'],
      [7_345, '2.5'],
      [6_039, '10'],
    ],
    calls: '0.01',
  },
  {
    model: 'claude-sonnet-4-6',
    entry: claude('3'),
    style: 'messages',
    usage: hour,
    lines: [
      [105, '3'],
      [7_123, '0.3'],
      [345, '3.75'],
      [7_000, '6'],
      [6_039, '15'],
    ],
  },
  {
    model: 'claude-sonnet-4-5-20250929-v1:0',
    entry: claude('3', {
      litellm_provider: 'bedrock',
      cache_creation_input_token_cost_above_1hr_above_200k_tokens: 1.2e-5,
      input_cost_per_token_above_200k_tokens: 6e-6,
      output_cost_per_token_above_200k_tokens: 2.25e-5,
      cache_creation_input_token_cost_above_200k_tokens: 7.5e-6,
      cache_read_input_token_cost_above_200k_tokens: 6e-7,
    }),
    style: 'messages',
    usage: { ...hour, input_tokens: 200_105 },
    lines: [
      [200_105, '6'],
      [7_123, '0.6'],
      [345, '7.5'],
      [7_000, '12'],
      [6_039, '22.5'],
    ],
  },
  {
    model: 'claude-opus-4-1',
    entry: claude('15'),
    style: 'messages',
    usage: search,
    lines: [
      [105, '15'],
      [7_123, '1.5'],
      [7_345, '18.75'],
      [6_039, '75'],
    ],
    calls: '0.01',
  },
  {
    model: 'claude-opus-4-5',
    entry: claude('5'),
    style: 'messages',
    usage: compaction,
    lines: [
      [203_000, '5'],
      [4_500, '25'],
    ],
  },
  {
    model: 'claude-opus-4-6',
    entry: claude('5', { provider_specific_entry: { us: 1.1, fast: 6.0 } }),
    style: 'messages',
    usage: plain,
    served: { speed: 'fast' },
    lines: [
      [105, '30'],
      [7_123, '3'],
      [7_345, '37.5'],
      [6_039, '150'],
    ],
  },
  {
    model: 'claude-opus-4-7',
    entry: claude('5', { provider_specific_entry: { us: 1.1, fast: 6.0 } }),
    style: 'messages',
    usage: plain,
    served: { geo: 'us' },
    lines: [
      [105, '5.5'],
      [7_123, '0.55'],
      [7_345, '6.875'],
      [6_039, '27.5'],
    ],
  },
  {
    model: 'claude-fable-5',
    entry: claude('10', { provider_specific_entry: { us: 1.1 } }),
    style: 'messages',
    usage: { input_tokens: 2_095, output_tokens: 503 },
    lines: [
      [2_095, '10'],
      [503, '50'],
    ],
  },
  {
    model: 'gemini-3.1-pro-preview',
    entry: {
      ...google,
      ...searches(0.014),
      cache_read_input_token_cost: 2e-7,
      cache_read_input_token_cost_above_200k_tokens: 4e-7,
      cache_read_input_token_cost_priority: 3.6e-7,
      cache_read_input_token_cost_above_200k_tokens_priority: 7.2e-7,
      input_cost_per_token: 2e-6,
      input_cost_per_token_above_200k_tokens: 4e-6,
      input_cost_per_token_batches: 1e-6,
      input_cost_per_token_priority: 3.6e-6,
      input_cost_per_token_above_200k_tokens_priority: 7.2e-6,
      output_cost_per_token: 1.2e-5,
      output_cost_per_token_above_200k_tokens: 1.8e-5,
      output_cost_per_token_batches: 6e-6,
      output_cost_per_token_priority: 2.16e-5,
      output_cost_per_token_above_200k_tokens_priority: 3.24e-5,
    },
    style: 'generate',
    usage: metadata(250_000, 500),
    served: { tier: 'priority' },
    lines: [
      [250_000, '7.2'],
      [500, '32.4'],
    ],
  },
  {
    model: 'gemini-3-flash-preview',
    entry: flash(5e-7, 3e-6, 1e-6, {
      input_cost_per_token_priority: 9e-7,
      input_cost_per_audio_token_priority: 1.8e-6,
      output_cost_per_token_priority: 5.4e-6,
      cache_read_input_token_cost_priority: 9e-8,
    }),
    style: 'generate',
    usage: metadata(1_000, 50, { promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 800 }] }),
    served: { tier: 'priority' },
    lines: [
      [200, '0.9'],
      [800, '1.8'],
      [50, '5.4'],
    ],
  },
  {
    model: 'gemini-3.5-flash',
    entry: flash(1.5e-6, 9e-6, 1e-6, {}),
    style: 'generate',
    usage: metadata(1_000, 50, { promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 800 }] }),
    lines: [
      [200, '1.5'],
      [800, '1'],
      [50, '9'],
    ],
  },
  {
    model: 'gemini-omni-flash-preview',
    entry: {
      ...google,
      input_cost_per_audio_token: 1.5e-6,
      input_cost_per_token: 1.5e-6,
      output_cost_per_reasoning_token: 9e-6,
      output_cost_per_token: 9e-6,
      output_cost_per_video_token: 1.75e-5,
    },
    style: 'generate',
    usage: metadata(8, 11),
    lines: [
      [8, '1.5'],
      [11, '9'],
    ],
    lost: ['output_cost_per_video_token'],
  },
  {
    // Rates of another public table, not of the list.
    model: 'gemini-3-pro-image-preview',
    entry: {
      ...google,
      input_cost_per_token: 2e-6,
      output_cost_per_token: 1.2e-5,
      output_cost_per_image_token: 0.00012,
    },
    style: 'generate',
    usage: metadata(10, 1_120, {
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_120 }],
    }),
    lines: [
      [10, '2'],
      [1_120, '120'],
    ],
  },
  {
    // Rates of two other public tables, not of the list.
    model: 'gpt-image-1',
    entry: {
      litellm_provider: 'openai',
      mode: 'image_generation',
      input_cost_per_token: 5e-6,
      input_cost_per_image_token: 1e-5,
      output_cost_per_image_token: 4e-5,
    },
    style: 'images',
    usage: {
      total_tokens: 100,
      input_tokens: 50,
      output_tokens: 50,
      input_tokens_details: { text_tokens: 10, image_tokens: 40 },
    },
    lines: [
      [10, '5'],
      [40, '10'],
      [50, '40'],
    ],
  },
]

const cost = (input: number, read: number, write: number | undefined, output: number) => ({
  input,
  output,
  cache_read: read,
  ...(write !== undefined && { cache_write: write }),
})

const inModelsDev: readonly Omit<MakerCase, 'list'>[] = [
  {
    model: 'claude-fable-5-1',
    entry: { cost: cost(10, 0.25, 12.5, 50) },
    style: 'messages',
    usage: hour,
    lines: [
      [105, '10'],
      [7_123, '0.25'],
      [345, '12.5'],
      [7_000, '20'],
      [6_039, '50'],
    ],
  },
  {
    // Twice the rates for `fast` is assumed.
    model: 'claude-opus-5-5',
    entry: {
      cost: cost(4, 0.2, 5, 20),
      experimental: {
        modes: { fast: { cost: cost(8, 0.4, 10, 40), provider: { body: { speed: 'fast' } } } },
      },
    },
    style: 'messages',
    usage: hour,
    served: { speed: 'fast' },
    lines: [
      [105, '8'],
      [7_123, '0.4'],
      [345, '10'],
      [7_000, '16'],
      [6_039, '40'],
    ],
  },
  {
    model: 'claude-sonnet-5-5',
    entry: { cost: cost(2, 0.1, 2.5, 10) },
    style: 'messages',
    usage: compaction,
    lines: [
      [203_000, '2'],
      [4_500, '10'],
    ],
  },
  {
    model: 'claude-haiku-5-5',
    entry: {
      cost: {
        ...cost(0.1, 0.01, 0.125, 0.5),
        tiers: [{ ...cost(0.5, 0.05, 0.625, 2.5), tier: { type: 'context', size: 100_000 } }],
      },
    },
    style: 'messages',
    usage: { ...hour, input_tokens: 100_105 },
    lines: [
      [100_105, '0.5'],
      [7_123, '0.05'],
      [345, '0.625'],
      [7_000, '1'],
      [6_039, '2.5'],
    ],
  },
  {
    model: 'gpt-6-astra',
    entry: {
      cost: cost(10, 1, 12.5, 50),
      experimental: {
        modes: {
          ultrafast: {
            cost: cost(60, 6, 75, 300),
            provider: { body: { service_tier: 'ultrafast' } },
          },
        },
      },
    },
    style: 'chat',
    usage: cached,
    served: { tier: 'ultrafast' },
    lines: [
      [86, '60'],
      [1_920, '6'],
      [300, '300'],
    ],
  },
  {
    model: 'gpt-6-sol',
    entry: { cost: cost(2, 0.2, 2.5, 10) },
    style: 'chat',
    usage: { ...cached, prompt_tokens_details: { cached_tokens: 1_920, cache_write_tokens: 64 } },
    lines: [
      [22, '2'],
      [1_920, '0.2'],
      [64, '2.5'],
      [300, '10'],
    ],
  },
  {
    // The rate of reasoning is assumed.
    model: 'gpt-6-luna',
    entry: { cost: { ...cost(0.1, 0.01, 0.125, 0.5), reasoning: 0.7 } },
    style: 'chat',
    usage: cached,
    lines: [
      [86, '0.1'],
      [1_920, '0.01'],
      [300, '0.5'],
    ],
    lost: ['cost.reasoning'],
  },
  {
    model: 'grok-4.7',
    entry: {
      cost: { ...cost(2, 0.5, undefined, 6), context_over_200k: cost(4, 1, undefined, 12) },
    },
    style: 'chat',
    usage: long,
    lines: [
      [300_000, '4'],
      [300, '12'],
    ],
  },
  {
    // The rate of audio is assumed.
    model: 'gemini-3.8-flash',
    entry: { cost: { ...cost(0.75, 0.075, undefined, 3.75), input_audio: 1 } },
    style: 'generate',
    usage: metadata(1_000, 50, {
      cachedContentTokenCount: 100,
      promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 200 }],
    }),
    lines: [
      [700, '0.75'],
      [100, '0.075'],
      [200, '1'],
      [50, '3.75'],
    ],
  },
  {
    model: 'deepseek-flash',
    entry: { cost: cost(0.15, 0.003, undefined, 0.6) },
    style: 'chat',
    usage: {
      prompt_tokens: 2_006,
      completion_tokens: 300,
      prompt_cache_hit_tokens: 1_920,
      prompt_cache_miss_tokens: 86,
    },
    lines: [
      [86, '0.15'],
      [1_920, '0.003'],
      [300, '0.6'],
    ],
  },
  {
    model: 'kimi-k3.1-pro',
    entry: { cost: cost(2, 0.2, 2, 10) },
    style: 'chat',
    usage: cached,
    lines: [
      [86, '2'],
      [1_920, '0.2'],
      [300, '10'],
    ],
  },
  {
    model: 'glm-5.3',
    entry: { cost: cost(1.4, 0.26, undefined, 4.4) },
    style: 'chat',
    usage: cached,
    lines: [
      [86, '1.4'],
      [1_920, '0.26'],
      [300, '4.4'],
    ],
  },
]

export const makerCases: readonly MakerCase[] = [
  ...inLitellm.map((each) => ({ list: 'litellm' as const, ...each })),
  ...inModelsDev.map((each) => ({ list: 'models.dev' as const, ...each })),
]

/** The whole file of a list. */
export const listOf = (list: MakerCase['list']): object => {
  const own = makerCases.filter((each) => each.list === list)
  const entries = Object.fromEntries(own.map(({ model, entry }) => [model, entry]))
  return list === 'litellm' ? entries : { maker: { models: entries } }
}
