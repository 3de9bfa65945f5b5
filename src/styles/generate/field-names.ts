// What this style calls its fields. Every name may also be written with underscores.
import type { FieldNames, Json } from '../common/conversation.ts'

export const fieldNames: FieldNames = {
  system: 'systemInstruction',
  turns: 'contents',
  tools: 'tools',
  toolStrict: 'tools.functionDeclarations.strict',
  toolFreeForm: 'tools.functionDeclarations',
  toolChoice: 'toolConfig.functionCallingConfig',
  parallelCalls: 'toolConfig',
  maxOutputTokens: 'generationConfig.maxOutputTokens',
  stop: 'generationConfig.stopSequences',
  temperature: 'generationConfig.temperature',
  topP: 'generationConfig.topP',
  topK: 'generationConfig.topK',
  presencePenalty: 'generationConfig.presencePenalty',
  frequencyPenalty: 'generationConfig.frequencyPenalty',
  seed: 'generationConfig.seed',
  format: 'generationConfig.responseJsonSchema',
  effort: 'generationConfig.thinkingConfig',
  choices: 'generationConfig.candidateCount',
  logprobs: 'generationConfig.logprobs',
  logitBias: 'generationConfig.logitBias',
  cache: 'cachedContent',
  reasoning: 'contents.parts.thoughtSignature',
  refusal: 'contents.parts',
  image: 'contents.parts.inlineData',
  document: 'contents.parts.inlineData',
  audio: 'contents.parts.inlineData',
  video: 'contents.parts.inlineData',
  result: 'contents.parts.functionResponse',
  isError: 'contents.parts.functionResponse.response',
}

/** `inline_data` -> `inlineData`, for the names of one object. */
export function camelCased(fields: Json): Json {
  let hasOther = false
  for (const name in fields) hasOther ||= name.includes('_')
  if (!hasOther) return fields
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.replaceAll(/(?<=[a-z0-9])_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  )
}

/** What a caller gives instead of a seal that it does not have. */
export const noSeal = 'skip_thought_signature_validator'
