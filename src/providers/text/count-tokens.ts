// Asks an upstream for the token count of a call, where it supports that.

import type { CountReply, Stop, Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import { failure, notAnswered, upstreamRequestId } from '../common/errors.ts'
import { isRefused, refusedAnswer } from '../common/refused-answer.ts'
import { buildBody, post } from './send.ts'
import type { TextStyle } from './style.ts'
import { count, maxCount } from './usage.ts'

const maxAnswerBytes = 64 * 1024

export async function askForCount(
  style: TextStyle,
  /** The address below the base URL, and the fields of the answer that may hold the count. */
  { path, fields }: { path: string; fields: readonly string[] },
  call: TextCall,
  upstream: Upstream,
  stop: Stop,
): Promise<CountReply> {
  try {
    const body = await buildBody(style, call, upstream)
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
    const counted = isObject(value) && name !== undefined ? count(value[name]) : undefined
    return counted === maxCount ? undefined : counted
  } catch {
    return undefined
  }
}
