// One chat call to one upstream. Every way it can go wrong comes back as a value.
import type { HttpAnswer, Stop, TextReply, Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { countTokens } from '../../lib/count-tokens.ts'
import { isObject } from '../../lib/json.ts'
import { restoreModel, upstreamBody } from './body.ts'
import { readError, upstreamRequestId } from './errors.ts'
import { readUsage } from './usage.ts'
import { ChatStreamWatcher } from './watch-stream.ts'

const maxAnswerBytes = 64 * 1024 * 1024
const maxErrorBytes = 64 * 1024
const noAnswer = 'the upstream answered with something that is not a chat completion'

export async function send(call: TextCall, upstream: Upstream, stop: Stop): Promise<TextReply> {
  const sent = upstream.http.post(
    `${upstream.baseUrl}/chat/completions`,
    {
      authorization: `Bearer ${upstream.key}`,
      'content-type': 'application/json',
      accept: call.stream ? 'text/event-stream' : 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'model-gateway',
    },
    upstreamBody(call, upstream.model),
    upstream.timeouts,
  )
  stop.heardBy(sent)
  let answer: HttpAnswer
  try {
    answer = await sent.answer
  } catch (error) {
    return notAnswered(error)
  }
  upstream.progress.touch()
  const requestId = upstreamRequestId(answer)
  if (answer.status !== 200) {
    const text = await answer.text(maxErrorBytes).catch(() => '')
    return { kind: 'failed', error: readError(answer, text ?? '') }
  }
  if (answer.header('content-encoding') !== undefined) {
    answer.cancel()
    const message = 'the upstream compressed its answer although it was asked not to'
    return failed('upstream_invalid_response', message, requestId)
  }
  if (!call.stream) return readAnswer(call, upstream, answer, requestId)
  if (!answer.header('content-type')?.includes('event-stream')) {
    answer.cancel()
    return failed(
      'upstream_invalid_response',
      'the upstream did not answer with a stream',
      requestId,
    )
  }
  return {
    kind: 'stream',
    answer,
    upstreamRequestId: requestId,
    watcher: new ChatStreamWatcher({
      restoreTo: upstream.model === call.model ? undefined : call.model,
      wantsUsage: call.wantsUsage,
      choices: call.choices,
      upstreamRequestId: requestId,
    }),
  }
}

/** What the client says of an answer that never began; its own words stay in our log. */
function notAnswered(error: unknown): TextReply {
  if ((error as { kind?: string }).kind === 'invalid') {
    const message = 'the upstream answered with something that is not HTTP'
    return failed('upstream_invalid_response', message, undefined, error)
  }
  return failed('upstream_unreachable', 'the upstream could not be reached', undefined, error)
}

async function readAnswer(
  call: TextCall,
  upstream: Upstream,
  response: HttpAnswer,
  requestId: string | undefined,
): Promise<TextReply> {
  let text: string | undefined
  try {
    text = await response.text(maxAnswerBytes, upstream.progress)
  } catch (error) {
    return failed('upstream_error', 'the upstream broke off its answer', requestId, error)
  }
  const answer = text === undefined ? undefined : parse(text)
  if (text === undefined || !isObject(answer)) {
    return failed('upstream_invalid_response', noAnswer, requestId)
  }
  if (answer['error'] != null) {
    return { kind: 'failed', error: readError(response, text) }
  }
  if (!Array.isArray(answer['choices']))
    return failed('upstream_invalid_response', noAnswer, requestId)
  const choices = answer['choices']
  return {
    kind: 'json',
    body: restoreModel(text, answer, call.model),
    reported: readUsage(answer['usage']),
    countOutputTokens: () => countTokens(choices.map(textOf).join('')),
    upstreamRequestId: requestId,
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function textOf(choice: unknown): string {
  const message = isObject(choice) && isObject(choice['message']) ? choice['message'] : {}
  const tools = message['tool_calls']
  return [
    typeof message['content'] === 'string' ? message['content'] : '',
    typeof message['reasoning_content'] === 'string' ? message['reasoning_content'] : '',
    tools == null ? '' : JSON.stringify(tools),
  ].join('')
}

function failed(
  code: 'upstream_unreachable' | 'upstream_invalid_response' | 'upstream_error',
  message: string,
  requestId?: string,
  cause?: unknown,
): TextReply {
  return {
    kind: 'failed',
    error: {
      code,
      message,
      ...(cause !== undefined && { cause }),
      ...(requestId !== undefined && { upstreamRequestId: requestId }),
    },
  }
}
