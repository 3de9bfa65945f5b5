// How much an upstream of the messages style shall think: by effort, or by a budget in tokens.
import type { Conversation, Json } from '../common/conversation.ts'
import { budgetOf, effortOf } from '../common/effort.ts'
import type { Losses } from '../common/losses.ts'
import type { Target } from '../common/style.ts'
import type { Message } from './write-messages.ts'

/** Of a budget. */
const minBudget = 1_024

interface Request {
  messages: readonly Message[]
  maxTokens: number
  /** A tool is forced: this style does not think then. */
  isForced: boolean
}

/** `thinking`, and the word for `output_config.effort`. */
interface Thinking {
  thinking?: Json
  effort?: string
}

export function writeThinking(
  conversation: Conversation,
  { settings }: Target,
  request: Request,
  losses: Losses,
): Thinking {
  const effort = effortOf(conversation)
  if (effort === undefined) return {}
  const lose = (): Thinking => {
    losses.add(conversation.fieldNames.effort)
    return {}
  }
  if (effort === 'none')
    return settings.reasoning === 'none' ? {} : { thinking: { type: 'disabled' } }
  if (settings.reasoning === 'none' || request.isForced) return lose()
  const { showReasoning } = conversation
  const display =
    showReasoning === undefined ? {} : { display: showReasoning ? 'summarized' : 'omitted' }
  if (settings.reasoning === 'effort') {
    // There is no smaller word; and a budget is not a word.
    if (effort === 'minimal' || conversation.effort === undefined) lose()
    const word = effort === 'minimal' ? 'low' : effort
    return { thinking: { type: 'adaptive', ...display }, effort: word }
  }
  const wanted = budgetOf(conversation)!
  const budget = Math.min(Math.max(wanted, minBudget), request.maxTokens - 1)
  if (budget < minBudget || continuesUnsealed(request.messages)) return lose()
  if (budget !== wanted) lose()
  return { thinking: { type: 'enabled', budget_tokens: budget, ...display } }
}

/** A turn that goes on after tool results has to begin with its thinking, which is not there. */
function continuesUnsealed(messages: readonly Message[]): boolean {
  const [before, last] = messages.slice(-2)
  if (before?.role !== 'assistant' || last?.content[0]?.['type'] !== 'tool_result') return false
  const type = before.content[0]?.['type']
  return type !== 'thinking' && type !== 'redacted_thinking'
}
