// Asks an upstream for the token count of a call, where it supports that. A call of another style is
// translated first.
import { Refusal } from '../../contract/errors.ts'
import type { CountReply, Stop, TextProvider, Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { ensure } from '../../lib/ensure.ts'
import { isObject } from '../../lib/json/parse.ts'
import { maxCount, tokenCount } from '../../styles/common/answer-usage.ts'
import { isStyle, styles } from '../../styles/index.ts'
import { failure, notAnswered, upstreamRequestId } from '../common/errors.ts'
import { isRefused, refusedAnswer } from '../common/refused-answer.ts'
import { withoutEnvelopes } from './own-seals.ts'
import { buildBody, post } from './send.ts'
import type { TextStyle } from './style.ts'
import { type Given, translate } from './translate.ts'

const maxAnswerBytes = 64 * 1024

/** The address below the base URL, and the fields of the answer that may hold the count. */
interface Question {
  path: string
  fields: readonly string[]
}

export const counterFor =
  (
    style: TextStyle,
    questionFor: (upstream: Upstream) => Question,
  ): NonNullable<TextProvider['countTokens']> =>
  async (call, upstream, stop) => {
    const question = questionFor(upstream)
    const { translating } = upstream
    if (translating === undefined) {
      const own = isStyle(style.protocol) ? styles[style.protocol] : undefined
      const asked = own === undefined ? call : withoutEnvelopes(own, call)
      const reply = await askForCount(style, question, asked, upstream, stop)
      if (own === undefined || asked === call || reply.kind === 'failed') return reply
      return { ...reply, losses: [own.sealField] }
    }
    const made = await translated(style, { call, upstream, translating })
    if (made instanceof Refusal) {
      const { code, message } = made
      return { kind: 'failed', error: { code, message, about: 'translation' } }
    }
    const reply = await askForCount(style, question, made.call, upstream, stop)
    return reply.kind === 'counted' ? { ...reply, losses: made.losses } : reply
  }

/** The same question in the style of the upstream. */
function translated(
  style: TextStyle,
  { call, upstream, translating }: Given,
): ReturnType<typeof translate> {
  const { interface: own } = call
  ensure(isStyle(own) && isStyle(style.protocol), `${own} can be translated`)
  // Nothing is added to what is counted.
  const settings = { ...translating.settings, autoCache: false }
  const given = { call, upstream, translating: { ...translating, settings } }
  return translate(styles[own], styles[style.protocol], given, true)
}

async function askForCount(
  style: TextStyle,
  { path, fields }: Question,
  call: TextCall,
  upstream: Upstream,
  stop: Stop,
): Promise<CountReply> {
  try {
    // What a channel adds to calls may be no part of a question.
    const body = await buildBody(style, call, { ...upstream, bodyEdits: undefined })
    const answer = await post(style, path, call, upstream, stop, body).answer
    upstream.progress.touch()
    if (isRefused(answer)) return await refusedAnswer(answer)
    const text = await answer.text(maxAnswerBytes, upstream.progress)
    const inputTokens = tokensIn(text ?? '', fields)
    const id = upstreamRequestId(answer)
    if (inputTokens !== undefined) return { kind: 'counted', inputTokens, upstreamRequestId: id }
    const message = 'the upstream answered with something that is not a count of tokens'
    return { kind: 'failed', error: failure('upstream_invalid_response', message, id) }
  } catch (error) {
    return { kind: 'failed', error: notAnswered(error) }
  }
}

function tokensIn(text: string, fields: readonly string[]): number | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const name = isObject(value) ? fields.find((each) => value[each] !== undefined) : undefined
    const counted = isObject(value) && name !== undefined ? tokenCount(value[name]) : undefined
    return counted === maxCount ? undefined : counted
  } catch {
    return undefined
  }
}
