// Which function an answer calls, if any: the one the request insists on, or the one a directive
// in the user's last words asks for. Knows no wire.
import { type Directives, readDirectives } from '../http/directives.ts'
import { invalid } from '../http/fields.ts'
import type { Fault } from '../protocol.ts'
import { lastUserText, type Tool, type Turn } from './turns.ts'

/** How free the answer is: to call or not, not to call at all, to call any, to call that one. */
export type ToolChoice = 'auto' | 'none' | 'required' | { name: string }

export interface Callable {
  tools: readonly Tool[]
  toolChoice: ToolChoice
  turns: readonly Turn[]
}

export function chooseTool(request: Callable, directives: Directives): Tool | undefined | Fault {
  const { toolChoice } = request
  const tools = request.tools.filter((tool) => tool.name !== '')
  if (toolChoice === 'none') return undefined
  if (toolChoice === 'auto') return directedTool(request.turns, tools, directives)
  const wanted =
    toolChoice === 'required' ? tools[0] : tools.find((tool) => tool.name === toolChoice.name)
  const message = "'tool_choice' asks for a function that 'tools' does not have."
  return wanted ?? invalid('tool_choice', message)
}

function directedTool(
  turns: readonly Turn[],
  tools: readonly Tool[],
  directives: Directives,
): Tool | undefined {
  // Found anywhere in the request; only the last words count, or a conversation would never end.
  if (directives.tool === undefined) return undefined
  const { tool: name } = readDirectives({ text: lastUserText(turns) })
  return name === '' ? tools[0] : tools.find((tool) => tool.name === name)
}
