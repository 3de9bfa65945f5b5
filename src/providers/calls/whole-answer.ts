// A whole answer of a call that is no conversation: what it reports, and its body for the caller. Plain data in and
// out, so that a thread can do the work for a large one.
import { answerWithoutCosts } from '../../contract/cost-fields.ts'
import type { Reported, UpstreamError } from '../../contract/provider.ts'
import { isObject } from '../../lib/json/parse.ts'
import { withField } from '../../lib/json/splice.ts'
import { countTokens } from '../../lib/text/count-tokens.ts'
import { type AnswerHead, readTextError } from '../common/errors.ts'
import { isPage, parseUpstream } from '../text/read-events.ts'
import type { Json } from '../text/style.ts'
import type { AnsweredCall, CallStyle } from './style.ts'

export type WholeAnswer =
  | { kind: 'body'; body: string; reported: Reported; outputTokens: number }
  /** As the stream that was asked for. */
  | { kind: 'events'; body: string }
  | { kind: 'failed'; error: UpstreamError }
  | { kind: 'none'; isPage: boolean }

export function readWhole(
  style: CallStyle,
  call: AnsweredCall,
  head: AnswerHead,
  text: string,
): WholeAnswer {
  const form = style.formOf?.(call) ?? 'json'
  const none = { kind: 'none', isPage: isPage(text) } as const
  const parsed = parseUpstream(text)
  if (!isObject(parsed)) return none
  if (parsed['error'] != null) return { kind: 'failed', error: readTextError(head, text) }
  const read = form === 'file' ? undefined : style.readAnswer(parsed, call)
  if (read === undefined) return none
  if (call.stream) {
    return style.stream === undefined
      ? none
      : { kind: 'events', body: style.stream.fromAnswer(parsed).join('') }
  }
  const { reported, text: said = '' } = read
  const body = form === 'text' ? said : shownBody(parsed, read.body, text, call.model)
  return { kind: 'body', body, reported, outputTokens: countTokens(said) }
}

/** With the caller's name for the model, if the answer names one, and without what tells the operator's costs. */
function shownBody(answer: Json, body: string | undefined, sent: string, model: string): string {
  const shown = answerWithoutCosts(answer)
  const own = body ?? (shown === answer ? sent : JSON.stringify(shown))
  return answer['model'] === undefined || body !== undefined
    ? own
    : withField(own, 'model', JSON.stringify(model))
}
