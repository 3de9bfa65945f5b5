// Marks for the upstream's prompt cache: at most four, of which the last ones count; and those that an
// operator may have added where the caller sets none. These are on the system prompt and on the last
// two turns of the user: the next call marks the last turn again and reads what was written up to it.
import type { Conversation } from '../common/conversation.ts'
import type { Losses } from '../common/losses.ts'
import type { Target } from '../common/style.ts'
import type { Block } from './write-blocks.ts'
import type { Message } from './write-messages.ts'

const maxMarks = 4
const markedTurns = 2
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
    const turns = messages.filter(({ role }) => role === 'user').slice(-markedTurns)
    const last = [system.at(-1) ?? tools.at(-1), ...turns.map(({ content }) => content.at(-1))]
    for (const block of last) {
      if (block === undefined) continue
      block[field] = { type: 'ephemeral' }
      losses.cacheMarks++
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
