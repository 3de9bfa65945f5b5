// A tool loop that a prompt prescribes: `[[sim:tools=[["Read",{"path":"a"}],["Bash",{"command":"ls"}]]]]`
// calls the first tool, after its result the second one, and ends with a text that quotes the last
// result. Where it stands is read from the conversation: nothing is remembered.
import { type Part, resultTexts, type Tool, type Turn } from './turns.ts'

const opening = '[[sim:tools='
const closing = ']]'
/** Of ends tried: each bracket in a script is a possible one. */
const maxEnds = 2_000
const maxQuoted = 2_000
/** What a gateway keeps of a name that is too long for an upstream. */
const keptLetters = 47

export interface WantedCall {
  tool: Tool
  /** As a script has it; undefined: the smallest that fits. */
  input?: unknown
}

export interface WantedAnswer {
  calls: readonly WantedCall[]
  /** Instead of prose, when nothing is called. */
  text?: string
}

interface ScriptCall {
  name: string
  input?: unknown
}

/** The calls of each step: a step of several is answered by as many results. */
type Script = readonly (readonly ScriptCall[])[]

/** Undefined when there is no script, or no tool at all: tools also ask for titles and summaries. */
export function playScript(
  turns: readonly Turn[],
  tools: readonly Tool[],
): WantedAnswer | undefined {
  const parts = turns.flatMap(({ role, parts }) => parts.map((part) => ({ role, part })))
  const at = parts.findLastIndex(
    ({ role, part }) => role === 'user' && textOf(part).includes(opening),
  )
  const script = at === -1 ? undefined : readScript(textOf(parts[at]!.part))
  if (script === undefined || tools.length === 0) return undefined
  const results = resultTexts(parts.slice(at + 1).map(({ part }) => part))
  const step = script[stepAfter(script, results.length)]
  if (step === undefined) return { calls: [], text: endOf(results.at(-1)) }
  const calls = step.map(({ name, input }) => ({ tool: findTool(tools, name), input }))
  const missing = calls.findIndex(({ tool }) => tool === undefined)
  if (missing === -1) return { calls: calls as WantedCall[] }
  return { calls: [], text: `The tool ${step[missing]!.name} is not offered.` }
}

const textOf = (part: Part): string => (part.kind === 'text' && !part.result ? part.text : '')

const endOf = (result: string | undefined): string =>
  result === undefined ? 'Done.' : `Done. The last result was: ${result.slice(0, maxQuoted)}`

function stepAfter(script: Script, results: number): number {
  let left = results
  return script.findIndex(({ length }) => {
    left -= length
    return left < 0
  })
}

function readScript(text: string): Script | undefined {
  const from = text.lastIndexOf(opening) + opening.length
  let end = text.indexOf(closing, from)
  for (let tried = 0; end !== -1 && tried < maxEnds; tried++) {
    const value = parse(text.slice(from, end))
    if (value !== undefined) return stepsOf(value)
    end = text.indexOf(closing, end + 1)
  }
  return undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

//   [["a", {}], [["b", {}], ["c", "text"]]] -> one step with a, one with b and c
function stepsOf(value: unknown): Script | undefined {
  if (!Array.isArray(value)) return undefined
  const steps = value.map((step) => (Array.isArray(step) && Array.isArray(step[0]) ? step : [step]))
  const calls = steps.map((step) => step.map(callOf))
  return calls.flat().includes(undefined) ? undefined : (calls as ScriptCall[][])
}

function callOf(value: unknown): ScriptCall | undefined {
  const [name, input] = Array.isArray(value) ? value : [value]
  return typeof name === 'string' ? { name, input } : undefined
}

/** `space__name` also names a tool in a namespace, and a long name the one that was cut from it. */
function findTool(tools: readonly Tool[], name: string): Tool | undefined {
  const isCut = (tool: Tool) =>
    name.length > keptLetters && tool.name.startsWith(`${name.slice(0, keptLetters)}_`)
  return (
    tools.find((tool) => tool.name === name) ??
    tools.find((tool) => tool.namespace && `${tool.namespace}__${tool.name}` === name) ??
    tools.find(isCut)
  )
}
