// Turns of a conversation as messages: the first is the user's, roles alternate, every call has its
// result in the turn after it.
import { Refusal } from '../../contract/errors.ts'
import type { Conversation, Turn } from '../common/conversation.ts'
import type { Losses } from '../common/losses.ts'
import type { Target } from '../common/style.ts'
import { emptyRefusal, foldInstructions, repairCalls } from '../common/turns.ts'
import type { Block, BlockWriter } from './write-blocks.ts'

export interface Message {
  role: Turn['role']
  content: Block[]
}

const firstTurn = '(the conversation begins with the assistant)'

export function writeMessages(
  conversation: Conversation,
  { settings }: Target,
  writer: BlockWriter,
  losses: Losses,
): Message[] | Refusal {
  const { fieldNames } = conversation
  const repaired = repairCalls(conversation)
  if (repaired instanceof Refusal) return repaired
  const folds = settings.instructions === 'first'
  const { turns, changed } = folds ? foldInstructions(repaired.turns) : repaired
  if (changed || repaired.changed) losses.add(fieldNames.turns)
  const messages = withContent(turns, writer)
  if (writer.problem !== undefined) return writer.problem
  if (messages.length === 0) return emptyRefusal(conversation)
  if (messages[0]!.role !== 'user') {
    losses.add(fieldNames.turns)
    messages.unshift({ role: 'user', content: [{ type: 'text', text: firstTurn }] })
  }
  if (trimLast(messages)) losses.add(fieldNames.turns)
  return messages
}

/** Turns of which nothing is left are gone, and their neighbours become one. */
function withContent(turns: readonly Turn[], writer: BlockWriter): Message[] {
  const messages: Message[] = []
  for (const { role, parts } of turns) {
    const last = messages.at(-1)
    const isSame = last?.role === role
    const content: Block[] = isSame ? last.content : []
    for (const part of parts) {
      const block = writer.block(part)
      if (block !== undefined) content.push(block)
    }
    if (!isSame && content.length > 0) messages.push({ role, content })
  }
  return messages
}

/** An answer that the model shall continue must not end with white space. */
function trimLast(messages: readonly Message[]): boolean {
  const last = messages.at(-1)
  const block = last?.role === 'assistant' ? last.content.at(-1) : undefined
  const text = block?.['text']
  if (block === undefined || typeof text !== 'string') return false
  block['text'] = text.trimEnd()
  return block['text'] !== text
}
