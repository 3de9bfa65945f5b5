// The tools of a chat request, and the choice among them.
import type { Conversation, Json, Tool, ToolChoice } from '../common/conversation.ts'
import { freeFormDescription, freeFormSchema } from '../common/free-form.ts'
import { isStrictSchema, objectSchema } from '../common/json-schema.ts'
import type { Losses } from '../common/losses.ts'
import { present } from '../common/request-reading.ts'
import type { Target } from '../common/style.ts'
import { isForced, type ToolNames } from '../common/tool-names.ts'

export function writeTools(
  conversation: Conversation,
  { settings }: Target,
  names: ToolNames,
  losses: Losses,
): Json {
  const { fieldNames, toolChoice, parallelCalls } = conversation
  const tools = offeredTools(conversation)
  if (toolChoice?.mode === 'allowed' || (tools.length === 0 && isForced(toolChoice))) {
    losses.add(fieldNames.toolChoice)
  }
  if (tools.length === 0) return {}
  const { freeFormTools } = settings
  return {
    tools: tools.map((tool) =>
      tool.freeForm === undefined
        ? writeFunction(tool, conversation, names, losses)
        : writeFreeForm(tool, conversation, freeFormTools, names, losses),
    ),
    ...present({
      tool_choice: toolChoice && writeChoice(toolChoice, conversation, freeFormTools, names),
      parallel_tool_calls: parallelCalls,
    }),
  }
}

/** Only upstreams of one vendor know a choice among several. */
function offeredTools({ tools, toolChoice }: Conversation): readonly Tool[] {
  if (toolChoice?.mode !== 'allowed') return tools
  const allowed = new Set(toolChoice.names)
  return tools.filter(({ name }) => allowed.has(name))
}

function writeFunction(
  tool: Tool,
  { fieldNames }: Conversation,
  names: ToolNames,
  losses: Losses,
): Json {
  const { cache, description } = tool
  if (cache !== undefined) losses.add(fieldNames.cache)
  const { schema, changed } = objectSchema(tool.schema)
  const strict = tool.strict === true ? isStrictSchema(schema) : tool.strict
  if (strict !== tool.strict) losses.add(fieldNames.toolStrict)
  if (changed) losses.add(fieldNames.tools)
  return {
    type: 'function',
    function: {
      name: names.upstream(tool),
      ...present({ description }),
      parameters: schema,
      ...present({ strict }),
    },
  }
}

/** As it is where the upstream has such tools; elsewhere as a function with one text. */
function writeFreeForm(
  tool: Tool,
  { fieldNames }: Conversation,
  isNative: boolean,
  names: ToolNames,
  losses: Losses,
): Json {
  const name = names.upstream(tool)
  const { description, cache, freeForm } = tool
  if (cache !== undefined) losses.add(fieldNames.cache)
  if (!isNative) {
    losses.add(fieldNames.toolFreeForm)
    const made = { name, description: freeFormDescription(tool), parameters: freeFormSchema }
    return { type: 'function', function: made }
  }
  const { grammar: definition, syntax = 'lark' } = freeForm ?? {}
  const format =
    definition === undefined
      ? { type: 'text' }
      : { type: 'grammar', grammar: { definition, syntax } }
  return { type: 'custom', custom: { name, ...present({ description }), format } }
}

function writeChoice(
  choice: ToolChoice,
  { tools }: Conversation,
  hasFreeForm: boolean,
  names: ToolNames,
): unknown {
  if (choice.mode === 'allowed') return choice.required ? 'required' : 'auto'
  if (choice.mode !== 'tool') return choice.mode
  const { name, namespace } = choice
  const tool = tools.find((each) => each.name === name && each.namespace === namespace)
  const type = hasFreeForm && tool?.freeForm !== undefined ? 'custom' : 'function'
  return { type, [type]: { name: names.upstream(tool ?? { name }) } }
}
