// The events of a whole answer as blocks, for styles that give an answer as one object.
import type { AnswerEvent, AnswerUsage, Block, Citation } from './answer.ts'
import type { Seal } from './envelope.ts'

export interface CollectedBlock {
  block: Block
  /** The text, or the input of a call. */
  text: string
  seal?: Seal
  citations: Citation[]
}

interface CollectedAnswer {
  blocks: CollectedBlock[]
  stop: Omit<Extract<AnswerEvent, { type: 'stop' }>, 'type'> | undefined
  usage: AnswerUsage | undefined
}

export function collectAnswer(events: readonly AnswerEvent[]): CollectedAnswer {
  const answer: CollectedAnswer = { blocks: [], stop: undefined, usage: undefined }
  for (const event of events) {
    const last = answer.blocks.at(-1)
    if (event.type === 'open') answer.blocks.push({ block: event.block, text: '', citations: [] })
    else if (event.type === 'stop') answer.stop = event
    else if (event.type === 'usage') answer.usage = event.usage
    else if (last !== undefined) grow(last, event)
  }
  return answer
}

function grow(last: CollectedBlock, event: AnswerEvent): void {
  if (event.type === 'text' || event.type === 'input') last.text += event.text
  else if (event.type === 'seal') last.seal = event.seal
  else if (event.type === 'cite') last.citations.push(event.citation)
}
