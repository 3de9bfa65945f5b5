// Writes a conversation as a responses request. The upstream keeps nothing, so that every turn comes
// with its sealed reasoning.
import { Refusal } from '../../contract/errors.ts'
import type { Conversation, Json, Tool } from '../common/conversation.ts'
import { effortOf } from '../common/effort.ts'
import { freeFormDescription, freeFormSchema } from '../common/free-form.ts'
import { isStrictSchema, objectSchema } from '../common/json-schema.ts'
import { type Losses, notCarried, strictRefusal } from '../common/losses.ts'
import { present } from '../common/request-reading.ts'
import { writeTier } from '../common/service-tier.ts'
import type { Target } from '../common/style.ts'
import { isForced, type ToolNames, toolNamed, toolsNamed } from '../common/tool-names.ts'
import { emptyRefusal, repairCalls } from '../common/turns.ts'
import { lackedSettings, minOutputTokens } from './field-names.ts'
import { ItemWriter } from './write-items.ts'

export function writeRequest(
  conversation: Conversation,
  target: Target,
  names: ToolNames,
  losses: Losses,
): Json | Refusal {
  const refused = unsupported(conversation, target)
  if (refused !== undefined) return refused
  const repaired = repairCalls(conversation)
  if (repaired instanceof Refusal) return repaired
  const { fieldNames } = conversation
  if (repaired.changed) losses.add(fieldNames.turns)
  if (repaired.turns.at(-1)?.role === 'assistant') {
    return notCarried(fieldNames.turns, 'the last turn must be of the user')
  }
  const writer = new ItemWriter(conversation, target, names, losses)
  writer.system(conversation.system)
  for (const turn of repaired.turns) writer.turn(turn)
  if (writer.problem !== undefined) return writer.problem
  if (writer.items.length === 0) return emptyRefusal(conversation)
  losses.addSettings(conversation, lackedSettings)
  const body = {
    model: target.model,
    input: writer.items,
    ...writeTools(conversation, target, names, losses),
    ...present({
      max_output_tokens: outputLimit(conversation, target, losses),
      temperature: conversation.sampling.temperature,
      top_p: conversation.sampling.topP,
      text: writeText(conversation, losses),
      reasoning: writeReasoning(conversation, target, losses),
      prompt_cache_key: conversation.cacheKey,
      service_tier: writeTier(conversation, undefined, losses),
    }),
    include: ['reasoning.encrypted_content'],
    store: false,
    ...(target.stream && { stream: true }),
  }
  return strictRefusal(target.strict, losses) ?? body
}

function unsupported(conversation: Conversation, { settings }: Target): Refusal | undefined {
  const { fieldNames, stop, choices, logitBias, logprobs, format } = conversation
  if (format.kind === 'schema' && !settings.outputSchema) {
    return notCarried(fieldNames.format, 'its upstream takes no schema')
  }
  if (stop.length > 0) return notCarried(fieldNames.stop, 'its upstream has no stop sequences')
  if (choices > 1) return notCarried(fieldNames.choices, 'its upstream gives one answer')
  if (logitBias !== undefined) return notCarried(fieldNames.logitBias, 'its upstream has none')
  if (logprobs !== undefined) return notCarried(fieldNames.logprobs, 'they cannot be translated')
  return undefined
}

function outputLimit(
  { maxOutputTokens, fieldNames }: Conversation,
  target: Target,
  losses: Losses,
): number | undefined {
  if (maxOutputTokens === undefined) return undefined
  const limit = Math.max(minOutputTokens, Math.min(maxOutputTokens, target.maxOutputTokens))
  if (limit !== maxOutputTokens) losses.add(fieldNames.maxOutputTokens)
  return limit
}

function writeTools(
  { tools, toolChoice, parallelCalls, fieldNames }: Conversation,
  { settings }: Target,
  names: ToolNames,
  losses: Losses,
): Json {
  if (tools.length === 0) {
    if (isForced(toolChoice)) losses.add(fieldNames.toolChoice)
    return {}
  }
  if (tools.some(({ cache }) => cache !== undefined)) losses.add(fieldNames.cache)
  const written = tools.map((tool) => {
    const { description, freeForm } = tool
    const name = names.upstream(tool)
    if (freeForm === undefined || !settings.freeFormTools) {
      return { type: 'function', name, ...writeFunction(tool, fieldNames, losses) }
    }
    return { type: 'custom', name, ...present({ description, format: formatOf(freeForm) }) }
  })
  const choice = writeChoice(toolChoice, tools, settings.freeFormTools, names)
  return { tools: written, ...present({ tool_choice: choice, parallel_tool_calls: parallelCalls }) }
}

/** `strict` is always said: some upstreams take its absence for true. */
function writeFunction(tool: Tool, names: Conversation['fieldNames'], losses: Losses): Json {
  if (tool.freeForm !== undefined) {
    losses.add(names.toolFreeForm)
    return { description: freeFormDescription(tool), parameters: freeFormSchema, strict: false }
  }
  const { schema, changed } = objectSchema(tool.schema)
  if (changed) losses.add(names.tools)
  const strict = tool.strict === true && isStrictSchema(schema)
  if (tool.strict === true && !strict) losses.add(names.toolStrict)
  return { ...present({ description: tool.description }), parameters: schema, strict }
}

const formatOf = ({ grammar, syntax }: NonNullable<Tool['freeForm']>): Json | undefined =>
  grammar === undefined
    ? undefined
    : { type: 'grammar', syntax: syntax ?? 'lark', definition: grammar }

function writeChoice(
  choice: Conversation['toolChoice'],
  tools: readonly Tool[],
  freeFormTools: boolean,
  names: ToolNames,
): unknown {
  if (choice === undefined) return undefined
  const entry = (tool: ReturnType<typeof toolNamed>) => {
    const isFree = freeFormTools && 'freeForm' in tool && tool.freeForm !== undefined
    return { type: isFree ? 'custom' : 'function', name: names.upstream(tool) }
  }
  if (choice.mode === 'tool') return entry(toolNamed(tools, choice))
  if (choice.mode !== 'allowed') return choice.mode
  const mode = choice.required ? 'required' : 'auto'
  return { type: 'allowed_tools', mode, tools: toolsNamed(tools, choice.names).map(entry) }
}

function writeText(
  { format, verbosity, fieldNames }: Conversation,
  losses: Losses,
): Json | undefined {
  if (format.kind === 'text' && verbosity === undefined) return undefined
  return present({ format: writeFormat(format, fieldNames, losses), verbosity })
}

function writeFormat(
  format: Conversation['format'],
  names: Conversation['fieldNames'],
  losses: Losses,
): Json | undefined {
  if (format.kind === 'text') return undefined
  if (format.kind === 'json') return { type: 'json_object' }
  const { $schema: _, ...schema } = format.schema
  const strict = format.strict === true && isStrictSchema(schema)
  if (format.strict === true && !strict) losses.add(names.format)
  return {
    type: 'json_schema',
    name: format.name ?? 'answer',
    schema,
    ...present({ description: format.description }),
    ...(format.strict !== undefined && { strict }),
  }
}

function writeReasoning(
  conversation: Conversation,
  { settings }: Target,
  losses: Losses,
): Json | undefined {
  const effort = effortOf(conversation)
  const { reasoningBudget, showReasoning, fieldNames } = conversation
  if (settings.reasoning === 'none') {
    if (effort !== undefined && effort !== 'none') losses.add(fieldNames.effort)
    return undefined
  }
  if (reasoningBudget !== undefined && conversation.effort === undefined) {
    losses.add(fieldNames.effort)
  }
  const summary = showReasoning ? 'auto' : undefined
  if (effort === undefined && summary === undefined) return undefined
  return present({ effort, summary })
}
