// Seals of other upstreams in a messages request: whole blocks of thinking, which are refused without.
import { isObject } from '../../lib/json/parse.ts'
import { objectIn, objectsIn } from '../../lib/json/values.ts'
import type { Json } from '../common/conversation.ts'
import { type IsForeign, mapObjects } from '../common/envelope.ts'

const sealFields: Readonly<Record<string, string>> = {
  thinking: 'signature',
  redacted_thinking: 'data',
}

export function stripSeals(request: Json, isForeign: IsForeign): Json {
  const stripped = mapObjects(request, 'messages', (message) => {
    const plain = mapObjects(message, 'content', (block) => {
      const type = String(block['type'])
      const field = Object.hasOwn(sealFields, type) ? sealFields[type] : undefined
      return field !== undefined && isForeign(block[field]) ? undefined : block
    })
    const { content } = plain
    return plain !== message && Array.isArray(content) && content.length === 0 ? undefined : plain
  })
  const cannotThink =
    stripped !== request && thinksByBudget(stripped) && continuesUnsealed(stripped)
  return cannotThink ? withoutThinking(stripped) : stripped
}

const thinksByBudget = ({ thinking }: Json): boolean =>
  isObject(thinking) && thinking['type'] === 'enabled'

/** With a budget, a turn that goes on after results has to begin with its thinking. */
function continuesUnsealed(request: Json): boolean {
  const [before, last] = objectsIn(request, 'messages').slice(-2)
  if (before?.['role'] !== 'assistant' || last === undefined) return false
  const goesOn = objectsIn(last, 'content').some(({ type }) => type === 'tool_result')
  const first = objectsIn(before, 'content')[0]
  return goesOn && !Object.hasOwn(sealFields, String(first?.['type']))
}

/** Rules for clearing thinking are refused without it. */
function withoutThinking({ thinking: _, ...rest }: Json): Json {
  const management = objectIn(rest, 'context_management')
  if (management === undefined) return rest
  const kept = mapObjects(management, 'edits', (edit) =>
    String(edit['type']).startsWith('clear_thinking') ? undefined : edit,
  )
  return kept === management ? rest : { ...rest, context_management: kept }
}
