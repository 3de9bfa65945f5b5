// What this style calls its fields. Every name may also be written with underscores.
import type { FieldNames, Json } from '../common/conversation.ts'
import type { Losses } from '../common/losses.ts'
import { isEmpty, type NeutralValues } from '../common/neutral.ts'

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

/** Settings with values that mean nothing. */
export const neutralConfig: NeutralValues = {
  presencePenalty: [0],
  frequencyPenalty: [0],
  topK: [0],
  candidateCount: [1],
  responseLogprobs: [false],
  logprobs: [0],
  stopSequences: [''],
}

/** Objects with other names than they were written with, and what they were. */
const written = new WeakMap<Json, Json>()

const camelCase = (name: string): string =>
  name.replaceAll(/(?<=[a-z0-9])_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** `inline_data` -> `inlineData`, for the names of one object. */
export function camelCased(fields: Json): Json {
  let hasOther = false
  for (const name in fields) hasOther ||= name.includes('_')
  if (!hasOther) return fields
  const made = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [camelCase(name), value]),
  )
  written.set(made, fields)
  return made
}

/** What its caller calls a field of an object. */
export const asWritten = (fields: Json, name: string): string =>
  Object.keys(written.get(fields) ?? {}).find((given) => camelCase(given) === name) ?? name

/** Names fields that are not read, each as its caller wrote it. */
export function loseOthers(
  fields: Json,
  known: ReadonlySet<string>,
  losses: Losses,
  prefix = '',
): void {
  const given = written.get(fields) ?? fields
  for (const name in given) {
    if (!isEmpty(given[name]) && !known.has(camelCase(name))) losses.add(prefix + name)
  }
}

const names = (text: string): ReadonlySet<string> => new Set(text.split(' '))
const media = names('mimeType data fileUri displayName')

/** Fields of objects inside, by their place. */
const innerFields = {
  'contents.': names('role parts'),
  'contents.parts.functionCall.': names('id name args'),
  'contents.parts.functionResponse.': names('id name response parts'),
  'contents.parts.functionResponse.parts.': names('inlineData fileData'),
  'contents.parts.inlineData.': media,
  'contents.parts.fileData.': media,
  'systemInstruction.': names('role parts text'),
  'toolConfig.functionCallingConfig.': names('mode allowedFunctionNames'),
} as const

/** Names fields of an object inside of a request that are not read. */
export function loseUnknown(holder: Json, place: keyof typeof innerFields, losses: Losses): void {
  loseOthers(holder, innerFields[place], losses, place)
}

/** What a caller gives instead of a seal that it does not have. */
export const noSeal = 'skip_thought_signature_validator'
