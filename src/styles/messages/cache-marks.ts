// Marks for the upstream's prompt cache: at most four, of which the last ones count; and the two that
// an operator may have added where the caller sets none.
import type { Conversation } from '../common/conversation.ts'
import type { Losses } from '../common/losses.ts'
import type { Target } from '../common/style.ts'
import type { Block } from './write-blocks.ts'
import type { Message } from './write-messages.ts'

const maxMarks = 4
const field = 'cache_control'

/** In the order in which the upstream puts them together. */
interface Request {
  tools: readonly Block[]
  system: readonly Block[]
  messages: readonly Message[]
}

export function limitMarks(
  { tools, system, messages }: Request,
  { fieldNames }: Conversation,
  { settings }: Target,
  losses: Losses,
): void {
  const blocks = [...tools, ...system, ...messages.flatMap(({ content }) => content)]
  const marks = blocks.flatMap(markedIn)
  if (marks.length === 0 && settings.autoCache) {
    const last = messages.findLast(({ role }) => role === 'user')?.content.at(-1)
    for (const block of [system.at(-1) ?? tools.at(-1), last]) {
      if (block !== undefined) block[field] = { type: 'ephemeral' }
    }
  }
  if (marks.length <= maxMarks) return
  losses.add(fieldNames.cache)
  for (const block of marks.slice(0, -maxMarks)) delete block[field]
}

/** The content of a result has blocks, too. */
function markedIn(block: Block): Block[] {
  const { content } = block
  const inner = Array.isArray(content) ? (content as Block[]).flatMap(markedIn) : []
  return block[field] === undefined ? inner : [...inner, block]
}
