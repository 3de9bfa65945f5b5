// A messages request as a conversation.
import type { Refusal } from '../../contract/errors.ts'
import { isObject } from '../../lib/json/parse.ts'
import type {
  Conversation,
  Json,
  OutputFormat,
  Part,
  TextPart,
  Tool,
  ToolChoice,
  Turn,
} from '../common/conversation.ts'
import { readEffort } from '../common/effort.ts'
import type { Seal } from '../common/envelope.ts'
import type { Losses } from '../common/losses.ts'
import { withoutNeutral } from '../common/neutral.ts'
import { present, RequestReading } from '../common/request-reading.ts'
import { readTier } from '../common/service-tier.ts'
import type { GivenRequest } from '../common/style.ts'
import { mergeTurns } from '../common/turns.ts'
import {
  fieldNamesOf,
  loseUnknown,
  neutralFields,
  refusedFields,
  requestFields,
  toolFields,
} from './fields.ts'
import { markOf, readContent, readTexts, referencedTools } from './read-blocks.ts'

export function readRequest(
  { fields: given, envelopes }: GivenRequest,
  losses: Losses,
): Conversation | Refusal {
  const fields = withoutNeutral(given, neutralFields)
  const reading = new RequestReading(losses, envelopes)
  losses.addUnknown(fields, requestFields)
  reading.refuseFields(fields, refusedFields)
  const conversation: Conversation = {
    fieldNames: fieldNamesOf(fields),
    system: readSystem(fields, reading),
    turns: readTurns(fields, reading),
    tools: readTools(fields, reading),
    stop: readStop(fields, reading),
    sampling: present({
      temperature: reading.number(fields, 'temperature'),
      topP: reading.number(fields, 'top_p'),
      topK: reading.number(fields, 'top_k'),
    }),
    format: readFormat(fields, reading),
    choices: 1,
    wantsSeals: true,
    ...readToolChoice(fields, reading),
    ...readReasoning(fields, reading),
    ...present({
      maxOutputTokens: reading.number(fields, 'max_tokens'),
      endUser: readUser(fields, reading),
      tier: readTier(fields['speed'], 'speed') ?? readTier(fields['service_tier'], 'service_tier'),
    }),
  }
  const { inference_geo: place } = fields
  if (place != null && place !== 'global') losses.add('inference_geo')
  if (isObject(fields['cache_control'])) markLast(conversation, fields, reading)
  return reading.problem ?? conversation
}

/** A line that one client puts first says which conversation it is; it would defeat every cache. */
const attribution = /^x-anthropic-billing-header:/

const readSystem = (fields: Json, reading: RequestReading): TextPart[] =>
  readTexts(fields, 'system', '', reading).filter(
    ({ text }) => text !== '' && !attribution.test(text),
  )

function readTurns(fields: Json, reading: RequestReading): Turn[] {
  const turns = reading.objects(fields, 'messages').flatMap(({ item, at }): Turn[] => {
    reading.losses.addUnknown(item, messageFields, 'messages.')
    const { role } = item
    if (role === 'system') {
      return [{ role, parts: readTexts(item, 'content', `${at}.`, reading) }]
    }
    if (role === 'user' || role === 'assistant') {
      return [{ role, parts: readContent(item, 'content', `${at}.`, reading) }]
    }
    reading.refuse(`${at}.role`, 'it is not a role that can be translated')
    return []
  })
  return mergeTurns(turns).map(withCallSeals)
}

/** Seals of calls travel as reasoning that names the call. */
function withCallSeals(turn: Turn): Turn {
  const seals = new Map<string, Seal>()
  const ids = new Set(turn.parts.map((part) => part.type === 'call' && part.id))
  const rest = turn.parts.filter((part) => {
    const seal = part.type === 'reasoning' ? part.seal : undefined
    if (seal?.itemId === undefined || !ids.has(seal.itemId)) return true
    const { itemId, ...own } = seal
    seals.set(itemId, own)
    return false
  })
  if (seals.size === 0) return turn
  const parts = rest.map((part): Part => {
    const seal = part.type === 'call' ? seals.get(part.id) : undefined
    return seal === undefined ? part : ({ ...part, seal } as Part)
  })
  return { role: turn.role, parts }
}

const messageFields: ReadonlySet<string> = new Set(['role', 'content'])

function readStop(fields: Json, reading: RequestReading): readonly string[] {
  const list = reading.list(fields, 'stop_sequences') ?? []
  if (!list.every((each) => typeof each === 'string')) {
    reading.wrong('stop_sequences', 'a list of strings')
  }
  return (list as readonly string[]).filter((each) => each !== '')
}

function readUser(fields: Json, reading: RequestReading): string | undefined {
  const metadata = reading.object(fields, 'metadata')
  return metadata && reading.text(metadata, 'user_id', 'metadata.')
}

/** A mark on the whole request stands for one on its last block. */
function markLast({ turns }: Conversation, fields: Json, reading: RequestReading): void {
  const parts = turns.at(-1)?.parts
  const last = parts?.at(-1)
  const cache = markOf(fields, reading)
  if (parts === undefined || last === undefined || cache === undefined) return
  if (last.type === 'reasoning' || last.type === 'refusal' || last.cache !== undefined) return
  parts[parts.length - 1] = { ...last, cache }
}

type Reasoning = Pick<Conversation, 'effort' | 'reasoningBudget' | 'showReasoning'>

function readReasoning(fields: Json, reading: RequestReading): Reasoning {
  const thinking = reading.object(fields, 'thinking') ?? {}
  const output = reading.object(fields, 'output_config') ?? {}
  loseUnknown(output, 'output_config.', reading.losses)
  loseUnknown(thinking, 'thinking.', reading.losses)
  const word = readEffort(output['effort'] ?? undefined)
  if (word?.changed) reading.losses.add('output_config.effort')
  const { type, display } = thinking
  // Models that take a budget show what they think, unless told otherwise; of others it depends.
  const shown = display == null ? type === 'enabled' || undefined : display !== 'omitted'
  if (type === 'disabled') {
    if (word !== undefined && word.effort !== 'none') reading.losses.add('output_config.effort')
    return { effort: 'none' }
  }
  const budget =
    type === 'enabled' ? reading.number(thinking, 'budget_tokens', 'thinking.') : undefined
  if (word !== undefined && budget !== undefined) reading.losses.add('thinking.budget_tokens')
  return present({
    effort: word?.effort,
    reasoningBudget: word === undefined ? budget : undefined,
    showReasoning: shown,
  })
}

function readFormat(fields: Json, reading: RequestReading): OutputFormat {
  const output = reading.object(fields, 'output_config') ?? {}
  const format =
    reading.object(output, 'format', 'output_config.') ?? reading.object(fields, 'output_format')
  if (format === undefined) return { kind: 'text' }
  loseUnknown(format, 'output_config.format.', reading.losses)
  const schema = reading.object(format, 'schema', 'output_config.format.')
  // This style always enforces it.
  if (format['type'] === 'json_schema' && schema !== undefined) {
    return { kind: 'schema', schema, strict: true }
  }
  reading.refuse('output_config.format', 'it is not a format that can be translated')
  return { kind: 'text' }
}

/** A tool with deferred loading is for models that search for tools; it is offered once it was found. */
function readTools(fields: Json, reading: RequestReading): Tool[] {
  const tools = reading.objects(fields, 'tools')
  const hasDeferred = tools.some(({ item }) => item['defer_loading'] === true)
  const found = hasDeferred ? referencedTools(fields) : undefined
  return tools.flatMap(({ item, at }) => {
    const type = item['type'] ?? 'custom'
    if (type !== 'custom') {
      reading.refuse(`${at}.type`, 'only upstreams of this style know such a tool')
      return []
    }
    const { defer_loading: isDeferred, ...rest } = item
    reading.losses.addUnknown(rest, toolFields, 'tools.')
    const tool = readTool(item, `${at}.`, reading)
    if (isDeferred !== true || found?.has(tool.name)) return [tool]
    reading.losses.add('tools.defer_loading')
    return []
  })
}

const readTool = (item: Json, at: string, reading: RequestReading): Tool => ({
  name: reading.requiredText(item, 'name', at),
  schema: reading.object(item, 'input_schema', at) ?? { type: 'object', properties: {} },
  ...present({
    description: reading.text(item, 'description', at),
    strict: reading.boolean(item, 'strict', at),
    cache: markOf(item, reading),
  }),
})

type Choice = Pick<Conversation, 'toolChoice' | 'parallelCalls'>

function readToolChoice(fields: Json, reading: RequestReading): Choice {
  const choice = reading.object(fields, 'tool_choice')
  if (choice === undefined) return {}
  loseUnknown(choice, 'tool_choice.', reading.losses)
  const single = reading.boolean(choice, 'disable_parallel_tool_use', 'tool_choice.')
  return present({
    toolChoice: choiceOf(choice, reading),
    parallelCalls: single === undefined ? undefined : !single,
  })
}

function choiceOf(choice: Json, reading: RequestReading): ToolChoice | undefined {
  const { type } = choice
  if (type === 'auto' || type === 'none') return { mode: type }
  if (type === 'any') return { mode: 'required' }
  if (type === 'tool') {
    return { mode: 'tool', name: reading.requiredText(choice, 'name', 'tool_choice.') }
  }
  return reading.refuse('tool_choice.type', 'it is not a choice that can be translated')
}
