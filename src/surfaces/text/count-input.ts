// Roughly how many tokens the input of a call has: rather too high than too low, because it sizes
// the hold. Reads the content shapes of all text styles.
import { countTokens } from '../../lib/count-tokens.ts'
import { isObject } from '../../lib/json.ts'

/** What a message costs besides its words. */
const perMessage = 8
/** A picture costs hundreds to a few thousand tokens whatever its bytes are. */
const perMedia = 2_048

export function countMessages(messages: readonly unknown[]): number {
  let total = 0
  for (const message of messages) {
    total += perMessage
    if (typeof message === 'string') total += countTokens(message)
    if (!isObject(message)) continue
    total += countContent(message['content'])
    const calls = message['tool_calls']
    if (calls != null) total += countTokens(JSON.stringify(calls))
    if (message['content'] === undefined && message['role'] === undefined)
      total += countItem(message)
  }
  return total
}

/** A text, or a list of parts. */
export function countContent(content: unknown): number {
  if (typeof content === 'string') return countTokens(content)
  if (!Array.isArray(content)) return 0
  let total = 0
  for (const part of content) {
    if (typeof part === 'string') total += countTokens(part)
    else if (isObject(part)) total += countPart(part)
  }
  return total
}

/** Tools and other structures that the model reads as JSON. */
export const countJson = (value: unknown): number =>
  value == null ? 0 : countTokens(JSON.stringify(value))

const media = /image|screenshot|document|file|audio|video/

function countPart(part: Readonly<Record<string, unknown>>): number {
  const { text, type, content, thinking, input } = part
  if (typeof text === 'string') return countTokens(text)
  if (typeof thinking === 'string') return countTokens(thinking)
  if (content !== undefined) return countContent(content)
  if (input !== undefined) return countJson(input)
  return typeof type === 'string' && !media.test(type) ? countJson(part) : perMedia
}

/** An item of a list of input that is no message: a call of a tool, its result, a reference. */
function countItem(item: Readonly<Record<string, unknown>>): number {
  const { output, arguments: given, summary } = item
  const sizeOf = (value: unknown) => (isObject(value) ? countPart(value) : countContent(value))
  return sizeOf(output) + sizeOf(given) + sizeOf(summary)
}
