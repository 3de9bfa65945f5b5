// Seals of other upstreams in a messages request: whole blocks of thinking, which are refused without.
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from '../common/conversation.ts'
import { type IsForeign, mapObjects } from '../common/envelope.ts'

const sealFields: Readonly<Record<string, string>> = {
  thinking: 'signature',
  redacted_thinking: 'data',
}

export function stripSeals(request: Json, isForeign: IsForeign): Json {
  const stripped = mapObjects(request, 'messages', (message) => {
    const plain = mapObjects(message, 'content', (block) => {
      const field = sealFields[String(block['type'])]
      return field !== undefined && isForeign(block[field]) ? undefined : block
    })
    const { content } = plain
    return plain !== message && Array.isArray(content) && content.length === 0 ? undefined : plain
  })
  return stripped === request || !thinksByBudget(stripped) ? stripped : withoutThinking(stripped)
}

const thinksByBudget = ({ thinking }: Json): boolean =>
  isObject(thinking) && thinking['type'] === 'enabled'

/** With a budget, a turn that goes on after results has to begin with its thinking. */
const withoutThinking = ({ thinking: _, ...rest }: Json): Json => rest
