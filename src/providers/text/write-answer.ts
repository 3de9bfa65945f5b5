// The answer of an upstream as JSON in the style of the caller. Plain data in and out, so that a thread can do
// the work for a large one.
import type { UpstreamError } from '../../contract/provider.ts'
import { isObject } from '../../lib/json/parse.ts'
import type { AnswerEvent, AnswerUsage } from '../../styles/common/answer.ts'
import type { Json } from '../../styles/common/conversation.ts'
import { needsExact, parseExact } from '../../styles/common/exact-json.ts'
import type { ReadContext, Style, UpstreamStyle, WriteContext } from '../../styles/common/style.ts'
import { AnswerLosses } from './translated-stream.ts'

interface Contexts {
  reading: ReadContext
  writing: WriteContext
}

/** The body, and what is known of it. */
interface GivenAnswer {
  body: string
  parsed?: Json
  outline?: Json
}

interface WrittenAnswer {
  body: string
  losses: readonly string[]
  /** It ended with calls of tools. */
  hasCalls: boolean
}

/** A failure that the upstream reports in it. `usage`: as its caller is shown it. */
export function writeAnswer(
  from: Style,
  to: UpstreamStyle,
  { reading, writing }: Contexts,
  { body, parsed, outline }: GivenAnswer,
  usage: () => AnswerUsage,
): WrittenAnswer | UpstreamError {
  const isExact = parsed !== undefined && !needsExact(body)
  const answer = outline ?? (isExact ? parsed : parseExact(body))
  const events: AnswerEvent[] = []
  const lost = new AnswerLosses()
  if (outline !== undefined) lost.add('content')
  let failure: UpstreamError | undefined
  to.readAnswer(isObject(answer) ? answer : {}, reading, (event) => {
    if (event.type === 'fail') failure ??= event.error
    else if (event.type === 'lost') lost.add(event.what)
    else if (event.type !== 'usage') events.push(event)
  })
  if (failure !== undefined) return failure
  events.push({ type: 'usage', usage: usage() })
  const hasCalls = events.some((event) => event.type === 'stop' && event.reason === 'calls')
  const written = JSON.stringify(from.writeAnswer(events, writing))
  return { body: written, losses: lost.names, hasCalls }
}
