// The `openai` package in the majors that are in use, seen as one: the cases are typed by the
// current one, and the previous one must do the same.
import * as current from 'openai'
import * as currentZod from 'openai/helpers/zod'
import * as previous from 'openai-previous'
import * as previousZod from 'openai-previous/helpers/zod'
import { type Stage, thrownBy, tokens } from './stage.ts'

export type OpenAIPackage = typeof current & { zod: typeof currentZod }
export type Client = InstanceType<OpenAIPackage['OpenAI']>
type Options = ConstructorParameters<OpenAIPackage['OpenAI']>[0]

export const packages: readonly [name: string, sdk: OpenAIPackage][] = [
  ['openai', { ...current, zod: currentZod }],
  ['openai, previous major', { ...previous, zod: previousZod } as unknown as OpenAIPackage],
]

export const clientOf = (sdk: OpenAIPackage, { gateway }: Stage, options: Options = {}): Client =>
  new sdk.OpenAI({
    apiKey: tokens.usual,
    baseURL: `${gateway.url}/v1`,
    maxRetries: 0,
    ...options,
  })

/** The error a call ends with. */
export async function failureOf(sdk: OpenAIPackage, work: () => unknown) {
  const error = await thrownBy(work)
  if (error instanceof sdk.APIError) return error
  throw error
}

export const says = (content: string) => [{ role: 'user' as const, content }]
