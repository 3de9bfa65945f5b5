// A chat request as a conversation.
import type { Refusal } from '../../contract/errors.ts'
import { isObject } from '../../lib/json/parse.ts'
import type {
  Conversation,
  Json,
  OutputFormat,
  Sampling,
  Tool,
  ToolChoice,
} from '../common/conversation.ts'
import { readEffort } from '../common/effort.ts'
import type { Losses } from '../common/losses.ts'
import { withoutNeutral } from '../common/neutral.ts'
import { present, RequestReading } from '../common/request-reading.ts'
import { readTier } from '../common/service-tier.ts'
import type { GivenRequest } from '../common/style.ts'
import { fieldNamesOf, loseUnknown, neutralFields, refusedFields, requestFields } from './fields.ts'
import { readMessages } from './read-messages.ts'
import { markOf } from './read-parts.ts'

export function readRequest(
  { fields: given, envelopes }: GivenRequest,
  losses: Losses,
): Conversation | Refusal {
  const fields = withoutNeutral(given, neutralFields)
  const reading = new RequestReading(losses, envelopes)
  losses.addUnknown(fields, requestFields)
  if (fields['store'] === true) losses.add('store')
  reading.refuseFields(fields, refusedFields)
  const conversation: Conversation = {
    fieldNames: fieldNamesOf(fields),
    ...readMessages(fields, reading),
    tools: readTools(fields, reading),
    stop: readStop(fields, reading),
    sampling: readSampling(fields, reading),
    format: readFormat(fields, reading),
    choices: reading.number(fields, 'n') ?? 1,
    ...present({
      toolChoice: readToolChoice(fields, reading),
      parallelCalls: reading.boolean(fields, 'parallel_tool_calls'),
      maxOutputTokens:
        reading.number(fields, 'max_completion_tokens') ?? reading.number(fields, 'max_tokens'),
      logprobs:
        fields['logprobs'] === true ? (reading.number(fields, 'top_logprobs') ?? 0) : undefined,
      logitBias: reading.object(fields, 'logit_bias'),
      verbosity: reading.text(fields, 'verbosity'),
      cacheKey: reading.text(fields, 'prompt_cache_key'),
      endUser: reading.text(fields, 'safety_identifier') ?? reading.text(fields, 'user'),
      tier: readTier(fields['service_tier'], 'service_tier'),
    }),
    ...readReasoning(fields, reading),
  }
  return reading.problem ?? conversation
}

const readSampling = (fields: Json, reading: RequestReading): Sampling =>
  present({
    temperature: reading.number(fields, 'temperature'),
    topP: reading.number(fields, 'top_p'),
    topK: reading.number(fields, 'top_k'),
    presencePenalty: reading.number(fields, 'presence_penalty'),
    frequencyPenalty: reading.number(fields, 'frequency_penalty'),
    seed: reading.number(fields, 'seed'),
  })

function readStop(fields: Json, reading: RequestReading): readonly string[] {
  const { stop } = fields
  if (typeof stop === 'string') return [stop]
  const list = reading.list(fields, 'stop') ?? []
  if (!list.every((each) => typeof each === 'string')) reading.wrong('stop', 'a list of strings')
  return (list as readonly string[]).filter((each) => each !== '')
}

type Reasoning = Pick<Conversation, 'effort' | 'reasoningBudget' | 'showReasoning' | 'wantsSeals'>

/** Upstreams of this style have several names for it; the reference's own wins. */
function readReasoning(fields: Json, reading: RequestReading): Reasoning {
  const settings = reading.object(fields, 'reasoning')
  const thinking = reading.object(fields, 'thinking')
  if (settings !== undefined) loseUnknown(settings, 'reasoning.', reading.losses)
  if (thinking !== undefined) loseUnknown(thinking, 'thinking.', reading.losses)
  const word = readEffort(fields['reasoning_effort'] ?? settings?.['effort'])
  if (word?.changed) reading.losses.add('reasoning_effort')
  const budget =
    (settings && reading.number(settings, 'max_tokens', 'reasoning.')) ??
    (thinking && reading.number(thinking, 'budget_tokens', 'thinking.')) ??
    reading.number(fields, 'thinking_budget')
  const isOff =
    settings?.['enabled'] === false ||
    thinking?.['type'] === 'disabled' ||
    fields['enable_thinking'] === false
  const isHidden = settings?.['exclude'] === true || fields['include_reasoning'] === false
  const isOn = thinking?.['type'] === 'enabled' || fields['enable_thinking'] === true
  // Upstreams that have these fields show what they ask for; an effort alone shows nothing.
  const isShown = isOn || settings !== undefined || fields['include_reasoning'] === true
  const effort =
    word?.effort ?? (isOff ? 'none' : isOn && budget === undefined ? 'medium' : undefined)
  return present({
    effort,
    reasoningBudget: effort === undefined ? budget : undefined,
    showReasoning: isHidden ? false : (isShown && !isOff) || undefined,
    wantsSeals: settings === undefined ? undefined : true,
  })
}

function readFormat(fields: Json, reading: RequestReading): OutputFormat {
  const format = reading.object(fields, 'response_format')
  const type = format?.['type'] ?? 'text'
  if (format === undefined || type === 'text') return { kind: 'text' }
  if (type === 'json_object') return { kind: 'json' }
  if (type !== 'json_schema') {
    reading.refuse('response_format.type', 'it is not a format that can be translated')
    return { kind: 'text' }
  }
  const at = 'response_format.json_schema.'
  const given = reading.object(format, 'json_schema', 'response_format.') ?? {}
  loseUnknown(format, 'response_format.', reading.losses)
  loseUnknown(given, 'response_format.json_schema.', reading.losses)
  const schema = reading.object(given, 'schema', at)
  if (schema === undefined) return { kind: 'json' }
  return {
    kind: 'schema',
    schema,
    ...present({
      name: reading.text(given, 'name', at),
      description: reading.text(given, 'description', at),
      strict: reading.boolean(given, 'strict', at),
    }),
  }
}

function readTools(fields: Json, reading: RequestReading): Tool[] {
  const tools = reading.objects(fields, 'tools').flatMap(({ item, at }) => {
    const type = item['type'] ?? 'function'
    loseUnknown(item, 'tools.', reading.losses)
    if (type === 'function') return [readFunction(item, 'function', at, reading)]
    if (type === 'custom') return [readCustom(item, at, reading)]
    reading.refuse(`${at}.type`, 'the upstream would have to run this tool')
    return []
  })
  const legacy = reading.objects(fields, 'functions')
  return [
    ...tools,
    ...legacy.map(({ item, at }) => readFunction({ function: item }, 'function', at, reading)),
  ]
}

function readFunction(tool: Json, field: string, at: string, reading: RequestReading): Tool {
  const given = reading.object(tool, field, `${at}.`) ?? {}
  const place = `${at}.${field}.`
  loseUnknown(given, 'tools.function.', reading.losses)
  return {
    name: reading.requiredText(given, 'name', place),
    schema: reading.object(given, 'parameters', place) ?? { type: 'object', properties: {} },
    ...present({
      description: reading.text(given, 'description', place),
      strict: reading.boolean(given, 'strict', place),
      cache: markOf(tool, reading),
    }),
  }
}

function readCustom(tool: Json, at: string, reading: RequestReading): Tool {
  const given = reading.object(tool, 'custom', `${at}.`) ?? {}
  const format = reading.object(given, 'format', `${at}.custom.`)
  const grammar = isObject(format?.['grammar']) ? format['grammar'] : format
  loseUnknown(given, 'tools.custom.', reading.losses)
  for (const each of [format, grammar]) {
    if (each !== undefined) loseUnknown(each, 'tools.custom.format.', reading.losses)
  }
  return {
    name: reading.requiredText(given, 'name', `${at}.custom.`),
    ...present({ description: reading.text(given, 'description', `${at}.custom.`) }),
    freeForm: present({
      grammar: grammar && reading.text(grammar, 'definition', `${at}.custom.format.`),
      syntax: grammar && reading.text(grammar, 'syntax', `${at}.custom.format.`),
    }),
  }
}

function readToolChoice(fields: Json, reading: RequestReading): ToolChoice | undefined {
  const choice = fields['tool_choice'] ?? legacyChoice(fields['function_call'])
  if (choice == null) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { mode: choice }
  if (!isObject(choice))
    return reading.wrong('tool_choice', "'auto', 'none', 'required' or an object")
  const { type } = choice
  const { losses } = reading
  loseUnknown(choice, 'tool_choice.', losses)
  if (type === 'function' || type === 'custom') {
    const named = reading.object(choice, type, 'tool_choice.') ?? {}
    loseUnknown(named, 'tool_choice.', losses)
    return { mode: 'tool', name: reading.requiredText(named, 'name', `tool_choice.${type}.`) }
  }
  if (type !== 'allowed_tools') {
    return reading.refuse('tool_choice.type', 'it is not a choice that can be translated')
  }
  const allowed = reading.object(choice, 'allowed_tools', 'tool_choice.') ?? choice
  loseUnknown(allowed, 'tool_choice.', losses)
  const names = reading
    .objects(allowed, 'tools', 'tool_choice.allowed_tools.')
    .map(({ item, at }) => {
      const named = [item['function'], item['custom']].find(isObject) ?? item
      for (const each of [item, named]) loseUnknown(each, 'tool_choice.', losses)
      return reading.requiredText(named, 'name', `${at}.`)
    })
  return { mode: 'allowed', names, required: allowed['mode'] === 'required' }
}

/** The name before tools had types. */
const legacyChoice = (choice: unknown): unknown =>
  isObject(choice) ? { type: 'function', function: choice } : choice
