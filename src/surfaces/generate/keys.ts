// The keys of requests of the generate style, in both spellings.
import { type KeyTable, keysOf, plain } from '../../http/body/exact-keys.ts'
import { checkedFields } from '../text/extra-fields.ts'
import { bothSpellings } from './fields.ts'

const blob: KeyTable = bothSpellings(plain('mimeType', 'data', 'displayName'))
const file: KeyTable = bothSpellings(plain('mimeType', 'fileUri', 'displayName'))

const part: KeyTable = bothSpellings({
  ...plain('text', 'thought', 'thoughtSignature', 'functionCall', 'mediaResolution'),
  ...plain('executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse', 'partMetadata'),
  inlineData: blob,
  fileData: file,
  videoMetadata: bothSpellings(plain('startOffset', 'endOffset', 'fps')),
  functionResponse: bothSpellings({
    ...plain('id', 'name', 'response', 'willContinue', 'scheduling'),
    parts: bothSpellings({ inlineData: blob, fileData: file }),
  }),
})

const content: KeyTable = { ...plain('role'), parts: part }

/** What the upstream runs itself is refused by name, so every such name counts. */
const serverTools = [
  'googleSearch',
  'googleSearchRetrieval',
  'enterpriseWebSearch',
  'googleMaps',
  'urlContext',
  'codeExecution',
  'fileSearch',
  'retrieval',
  'exaAiSearch',
  'parallelAiSearch',
  'mcpServers',
] as const

const tool: KeyTable = bothSpellings({
  ...plain(...serverTools, 'computerUse'),
  functionDeclarations: bothSpellings(
    plain('name', 'description', 'parameters', 'parametersJsonSchema', 'response', 'behavior'),
  ),
})

export const settingNames = [
  'candidateCount',
  'maxOutputTokens',
  'thinkingConfig',
  'responseModalities',
  'speechConfig',
] as const
export const thinkingNames = ['thinkingBudget', 'includeThoughts', 'thinkingLevel'] as const

const settings: KeyTable = bothSpellings({
  ...plain(...settingNames, 'stopSequences', 'temperature', 'topP', 'topK', 'seed'),
  ...plain('responseMimeType', 'responseSchema', 'responseJsonSchema', 'mediaResolution'),
  ...plain('presencePenalty', 'frequencyPenalty', 'responseLogprobs', 'logprobs', 'imageConfig'),
  ...plain('audioTimestamp', 'enableEnhancedCivicAnswers'),
  thinkingConfig: bothSpellings(plain(...thinkingNames)),
})

export const requestNames = [
  'systemInstruction',
  'generationConfig',
  'cachedContent',
  'serviceTier',
  'toolConfig',
  'generateContentRequest',
] as const

const request: KeyTable = bothSpellings({
  ...plain(...checkedFields, ...requestNames, 'model', 'safetySettings', 'labels', 'store'),
  contents: content,
  systemInstruction: content,
  tools: tool,
  generationConfig: settings,
  toolConfig: bothSpellings({
    ...plain('retrievalConfig', 'includeServerSideToolInvocations'),
    functionCallingConfig: bothSpellings(plain('mode', 'allowedFunctionNames')),
  }),
})

export const generateKeys = keysOf(request)

export const countKeys = keysOf({
  ...request,
  ...bothSpellings({ generateContentRequest: request }),
})

export const embedNames = ['taskType', 'title', 'outputDimensionality'] as const

const embed: KeyTable = bothSpellings({
  ...plain(...checkedFields, ...embedNames, 'model', 'autoTruncate'),
  content,
})

export const embedKeys = keysOf(embed)
export const batchKeys = keysOf({ ...plain(...checkedFields, 'model'), requests: embed })
