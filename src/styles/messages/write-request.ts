// A conversation as a messages request.
import { Refusal } from '../../contract/errors.ts'
import type { Conversation, Json, TextPart, Tool } from '../common/conversation.ts'
import { freeFormDescription, freeFormSchema } from '../common/free-form.ts'
import {
  isStrictSchema,
  objectSchema,
  withDescription,
  withoutConstraints,
} from '../common/json-schema.ts'
import { type Losses, notCarried, strictRefusal } from '../common/losses.ts'
import { present } from '../common/request-reading.ts'
import { writeTier } from '../common/service-tier.ts'
import type { Target } from '../common/style.ts'
import type { ToolNames } from '../common/tool-names.ts'
import { withUserTurn } from '../common/turns.ts'
import { limitMarks } from './cache-marks.ts'
import { lackedSettings, maxTemperature } from './fields.ts'
import { type Block, BlockWriter, marked } from './write-blocks.ts'
import { type Message, writeMessages } from './write-messages.ts'
import { writeThinking } from './write-thinking.ts'

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
  const messages = writeMessages(conversation, target, writer, losses)
  if (messages instanceof Refusal) return messages
  const answer = writeFormat(conversation, target, names, losses)
  if (answer instanceof Refusal) return answer
  const system: Block[] = [...conversation.system, ...answer.instructions].map((part) =>
    marked({ type: 'text', text: part.text }, part),
  )
  const tools = answer.tools ?? writeTools(conversation, target, names, losses)
  limitMarks({ tools, system, messages }, conversation, target, losses)
  const settings = writeSettings(conversation, target, { messages, tools, answer }, names, losses)
  const request = {
    model: target.model,
    max_tokens: settings.maxTokens,
    ...(system.length > 0 && { system }),
    messages,
    ...(tools.length > 0 && { tools }),
    ...settings.fields,
    ...(target.stream && { stream: true }),
  }
  return strictRefusal(target.strict, losses) ?? request
}

/** This style has one faster tier. */
const speeds = { fast: 'fast', priority: 'fast' }

interface Written {
  messages: readonly Message[]
  tools: readonly Block[]
  answer: Answer
}

/** What depends on each other: a forced tool excludes thinking, and thinking excludes sampling. */
function writeSettings(
  conversation: Conversation,
  target: Target,
  { messages, tools, answer }: Written,
  names: ToolNames,
  losses: Losses,
): { maxTokens: number; fields: Json } {
  const maxTokens = writeLimit(conversation, target, losses)
  const choice = answer.toolChoice ?? writeChoice(conversation, names, tools.length > 0, losses)
  const isForced = choice?.['type'] === 'any' || choice?.['type'] === 'tool'
  const request = { messages, maxTokens, isForced }
  const { thinking, effort } = writeThinking(conversation, target, request, losses)
  const isThinking = thinking !== undefined && thinking['type'] !== 'disabled'
  const output = present({ effort, format: answer.format })
  return {
    maxTokens,
    fields: {
      ...present({ tool_choice: choice, thinking }),
      ...present({ speed: writeTier(conversation, speeds, losses) }),
      ...(Object.keys(output).length > 0 && { output_config: output }),
      ...writeStop(conversation, losses),
      ...writeSampling(conversation, isThinking, losses),
    },
  }
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

/** Never more than the hold is for. */
function writeLimit(
  { fieldNames, maxOutputTokens: wanted }: Conversation,
  { maxOutputTokens }: Target,
  losses: Losses,
): number {
  if (wanted !== undefined && wanted > maxOutputTokens) losses.add(fieldNames.maxOutputTokens)
  return Math.min(wanted ?? maxOutputTokens, maxOutputTokens)
}

interface Answer {
  instructions: TextPart[]
  format?: Json
  /** The only tool, in whose input the answer comes. */
  tools?: Block[]
  toolChoice?: Json
}

const answerTool = 'json_answer'

/** Upstreams that take no schema for the answer take one for the input of a tool. */
function writeFormat(
  { fieldNames, format, tools }: Conversation,
  { settings }: Target,
  names: ToolNames,
  losses: Losses,
): Answer | Refusal {
  if (format.kind === 'text') return { instructions: [] }
  if (format.kind === 'schema' && settings.outputSchema) {
    const given = withDescription(format.schema, format.description)
    const { schema, changed } = withoutConstraints(given.schema)
    if (given.changed || changed) losses.add(fieldNames.format)
    return { instructions: [], format: { type: 'json_schema', schema } }
  }
  losses.add(fieldNames.format)
  if (tools.length > 0) {
    if (format.kind === 'json') return { instructions: [jsonInstruction] }
    return notCarried(fieldNames.format, 'its upstream takes a schema or tools, not both')
  }
  const { schema, changed } = objectSchema(format.kind === 'schema' ? format.schema : undefined)
  if (changed) return notCarried(fieldNames.format, 'its upstream takes a schema of an object only')
  names.answerTool = answerTool
  return {
    instructions: [jsonInstruction],
    tools: [{ name: answerTool, description: 'Gives the answer.', input_schema: schema }],
    toolChoice: { type: 'tool', name: answerTool },
  }
}

const jsonInstruction: TextPart = {
  type: 'text',
  text: 'Answer with one JSON object and nothing else.',
}

function writeStop({ fieldNames, stop }: Conversation, losses: Losses): Json {
  const kept = stop.filter((each) => each.trim() !== '')
  if (kept.length < stop.length) losses.add(fieldNames.stop)
  return kept.length === 0 ? {} : { stop_sequences: kept }
}

/** While it thinks, this style samples as it likes. */
function writeSampling(
  { fieldNames, sampling }: Conversation,
  isThinking: boolean,
  losses: Losses,
): Json {
  const { temperature: wanted, topP, topK } = sampling
  losses.addSettings({ fieldNames, sampling }, lackedSettings)
  const temperature =
    wanted === undefined || isThinking ? undefined : Math.min(wanted, maxTemperature)
  if (wanted !== undefined && temperature !== wanted && !(isThinking && wanted === 1)) {
    losses.add(fieldNames.temperature)
  }
  const keepsTopP = !isThinking || (topP !== undefined && topP >= minThinkingTopP)
  if (topP !== undefined && !keepsTopP) losses.add(fieldNames.topP)
  if (topK !== undefined && isThinking) losses.add(fieldNames.topK)
  return present({
    temperature,
    top_p: keepsTopP ? topP : undefined,
    top_k: isThinking ? undefined : topK,
  })
}

const minThinkingTopP = 0.95

function writeTools(
  conversation: Conversation,
  { settings }: Target,
  names: ToolNames,
  losses: Losses,
): Block[] {
  const { tools, toolChoice, fieldNames } = conversation
  if (toolChoice?.mode !== 'allowed') {
    return tools.map((tool) => writeTool(tool, conversation, settings.outputSchema, names, losses))
  }
  losses.add(fieldNames.toolChoice)
  const allowed = new Set(toolChoice.names)
  return tools
    .filter(({ name }) => allowed.has(name))
    .map((tool) => writeTool(tool, conversation, settings.outputSchema, names, losses))
}

function writeTool(
  tool: Tool,
  { fieldNames }: Conversation,
  takesStrict: boolean,
  names: ToolNames,
  losses: Losses,
): Block {
  const name = names.upstream(tool)
  if (tool.freeForm !== undefined) {
    losses.add(fieldNames.toolFreeForm)
    const described = { name, description: freeFormDescription(tool), input_schema: freeFormSchema }
    return marked(described, tool)
  }
  const { schema, changed } = objectSchema(tool.schema)
  if (changed) losses.add(fieldNames.tools)
  // Upstreams that hold an answer to a schema hold the input of a tool to one, too.
  const isStrict = tool.strict === true && takesStrict && isStrictSchema(schema)
  if (tool.strict === true && !isStrict) losses.add(fieldNames.toolStrict)
  const { description } = tool
  return marked(
    { name, ...present({ description }), input_schema: schema, ...(isStrict && { strict: true }) },
    tool,
  )
}

function writeChoice(
  conversation: Conversation,
  names: ToolNames,
  hasTools: boolean,
  losses: Losses,
): Json | undefined {
  const { toolChoice, parallelCalls, tools, fieldNames } = conversation
  if (!hasTools) {
    if (toolChoice?.mode === 'required' || toolChoice?.mode === 'tool')
      losses.add(fieldNames.toolChoice)
    return undefined
  }
  const single = parallelCalls === false && { disable_parallel_tool_use: true }
  if (toolChoice === undefined) return single ? { type: 'auto', ...single } : undefined
  if (toolChoice.mode === 'none') return { type: 'none' }
  if (toolChoice.mode === 'tool') {
    const { name, namespace } = toolChoice
    const tool = tools.find((each) => each.name === name && each.namespace === namespace)
    return { type: 'tool', name: names.upstream(tool ?? { name }), ...single }
  }
  const isRequired =
    toolChoice.mode === 'allowed' ? toolChoice.required : toolChoice.mode === 'required'
  return { type: isRequired ? 'any' : 'auto', ...single }
}
