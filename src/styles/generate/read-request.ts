// Reads a generate request.
import type { Refusal } from '../../contract/errors.ts'
import { isObject } from '../../lib/json/parse.ts'
import { objectsIn, textIn, textsIn } from '../../lib/json/values.ts'
import type { Conversation, Json, OutputFormat, TextPart } from '../common/conversation.ts'
import { readEffort } from '../common/effort.ts'
import type { Losses } from '../common/losses.ts'
import { isEmpty, withoutNeutral } from '../common/neutral.ts'
import { present, RequestReading } from '../common/request-reading.ts'
import { readTier } from '../common/service-tier.ts'
import type { GivenRequest } from '../common/style.ts'
import { camelCased, fieldNames, loseOthers, loseUnknown, neutralConfig } from './field-names.ts'
import { standardSchema } from './plain-schema.ts'
import { ContentReader } from './read-contents.ts'
import { readToolChoice, readTools } from './read-tools.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/** Fields that are read, or of no meaning to another upstream. */
export const knownFields = words(`
  model contents systemInstruction tools toolConfig generationConfig safetySettings cachedContent
  labels serviceTier
`)
export const knownConfig = words(`
  temperature topP topK candidateCount maxOutputTokens stopSequences presencePenalty frequencyPenalty
  seed responseMimeType responseSchema responseJsonSchema _responseJsonSchema thinkingConfig
  responseLogprobs logprobs responseModalities mediaResolution
`)
const knownThinking = words('includeThoughts thinkingBudget thinkingLevel')

export function readRequest(given: GivenRequest, losses: Losses): Conversation | Refusal {
  const reading = new RequestReading(losses, given.envelopes)
  const fields = camelCased(given.fields)
  const settings = camelCased(reading.object(fields, 'generationConfig') ?? {})
  loseOthers(fields, knownFields, losses)
  loseOthers(settings, knownConfig, losses, 'generationConfig.')
  const config = withoutNeutral(settings, neutralConfig)
  refuseOthers(fields, config, reading)
  const at = 'generationConfig.'
  const conversation: Conversation = {
    fieldNames,
    system: readSystem(fields['systemInstruction'], reading),
    turns: new ContentReader(reading).read(fields['contents']),
    tools: readTools(fields, reading),
    stop: textsIn(config, 'stopSequences').filter((each) => each !== ''),
    choices: reading.number(config, 'candidateCount', at) ?? 1,
    sampling: readSampling(config, reading),
    format: readFormat(config, reading),
    wantsSeals: true,
    ...present({
      toolChoice: readToolChoice(fields, reading),
      maxOutputTokens: reading.number(config, 'maxOutputTokens', at),
      logprobs: readLogprobs(config, reading),
      tier: readTier(fields['serviceTier'], 'serviceTier'),
    }),
    ...readThinking(config, reading),
  }
  const { system, turns } = conversation
  if (turns.length + system.length === 0) reading.wrong('contents', 'a list of contents')
  return reading.problem ?? conversation
}

function refuseOthers(fields: Json, config: Json, reading: RequestReading): void {
  if (!isEmpty(fields['cachedContent'])) {
    reading.refuse('cachedContent', 'what is kept upstream cannot be used')
  }
  const other = textsIn(config, 'responseModalities').find((each) => each.toUpperCase() !== 'TEXT')
  if (other !== undefined) {
    reading.refuse('generationConfig.responseModalities', 'its answers are text')
  }
}

function readSystem(value: unknown, reading: RequestReading): TextPart[] {
  if (typeof value === 'string') return value === '' ? [] : [{ type: 'text', text: value }]
  if (value == null) return []
  const parts = Array.isArray(value) ? value : isObject(value) ? partsOf(value) : undefined
  if (parts === undefined) {
    reading.wrong('systemInstruction', 'a content')
    return []
  }
  if (isObject(value)) loseUnknown(value, 'systemInstruction.', reading.losses)
  return parts.flatMap((part, index) => {
    if (isObject(part)) loseUnknown(part, 'systemInstruction.', reading.losses)
    const text = typeof part === 'string' ? part : isObject(part) ? textIn(part, 'text') : undefined
    if (text === undefined) {
      reading.refuse(`systemInstruction.parts[${index}]`, 'instructions hold text only')
    }
    return text ? [{ type: 'text' as const, text }] : []
  })
}

/** Some clients send the part without the content around it. */
const partsOf = (content: Json): readonly unknown[] =>
  typeof content['text'] === 'string' ? [content] : objectsIn(content, 'parts')

const readSampling = (config: Json, reading: RequestReading): Conversation['sampling'] =>
  present(
    Object.fromEntries(
      (['temperature', 'topP', 'topK', 'presencePenalty', 'frequencyPenalty', 'seed'] as const).map(
        (name) => [name, reading.number(config, name, 'generationConfig.')],
      ),
    ),
  )

function readFormat(config: Json, reading: RequestReading): OutputFormat {
  const type = textIn(config, 'responseMimeType') ?? 'text/plain'
  const standard = config['responseJsonSchema'] ?? config['_responseJsonSchema']
  const own = config['responseSchema']
  if (type === 'text/plain') return { kind: 'text' }
  if (type !== 'application/json') {
    reading.refuse('generationConfig.responseMimeType', 'its answers are text or JSON')
    return { kind: 'text' }
  }
  const schema = isObject(standard) ? standard : isObject(own) ? standardSchema(own) : undefined
  // This style always enforces it.
  return schema === undefined ? { kind: 'json' } : { kind: 'schema', schema, strict: true }
}

function readLogprobs(config: Json, reading: RequestReading): number | undefined {
  const wanted = reading.number(config, 'logprobs', 'generationConfig.')
  return config['responseLogprobs'] === true ? (wanted ?? 0) : wanted
}

/** No budget, or one that the model chooses, is the upstream's default. */
function readThinking(
  config: Json,
  reading: RequestReading,
): Pick<Conversation, 'effort' | 'reasoningBudget' | 'showReasoning'> {
  const at = 'generationConfig.thinkingConfig.'
  const thinking = camelCased(reading.object(config, 'thinkingConfig', 'generationConfig.') ?? {})
  loseOthers(thinking, knownThinking, reading.losses, at)
  const budget = reading.number(thinking, 'thinkingBudget', at)
  const level = textIn(thinking, 'thinkingLevel')
  const isLevel = level !== undefined && !/unspecified$/i.test(level)
  const read = isLevel ? readEffort(level) : undefined
  if (read?.changed) reading.losses.add(fieldNames.effort)
  const isOff = read === undefined && budget === 0
  return {
    showReasoning: thinking['includeThoughts'] === true,
    ...present({
      effort: isOff ? ('none' as const) : read?.effort,
      reasoningBudget:
        read === undefined && budget !== undefined && budget > 0 ? budget : undefined,
    }),
  }
}
