// A conversation as a Converse request. The model, and whether it streams, are in its path.
import { Refusal } from '../../contract/errors.ts'
import type { Conversation, Json, TextPart, Tool, Turn } from '../common/conversation.ts'
import { effortOf } from '../common/effort.ts'
import { freeFormDescription, freeFormSchema } from '../common/free-form.ts'
import { objectSchema } from '../common/json-schema.ts'
import { type Losses, notCarried, strictRefusal } from '../common/losses.ts'
import { present } from '../common/request-reading.ts'
import { writeTier } from '../common/service-tier.ts'
import type { Target } from '../common/style.ts'
import { type ToolNames, toolNamed } from '../common/tool-names.ts'
import { emptyRefusal, foldInstructions, repairCalls, withUserTurn } from '../common/turns.ts'
import { type Block, BlockWriter } from './write-blocks.ts'

export const maxTemperature = 1
export const lackedSettings = ['topK', 'presencePenalty', 'frequencyPenalty', 'seed'] as const

const tiers = { priority: 'priority', fast: 'priority', flex: 'flex', reserved: 'reserved' }

export function writeRequest(
  given: Conversation,
  target: Target,
  names: ToolNames,
  losses: Losses,
): Json | Refusal {
  const conversation = withUserTurn(given)
  const problem = problemOf(conversation)
  if (problem !== undefined) return problem
  const writer = new BlockWriter(conversation, target, names, losses)
  const messages = writeMessages(conversation, writer, losses)
  if (messages instanceof Refusal) return messages
  const answer = writeFormat(conversation, names, losses)
  if (answer instanceof Refusal) return answer
  const toolConfig = answer.toolConfig ?? writeTools(conversation, writer, names, losses)
  if (toolConfig instanceof Refusal) return toolConfig
  const system = [...conversation.system, ...answer.instructions].flatMap((part) =>
    writer.blocks(part),
  )
  loseRest(conversation, losses)
  const tier = writeTier(conversation, tiers, losses)
  const request = {
    messages,
    ...(system.length > 0 && { system }),
    inferenceConfig: writeSettings(conversation, target, losses),
    ...present({ toolConfig }),
    ...(tier !== undefined && { serviceTier: { type: tier } }),
  }
  return strictRefusal(target.strict, losses) ?? request
}

function problemOf({ fieldNames, choices, logprobs, logitBias }: Conversation) {
  if (choices > 1) return notCarried(fieldNames.choices, 'its upstream gives one answer')
  if (logprobs !== undefined) {
    return notCarried(fieldNames.logprobs, 'its upstream gives no probabilities')
  }
  if (logitBias !== undefined) {
    return notCarried(fieldNames.logitBias, 'its upstream has no such field')
  }
  return undefined
}

/** What Converse has no common field for. */
function loseRest(conversation: Conversation, losses: Losses): void {
  const { fieldNames, sampling, parallelCalls, tools } = conversation
  losses.addSettings({ fieldNames, sampling }, lackedSettings)
  if (parallelCalls === false && tools.length > 0) losses.add(fieldNames.parallelCalls)
  const effort = effortOf(conversation)
  if (effort !== undefined && effort !== 'none') losses.add(fieldNames.effort)
}

interface Message {
  role: Turn['role']
  content: Block[]
}

const firstTurn = '(the conversation begins with the assistant)'

function writeMessages(
  conversation: Conversation,
  writer: BlockWriter,
  losses: Losses,
): Message[] | Refusal {
  const { fieldNames } = conversation
  const repaired = repairCalls(conversation)
  if (repaired instanceof Refusal) return repaired
  const { turns, changed } = foldInstructions(repaired.turns)
  if (changed || repaired.changed) losses.add(fieldNames.turns)
  const messages: Message[] = []
  for (const { role, parts } of turns) {
    const content = parts.flatMap((part) => writer.blocks(part))
    const last = messages.at(-1)
    if (last?.role === role) last.content.push(...content)
    else if (content.length > 0) messages.push({ role, content })
  }
  if (writer.problem !== undefined) return writer.problem
  if (messages.length === 0) return emptyRefusal(conversation)
  if (messages[0]!.role !== 'user') {
    losses.add(fieldNames.turns)
    messages.unshift({ role: 'user', content: [{ text: firstTurn }] })
  }
  return messages
}

/** Never more than the hold is for. */
function writeSettings(
  { fieldNames, maxOutputTokens: wanted, sampling, stop }: Conversation,
  { maxOutputTokens }: Target,
  losses: Losses,
): Json {
  if (wanted !== undefined && wanted > maxOutputTokens) losses.add(fieldNames.maxOutputTokens)
  const kept = stop.filter((each) => each.trim() !== '')
  if (kept.length < stop.length) losses.add(fieldNames.stop)
  const { temperature: given, topP } = sampling
  const temperature = given === undefined ? undefined : Math.min(given, maxTemperature)
  if (temperature !== given) losses.add(fieldNames.temperature)
  return {
    maxTokens: Math.min(wanted ?? maxOutputTokens, maxOutputTokens),
    ...present({ temperature, topP }),
    ...(kept.length > 0 && { stopSequences: kept }),
  }
}

interface Answer {
  instructions: TextPart[]
  /** The only tool, in whose input the answer comes. */
  toolConfig?: Json
}

const answerTool = 'json_answer'

const jsonInstruction: TextPart = {
  type: 'text',
  text: 'Answer with one JSON object and nothing else.',
}

function writeFormat(
  { fieldNames, format, tools }: Conversation,
  names: ToolNames,
  losses: Losses,
): Answer | Refusal {
  if (format.kind === 'text') return { instructions: [] }
  losses.add(fieldNames.format)
  if (format.kind === 'json') return { instructions: [jsonInstruction] }
  if (tools.length > 0) {
    return notCarried(fieldNames.format, 'its upstream takes a schema or tools, not both')
  }
  const { schema, changed } = objectSchema(format.schema)
  if (changed) return notCarried(fieldNames.format, 'its upstream takes a schema of an object only')
  names.answerTool = answerTool
  const toolSpec = {
    name: answerTool,
    description: 'Gives the answer.',
    inputSchema: { json: schema },
  }
  return {
    instructions: [jsonInstruction],
    toolConfig: { tools: [{ toolSpec }], toolChoice: { tool: { name: answerTool } } },
  }
}

/** Calls of earlier turns need their tools, offered or not. */
function writeTools(
  conversation: Conversation,
  writer: BlockWriter,
  names: ToolNames,
  losses: Losses,
): Json | Refusal | undefined {
  const { turns, toolChoice, fieldNames } = conversation
  const called = turns.flatMap(({ parts }) => parts.filter((part) => part.type === 'call'))
  if (toolChoice?.mode === 'none') {
    if (called.length === 0) return undefined
    return notCarried(fieldNames.toolChoice, 'its upstream may call every tool of earlier turns')
  }
  const offered = offeredTools(conversation, losses)
  const tools = offered.flatMap((tool) => [
    { toolSpec: writeTool(tool, conversation, names, losses) },
    ...writer.mark(tool),
  ])
  const known = new Set(offered.map((tool) => names.upstream(tool)))
  for (const call of called) {
    const name = names.upstream(call)
    if (known.has(name)) continue
    known.add(name)
    tools.push({ toolSpec: { name, inputSchema: { json: { type: 'object' } } } })
  }
  if (tools.length === 0) return undefined
  return { tools, ...present({ toolChoice: writeChoice(conversation, names) }) }
}

function offeredTools({ tools, toolChoice, fieldNames }: Conversation, losses: Losses): Tool[] {
  if (toolChoice?.mode !== 'allowed') return tools
  losses.add(fieldNames.toolChoice)
  const allowed = new Set(toolChoice.names)
  return tools.filter(({ name }) => allowed.has(name))
}

function writeTool(
  tool: Tool,
  { fieldNames }: Conversation,
  names: ToolNames,
  losses: Losses,
): Json {
  const name = names.upstream(tool)
  if (tool.freeForm !== undefined) {
    losses.add(fieldNames.toolFreeForm)
    const description = freeFormDescription(tool)
    return { name, description, inputSchema: { json: freeFormSchema } }
  }
  const { schema, changed } = objectSchema(tool.schema)
  if (changed) losses.add(fieldNames.tools)
  if (tool.strict === true) losses.add(fieldNames.toolStrict)
  // An empty one is refused.
  const description = tool.description || undefined
  return { name, ...present({ description }), inputSchema: { json: schema } }
}

function writeChoice({ toolChoice, tools }: Conversation, names: ToolNames): Json | undefined {
  if (toolChoice === undefined) return undefined
  if (toolChoice.mode === 'tool') {
    return { tool: { name: names.upstream(toolNamed(tools, toolChoice)) } }
  }
  const isRequired =
    toolChoice.mode === 'allowed' ? toolChoice.required : toolChoice.mode === 'required'
  return isRequired ? { any: {} } : { auto: {} }
}
