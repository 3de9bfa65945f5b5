// Tools of a responses request, and which of them the model may choose. Tools that the upstream itself
// runs have no counterpart and are refused by name.
import { isObject } from '../../lib/json/parse.ts'
import { flagIn, objectIn, objectsIn, textIn } from '../../lib/json/values.ts'
import type { Json, Tool, ToolChoice } from '../common/conversation.ts'
import { present, type RequestReading } from '../common/request-reading.ts'
import { fieldNames, loseUnknown } from './field-names.ts'

const toolFields = new Set([
  'type',
  'name',
  'description',
  'parameters',
  'strict',
  'format',
  'tools',
])

export interface ToolList {
  list: unknown
  path: string
  /** A search found them: they can be called at once. */
  isFound?: true
}

/** It is repeated with the name of each member. */
const maxNamespaceLength = 256

/** A search for tools has no name of its own. */
export const searchTool = 'tool_search'

/** Of tools with the same name, the first wins. */
export function readTools(lists: readonly ToolList[], reading: RequestReading): Tool[] {
  const tools = new Map<string, Tool>()
  for (const tool of lists.flatMap((each) => readList(each, reading))) {
    const key = `${tool.namespace ?? ''}\n${tool.name}`
    if (!tools.has(key)) tools.set(key, tool)
  }
  return [...tools.values()]
}

function readList(
  { list, path, isFound }: ToolList,
  reading: RequestReading,
  namespace?: string,
): Tool[] {
  if (list === null || list === undefined) return []
  if (!Array.isArray(list)) {
    reading.wrong(path, 'a list of tools')
    return []
  }
  return list.flatMap((each, index) => {
    const at = `${path}[${index}]`
    if (!isObject(each)) {
      reading.wrong(at, 'an object')
      return []
    }
    const tool = isFound ? { ...each, defer_loading: undefined } : each
    if (tool['type'] === 'namespace' && namespace === undefined) {
      return readNamespace(tool, at, reading, isFound)
    }
    return readTool(tool, at, reading, namespace)
  })
}

function readTool(
  tool: Json,
  path: string,
  reading: RequestReading,
  namespace: string | undefined,
): Tool[] {
  const type = textIn(tool, 'type')
  if (type === searchTool && tool['execution'] === 'client') return [readSearch(tool, reading)]
  if (type !== 'function' && type !== 'custom') {
    reading.refuse(`${path}.type`, `tools of the type '${type}' cannot be translated`)
    return []
  }
  reading.losses.addUnknown(tool, toolFields, 'tools.')
  const name = reading.requiredText(tool, 'name', `${path}.`)
  const description = textIn(tool, 'description')
  const common = { name, ...present({ namespace, description }) }
  if (type === 'custom') return [{ ...common, freeForm: formatOf(tool, reading) }]
  const schema = objectIn(tool, 'parameters') ?? {}
  return [{ ...common, schema, ...present({ strict: flagIn(tool, 'strict') }) }]
}

/** The result of a search in words; the tools themselves are offered with the others. */
export function foundText(list: unknown): string {
  const names = (Array.isArray(list) ? list.filter(isObject) : []).flatMap((tool) => {
    const name = textIn(tool, 'name') ?? ''
    if (tool['type'] !== 'namespace' || name.length > maxNamespaceLength) return [name]
    return objectsIn(tool, 'tools').map((member) => `${name}__${textIn(member, 'name') ?? ''}`)
  })
  if (names.length === 0) return 'No tool was found.'
  return `These tools can be called now: ${names.join(', ')}`
}

const searchFields = new Set(['type', 'execution', 'description', 'parameters'])

function readSearch(tool: Json, reading: RequestReading): Tool {
  reading.losses.addUnknown(tool, searchFields, 'tools.')
  const schema = objectIn(tool, 'parameters') ?? {}
  const description = textIn(tool, 'description')
  return { name: searchTool, search: true, schema, ...present({ description }) }
}

/** What a namespace says about itself is of no use to its members elsewhere. */
function readNamespace(
  tool: Json,
  path: string,
  reading: RequestReading,
  isFound: true | undefined,
): Tool[] {
  const name = reading.requiredText(tool, 'name', `${path}.`)
  if (name.length > maxNamespaceLength) {
    reading.wrong(`${path}.name`, `at most ${maxNamespaceLength} characters long`)
    return []
  }
  loseUnknown(tool, 'tools.namespace', reading.losses)
  if (textIn(tool, 'description')) reading.losses.add('tools.namespace.description')
  const members = { list: tool['tools'], path: `${path}.tools`, ...present({ isFound }) }
  return readList(members, reading, name)
}

function formatOf(tool: Json, { losses }: RequestReading): NonNullable<Tool['freeForm']> {
  const format = objectIn(tool, 'format') ?? {}
  const inner = objectIn(format, 'grammar') ?? format
  for (const each of [format, inner]) loseUnknown(each, 'tools.format', losses)
  return present({ grammar: textIn(inner, 'definition'), syntax: textIn(inner, 'syntax') })
}

export function readToolChoice(choice: unknown, reading: RequestReading): ToolChoice | undefined {
  if (choice === null || choice === undefined) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { mode: choice }
  const type = isObject(choice) ? textIn(choice, 'type') : undefined
  if (!isObject(choice) || type === undefined) {
    reading.wrong(fieldNames.toolChoice, 'auto, none, required or an object')
    return undefined
  }
  loseUnknown(choice, 'tool_choice', reading.losses)
  if (type === 'function' || type === 'custom') {
    const name = reading.requiredText(choice, 'name', 'tool_choice.')
    return { mode: 'tool', name, ...present({ namespace: textIn(choice, 'namespace') }) }
  }
  if (type === 'allowed_tools') return allowedTools(choice, reading)
  reading.refuse('tool_choice.type', `a choice of the type '${type}' cannot be translated`)
  return undefined
}

function allowedTools(choice: Json, reading: RequestReading): ToolChoice {
  const tools = objectsIn(choice, 'tools')
  for (const tool of tools) loseUnknown(tool, 'tool_choice', reading.losses)
  const other = tools.find(({ type }) => type !== 'function' && type !== 'custom')
  if (other !== undefined) {
    const type = String(other['type'])
    reading.refuse('tool_choice.tools', `tools of the type '${type}' cannot be translated`)
  }
  return {
    mode: 'allowed',
    names: tools.flatMap((tool) => textIn(tool, 'name') ?? []),
    required: choice['mode'] === 'required',
  }
}
