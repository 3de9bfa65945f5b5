// Which functions an answer calls, if any: the next ones of a script, the one the request insists on,
// or the one a directive in the user's last words asks for. Knows no wire.
import { type Directives, readDirectives } from '../http/directives.ts'
import { invalid } from '../http/fields.ts'
import type { Fault } from '../protocol.ts'
import { playScript, type WantedAnswer, type WantedCall } from './tool-script.ts'
import { lastUserText, type Tool, type Turn } from './turns.ts'

/** How free the answer is: to call or not, not to call at all, to call any, to call that one. */
export type ToolChoice = 'auto' | 'none' | 'required' | { name: string }

export interface Callable {
  tools: readonly Tool[]
  toolChoice: ToolChoice
  turns: readonly Turn[]
  /** False: at most one call. */
  parallel?: boolean
}

export function chooseCalls(request: Callable, directives: Directives): WantedAnswer | Fault {
  const { toolChoice, turns, parallel } = request
  const tools = request.tools.filter((tool) => tool.name !== '')
  if (toolChoice === 'none') return { calls: [] }
  const played = playScript(turns, tools)
  if (played !== undefined && (played.calls.length > 0 || toolChoice === 'auto')) return played
  // Found anywhere in the request; only the last words count, or a conversation would never end.
  const last = readDirectives({ text: lastUserText(turns) })
  if (toolChoice === 'auto') {
    const directed = directives.tool === undefined ? undefined : directedTool(last, tools)
    return { calls: repeated(directed, tools, last, parallel) }
  }
  const wanted =
    toolChoice === 'required' ? tools[0] : tools.find((tool) => tool.name === toolChoice.name)
  if (wanted !== undefined) return { calls: repeated(wanted, tools, last, parallel) }
  return invalid('tool_choice', "'tool_choice' asks for a function that 'tools' does not have.")
}

function directedTool({ tool: name }: Directives, tools: readonly Tool[]): Tool | undefined {
  return name === '' ? tools[0] : tools.find((tool) => tool.name === name)
}

/** That one and those after it, beginning again behind the last one. */
function repeated(
  first: Tool | undefined,
  tools: readonly Tool[],
  { calls, interleaved }: Directives,
  parallel = true,
): WantedCall[] {
  if (first === undefined) return []
  const at = tools.indexOf(first)
  const count = parallel ? (calls ?? (interleaved ? 2 : 1)) : 1
  return Array.from({ length: count }, (_, i) => ({ tool: tools[(at + i) % tools.length]! }))
}
