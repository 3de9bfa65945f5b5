// Thinking that comes back must be as it was given out: signed here, for this text, before this call.
import { asList, asObject, asText, type Json } from '../http/fields.ts'
import type { Fault } from '../protocol.ts'
import { digestOf, type Seals } from '../text/seals.ts'

const isThinking = (block: Json) =>
  ['thinking', 'redacted_thinking'].includes(asText(block['type']))

export function sealFault(fields: Json, seals: Seals): Fault | undefined {
  const messages = asList(fields['messages']).map(asObject)
  for (const [index, { role, content }] of messages.entries()) {
    const blocks = asList(content).map(asObject)
    for (const [at, block] of blocks.entries()) {
      if (!isThinking(block)) continue
      const problem =
        role === 'assistant'
          ? problemOf(block, blocks.slice(at + 1), seals)
          : `\`${block['type']}\` blocks may only be in \`assistant\` messages`
      if (problem !== undefined) return refused(`messages.${index}.content.${at}`, problem)
    }
  }
  return unfinished(fields, messages)
}

const refused = (place: string, problem: string): Fault => ({
  status: 400,
  message: `${place}: ${problem}`,
  param: place,
})

function problemOf(block: Json, after: readonly Json[], seals: Seals): string | undefined {
  const isRedacted = block['type'] === 'redacted_thinking'
  const field = isRedacted ? 'data' : 'signature'
  if (typeof block[field] !== 'string') return `${block['type']}.${field}: Field required`
  const claims = seals.open(block[field])
  const call = after.find((each) => isThinking(each) || each['type'] === 'tool_use')
  const callId = call?.['type'] === 'tool_use' ? asText(call['id']) : ''
  const isSame = isRedacted
    ? claims?.['redacted'] === true
    : claims?.['text'] === digestOf(asText(block['thinking']))
  if (isSame && claims?.['call'] === callId) return undefined
  return `Invalid \`${field}\` in \`${block['type']}\` block`
}

/** With a budget for thinking, a turn that goes on after results has to begin with its thinking. */
function unfinished(fields: Json, messages: readonly Json[]): Fault | undefined {
  const [before, last] = messages.slice(-2)
  if (asObject(fields['thinking'])['type'] !== 'enabled' || before?.['role'] !== 'assistant') {
    return undefined
  }
  const goesOn = asList(last?.['content']).some((one) => asObject(one)['type'] === 'tool_result')
  const first = asObject(asList(before['content'])[0])
  if (!goesOn || isThinking(first)) return undefined
  const problem = `Expected \`thinking\` or \`redacted_thinking\`, but found \`${first['type']}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block`
  return refused(`messages.${messages.length - 2}.content.0.type`, problem)
}
