// The provider packages of the AI SDK that fit an interface of the gateway, and how each is told what
// is not the same for all.
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, type generateText, type LanguageModel } from 'ai'
import type { Interface } from '../../src/contract/catalog.ts'
import { type Over, type Stage, thrownBy, tokens } from './stage.ts'

export type ProviderOptions = NonNullable<Parameters<typeof generateText>[0]['providerOptions']>

interface Settings {
  apiKey: string
  baseURL: string
}

export interface Way {
  way: string
  used: Interface
  open(given: Settings, model: string): LanguageModel
  /** Where the version of the API stands in the address. */
  base?: string
  /** Besides what a call says itself. */
  options?(over: Over): ProviderOptions
  /** Whether it brings seals on reasoning back to such an upstream. */
  keepsSeals(over: Over): boolean
  /** Asks for reasoning that is shown; absent: it shows none. */
  reasons?: ProviderOptions
  /** The ways to ask for an object. */
  objects?: readonly ProviderOptions[]
}

/** What every call of one way over one upstream has; the model needs the gateway to run. */
export type Asking = () => {
  maxRetries: number
  maxOutputTokens: number
  model: LanguageModel
  providerOptions: ProviderOptions
}

export const compatible = (given: Settings) =>
  createOpenAICompatible({
    name: 'gateway',
    includeUsage: true,
    supportsStructuredOutputs: true,
    ...given,
  })

/** Text and reasoning that are kept upstream are referred to otherwise, which cannot be translated. */
const keepsNothing = ({ wire }: Over): ProviderOptions =>
  wire === 'responses' ? {} : { openai: { store: false } }

/** Those of calls, which only upstreams of the generate style make. */
const ofCalls = ({ wire }: Over): boolean => wire === 'generate'

export const ways: readonly Way[] = [
  {
    way: '@ai-sdk/openai-compatible',
    used: 'chat',
    open: (given, model) => compatible(given)(model),
    keepsSeals: ofCalls,
    reasons: { gateway: { reasoningEffort: 'low', include_reasoning: true } },
  },
  {
    way: '@ai-sdk/openai',
    used: 'responses',
    open: (given, model) => createOpenAI(given)(model),
    options: keepsNothing,
    keepsSeals: () => true,
    reasons: {
      openai: {
        forceReasoning: true,
        reasoningEffort: 'low',
        reasoningSummary: 'auto',
        store: false,
      },
    },
  },
  {
    way: '@ai-sdk/openai, chat',
    used: 'chat',
    open: (given, model) => createOpenAI(given).chat(model),
    keepsSeals: () => false,
  },
  {
    way: '@ai-sdk/anthropic',
    used: 'messages',
    open: (given, model) => createAnthropic(given)(model),
    keepsSeals: () => true,
    reasons: {
      anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } },
    },
    objects: [{}, { anthropic: { structuredOutputMode: 'outputFormat' } }],
  },
  {
    way: '@ai-sdk/google',
    used: 'generate',
    base: '/vendorg/v1beta',
    open: (given, model) => createGoogleGenerativeAI(given)(model),
    keepsSeals: () => true,
    reasons: { google: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1_024 } } },
  },
]

export const settingsOf = ({ gateway }: Stage, apiKey = tokens.usual, base = '/v1'): Settings => ({
  apiKey,
  baseURL: gateway.url + base,
})

/** The error of a call that must fail, as this SDK has it. */
export async function failureOf(work: () => unknown): Promise<APICallError> {
  const error = await thrownBy(work)
  if (APICallError.isInstance(error)) return error
  throw error
}
