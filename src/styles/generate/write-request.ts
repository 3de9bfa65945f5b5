// Writes a conversation as a generate request. The model, and whether to stream, are in its path.
import { Refusal } from '../../contract/errors.ts'
import type { Conversation, Effort, Json, Tool, Turn } from '../common/conversation.ts'
import { budgetOf, effortOf } from '../common/effort.ts'
import { freeFormDescription, freeFormSchema } from '../common/free-form.ts'
import { type Growth, grownTooLarge } from '../common/growth.ts'
import { objectSchema, withDescription } from '../common/json-schema.ts'
import { type Losses, notCarried, strictRefusal } from '../common/losses.ts'
import { present } from '../common/request-reading.ts'
import { writeTier } from '../common/service-tier.ts'
import type { Target } from '../common/style.ts'
import { isForced, type ToolNames, toolNamed, toolsNamed } from '../common/tool-names.ts'
import { emptyRefusal, foldInstructions, repairCalls, withUserTurn } from '../common/turns.ts'
import { plainSchema } from './plain-schema.ts'
import { ContentWriter } from './write-contents.ts'

const maxStopSequences = 5
/** Before a conversation that the assistant began. */
const opening = '(the conversation begins with the assistant)'

const tiers = { priority: 'priority', fast: 'priority', flex: 'flex' }

export function writeRequest(
  given: Conversation,
  target: Target,
  names: ToolNames,
  losses: Losses,
): Json | Refusal {
  const conversation = withUserTurn(given)
  const refused = unsupported(conversation, target)
  if (refused !== undefined) return refused
  const turns = orderedTurns(conversation, losses)
  if (turns instanceof Refusal) return turns
  const writer = new ContentWriter(conversation, target, names, losses)
  for (const turn of turns) writer.turn(turn)
  if (writer.problem !== undefined) return writer.problem
  if (writer.contents.length === 0) return emptyRefusal(conversation)
  const { system, fieldNames } = conversation
  if (system.some(({ cache }) => cache !== undefined)) losses.add(fieldNames.cache)
  const config = writeConfig(conversation, target, losses)
  if (target.growth.isExceeded) return grownTooLarge(fieldNames.format, target.growth.maxBytes)
  const tools = writeTools(conversation, target, names, losses)
  if (target.growth.isExceeded) return grownTooLarge(fieldNames.tools, target.growth.maxBytes)
  const body = {
    contents: writer.contents,
    ...(system.length > 0 && {
      systemInstruction: { parts: system.map(({ text }) => ({ text })) },
    }),
    ...tools,
    ...(Object.keys(config).length > 0 && { generationConfig: config }),
    ...present({ serviceTier: writeTier(conversation, tiers, losses) }),
  }
  return strictRefusal(target.strict, losses) ?? body
}

function unsupported(conversation: Conversation, { settings }: Target): Refusal | undefined {
  const { fieldNames, stop, choices, logitBias, logprobs, format } = conversation
  if (format.kind === 'schema' && !settings.outputSchema) {
    return notCarried(fieldNames.format, 'its upstream takes no schema')
  }
  if (choices > 1) return notCarried(fieldNames.choices, 'only one answer can be translated')
  if (logitBias !== undefined) return notCarried(fieldNames.logitBias, 'its upstream has none')
  if (logprobs !== undefined) return notCarried(fieldNames.logprobs, 'they cannot be translated')
  if (stop.length > maxStopSequences) {
    return notCarried(fieldNames.stop, `its upstream takes ${maxStopSequences} at most`)
  }
  return undefined
}

/** Users and the model take turns, and the user has the first and the last one. */
function orderedTurns(conversation: Conversation, losses: Losses): Turn[] | Refusal {
  const { fieldNames } = conversation
  const repaired = repairCalls(conversation)
  if (repaired instanceof Refusal) return repaired
  const folded = foldInstructions(repaired.turns)
  const { turns } = folded
  if (repaired.changed || folded.changed) losses.add(fieldNames.turns)
  if (turns.at(-1)?.role === 'assistant') {
    return notCarried(fieldNames.turns, 'the last turn must be of the user')
  }
  if (turns[0]?.role !== 'assistant') return turns
  losses.add(fieldNames.turns)
  return [{ role: 'user', parts: [{ type: 'text', text: opening }] }, ...turns]
}

function writeTools(
  { tools, toolChoice, parallelCalls, fieldNames }: Conversation,
  { growth }: Target,
  names: ToolNames,
  losses: Losses,
): Json {
  if (tools.length === 0) {
    if (isForced(toolChoice)) losses.add(fieldNames.toolChoice)
    return {}
  }
  if (tools.some(({ cache }) => cache !== undefined)) losses.add(fieldNames.cache)
  if (parallelCalls === false && toolChoice?.mode !== 'none') losses.add(fieldNames.parallelCalls)
  const isAllowed = ({ name }: Tool): boolean =>
    toolChoice?.mode !== 'allowed' || toolChoice.required || toolChoice.names.includes(name)
  const offered = tools.filter(isAllowed)
  if (offered.length < tools.length) losses.add(fieldNames.toolChoice)
  const functionDeclarations = offered.map((tool) => ({
    name: names.upstream(tool),
    ...writeFunction(tool, fieldNames, growth, losses),
  }))
  const config = writeChoice(toolChoice, tools, names)
  return {
    ...(offered.length > 0 && { tools: [{ functionDeclarations }] }),
    ...(config !== undefined && { toolConfig: { functionCallingConfig: config } }),
  }
}

function writeFunction(
  tool: Tool,
  names: Conversation['fieldNames'],
  growth: Growth,
  losses: Losses,
): Json {
  if (tool.freeForm !== undefined) {
    losses.add(names.toolFreeForm)
    return { description: freeFormDescription(tool), parametersJsonSchema: freeFormSchema }
  }
  if (tool.strict === true) losses.add(names.toolStrict)
  const root = objectSchema(tool.schema)
  const { schema, changed } = plainSchema(root.schema, growth)
  if (root.changed || changed) losses.add(names.tools)
  return { ...present({ description: tool.description }), parametersJsonSchema: schema }
}

function writeChoice(
  choice: Conversation['toolChoice'],
  tools: readonly Tool[],
  names: ToolNames,
): Json | undefined {
  if (choice === undefined) return undefined
  switch (choice.mode) {
    case 'tool': {
      const tool = toolNamed(tools, choice)
      return { mode: 'ANY', allowedFunctionNames: [names.upstream(tool)] }
    }
    case 'allowed': {
      if (!choice.required) return { mode: 'AUTO' }
      const allowed = toolsNamed(tools, choice.names)
      return { mode: 'ANY', allowedFunctionNames: allowed.map((tool) => names.upstream(tool)) }
    }
    case 'required':
      return { mode: 'ANY' }
    default:
      return { mode: choice.mode === 'none' ? 'NONE' : 'AUTO' }
  }
}

function writeConfig(conversation: Conversation, target: Target, losses: Losses): Json {
  const { sampling, stop, fieldNames, maxOutputTokens } = conversation
  const limit = Math.min(maxOutputTokens ?? target.maxOutputTokens, target.maxOutputTokens)
  if (maxOutputTokens !== undefined && limit < maxOutputTokens) {
    losses.add(fieldNames.maxOutputTokens)
  }
  return present({
    maxOutputTokens: maxOutputTokens === undefined ? undefined : limit,
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: sampling.topK,
    presencePenalty: sampling.presencePenalty,
    frequencyPenalty: sampling.frequencyPenalty,
    seed: sampling.seed,
    stopSequences: stop.length > 0 ? stop : undefined,
    ...writeFormat(conversation, target, losses),
    thinkingConfig: writeThinking(conversation, target, losses),
  })
}

function writeFormat({ format, fieldNames }: Conversation, target: Target, losses: Losses): Json {
  if (format.kind === 'text') return {}
  if (format.kind === 'json') return { responseMimeType: 'application/json' }
  const given = withDescription(format.schema, format.description)
  const { schema, changed } = plainSchema(given.schema, target.growth)
  if (given.changed || changed) losses.add(fieldNames.format)
  return { responseMimeType: 'application/json', responseJsonSchema: schema }
}

const levels: Readonly<Record<Effort, string>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}

function writeThinking(
  conversation: Conversation,
  { settings }: Target,
  losses: Losses,
): Json | undefined {
  const { showReasoning, fieldNames } = conversation
  const effort = effortOf(conversation)
  const shown = showReasoning ? { includeThoughts: true } : undefined
  if (effort === undefined) return shown
  if (settings.reasoning === 'none') {
    if (effort !== 'none') losses.add(fieldNames.effort)
    return shown
  }
  if (settings.reasoning === 'budget') return { ...shown, thinkingBudget: budgetOf(conversation) }
  const isSame = levels[effort].toLowerCase() === effort && conversation.effort !== undefined
  if (!isSame) losses.add(fieldNames.effort)
  return { ...shown, thinkingLevel: levels[effort] }
}
