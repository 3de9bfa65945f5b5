// A conversation as a chat request.
import { Refusal } from '../../contract/errors.ts'
import type { Conversation, Json, Part, TextPart, Turn } from '../common/conversation.ts'
import { effortOf } from '../common/effort.ts'
import { isStrictSchema } from '../common/json-schema.ts'
import { type Losses, notCarried, strictRefusal } from '../common/losses.ts'
import { present } from '../common/request-reading.ts'
import { writeTier } from '../common/service-tier.ts'
import type { Target } from '../common/style.ts'
import type { ToolNames } from '../common/tool-names.ts'
import { emptyRefusal, foldInstructions, repairCalls } from '../common/turns.ts'
import { lackedSettings } from './fields.ts'
import { MessageWriter } from './write-messages.ts'
import { writeTools } from './write-tools.ts'

const maxStops = 4

export function writeRequest(
  conversation: Conversation,
  target: Target,
  names: ToolNames,
  losses: Losses,
): Json | Refusal {
  const problem = problemOf(conversation)
  if (problem !== undefined) return problem
  const messages = writeMessages(conversation, target, names, losses)
  if (messages instanceof Refusal) return messages
  const { sampling } = conversation
  losses.addSettings(conversation, lackedSettings)
  const { cacheKey, verbosity } = conversation
  const request = {
    model: target.model,
    messages,
    ...writeTools(conversation, target, names, losses),
    ...writeLimit(conversation, target, losses),
    ...(conversation.stop.length > 0 && { stop: conversation.stop }),
    ...present({
      temperature: sampling.temperature,
      top_p: sampling.topP,
      presence_penalty: sampling.presencePenalty,
      frequency_penalty: sampling.frequencyPenalty,
      seed: sampling.seed,
    }),
    ...writeFormat(conversation, target, losses),
    ...writeEffort(conversation, target, losses),
    ...present({
      verbosity,
      prompt_cache_key: cacheKey,
      service_tier: writeTier(conversation, undefined, losses),
    }),
    ...(target.stream && { stream: true, ...usageOption(target) }),
  }
  return strictRefusal(target.strict, losses) ?? request
}

const usageOption = ({ settings: { streamOptions } }: Target) =>
  streamOptions ? { stream_options: { include_usage: true } } : {}

/** What this style has, but no answer of it can be carried to a caller of another. */
function problemOf({ fieldNames, choices, logprobs, logitBias, stop }: Conversation) {
  if (choices > 1) return notCarried(fieldNames.choices, 'a translated call has one answer')
  if (logprobs !== undefined) {
    return notCarried(fieldNames.logprobs, 'a translated answer has no probabilities')
  }
  if (logitBias !== undefined) {
    return notCarried(fieldNames.logitBias, 'its upstream counts in tokens of another model')
  }
  if (stop.length > maxStops) {
    return notCarried(fieldNames.stop, `its upstream takes at most ${maxStops} stop sequences`)
  }
  return undefined
}

function writeMessages(
  conversation: Conversation,
  target: Target,
  names: ToolNames,
  losses: Losses,
): readonly Json[] | Refusal {
  const turns = writableTurns(conversation, target, losses)
  if (turns instanceof Refusal) return turns
  const writer = new MessageWriter(conversation, target, names, losses)
  const system = [...conversation.system, ...schemaInstruction(conversation, target)]
  const marked = withMarks({ system, turns }, target, losses)
  writer.system(marked.system)
  for (const turn of marked.turns) writer.turn(turn)
  if (writer.problem !== undefined) return writer.problem
  if (writer.messages.length === 0) return emptyRefusal(conversation)
  return writer.messages
}

interface Prompt {
  system: readonly TextPart[]
  turns: readonly Turn[]
}

const markedTurns = 2

/**
 * An operator may have the prompt marked where the caller marks nothing and the upstream reads marks: on
 * the instructions, and on the last two turns of the user that end with a text.
 */
function withMarks(prompt: Prompt, { settings }: Target, losses: Losses): Prompt {
  const { system, turns } = prompt
  const isMarked = [system, ...turns.map(({ parts }) => parts)].some((parts) =>
    parts.some((part) => 'cache' in part && part.cache !== undefined),
  )
  if (isMarked || !settings.autoCache || !settings.cacheControl) return prompt
  const texts = turns.filter(({ role, parts }) => role === 'user' && parts.at(-1)?.type === 'text')
  const last = new Set(texts.slice(-markedTurns))
  losses.cacheMarks += last.size + (system.length > 0 ? 1 : 0)
  return {
    system: markedLast(system),
    turns: turns.map((turn) =>
      last.has(turn) ? { ...turn, parts: markedLast(turn.parts) } : turn,
    ),
  }
}

const markedLast = <Each extends Part>(parts: readonly Each[]): Each[] =>
  parts.map((part, index) =>
    index === parts.length - 1 && part.type === 'text' ? { ...part, cache: {} } : part,
  )

function writableTurns(
  conversation: Conversation,
  { settings }: Target,
  losses: Losses,
): readonly Turn[] | Refusal {
  const { fieldNames } = conversation
  const repaired = repairCalls(conversation)
  if (repaired instanceof Refusal) return repaired
  const folds = settings.instructions === 'first'
  const { turns, changed } = folds ? foldInstructions(repaired.turns) : repaired
  if (changed || repaired.changed) losses.add(fieldNames.turns)
  if (turns.at(-1)?.role === 'assistant') {
    return notCarried(fieldNames.turns, 'its upstream cannot continue an answer that was begun')
  }
  return turns
}

/** For upstreams that promise JSON but take no schema. */
function schemaInstruction({ format }: Conversation, { settings }: Target) {
  if (format.kind !== 'schema' || settings.outputSchema) return []
  const text = `Answer with JSON that matches this JSON schema:\n${JSON.stringify(format.schema)}`
  return [{ type: 'text' as const, text }]
}

function writeFormat(
  { fieldNames, format }: Conversation,
  { settings }: Target,
  losses: Losses,
): Json {
  if (format.kind === 'text') return {}
  if (format.kind === 'json') return { response_format: { type: 'json_object' } }
  if (!settings.outputSchema) {
    losses.add(fieldNames.format)
    return { response_format: { type: 'json_object' } }
  }
  const { name = 'answer', description, schema } = format
  const strict = format.strict === true && isStrictSchema(schema)
  if (format.strict === true && !strict) losses.add(fieldNames.format)
  return {
    response_format: {
      type: 'json_schema',
      json_schema: {
        name,
        ...present({ description }),
        schema,
        ...(format.strict !== undefined && { strict }),
      },
    },
  }
}

function writeEffort(conversation: Conversation, { settings }: Target, losses: Losses): Json {
  const effort = effortOf(conversation)
  if (effort === undefined) return {}
  if (settings.reasoning === 'none') {
    if (effort !== 'none') losses.add(conversation.fieldNames.effort)
    return {}
  }
  if (conversation.effort === undefined) losses.add(conversation.fieldNames.effort)
  return { reasoning_effort: effort }
}

function writeLimit(
  { fieldNames, maxOutputTokens: wanted }: Conversation,
  { maxOutputTokens, settings }: Target,
  losses: Losses,
): Json {
  if (wanted === undefined) return {}
  if (wanted > maxOutputTokens) losses.add(fieldNames.maxOutputTokens)
  return { [settings.maxTokensField]: Math.min(wanted, maxOutputTokens) }
}
