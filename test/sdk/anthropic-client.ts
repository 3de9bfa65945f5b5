// The `@anthropic-ai/sdk` package in the majors that are in use, seen as one: the cases are typed by
// the current one, and the previous one must do the same.
import * as current from '@anthropic-ai/sdk'
import * as currentBeta from '@anthropic-ai/sdk/helpers/beta/zod'
import * as currentZod from '@anthropic-ai/sdk/helpers/zod'
import * as previous from 'anthropic-previous'
import * as previousBeta from 'anthropic-previous/helpers/beta/zod'
import * as previousZod from 'anthropic-previous/helpers/zod'
import { models, type Stage, thrownBy, tokens } from './stage.ts'

export type AnthropicPackage = typeof current & { zod: typeof currentZod & typeof currentBeta }
export type Client = InstanceType<AnthropicPackage['Anthropic']>
type Options = ConstructorParameters<AnthropicPackage['Anthropic']>[0]

export const packages: readonly [name: string, sdk: AnthropicPackage][] = [
  ['@anthropic-ai/sdk', { ...current, zod: { ...currentZod, ...currentBeta } }],
  [
    '@anthropic-ai/sdk, previous major',
    { ...previous, zod: { ...previousZod, ...previousBeta } } as unknown as AnthropicPackage,
  ],
]

export const clientOf = (
  sdk: AnthropicPackage,
  { gateway }: Stage,
  options: Options = {},
): Client =>
  new sdk.Anthropic({
    apiKey: tokens.usual,
    authToken: null,
    baseURL: gateway.url,
    maxRetries: 0,
    ...options,
  })

/** The error a call ends with. */
export async function failureOf(sdk: AnthropicPackage, work: () => unknown) {
  const error = await thrownBy(work)
  if (error instanceof sdk.APIError) return error
  throw error
}

const says = (content: string) => [{ role: 'user' as const, content }]

/** A request with the fields that every call needs. */
export const asking = (content: string, model = models.text) => ({
  model,
  max_tokens: 200,
  messages: says(content),
})
