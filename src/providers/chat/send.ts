// One chat call to one upstream. Every way it can go wrong comes back as a value.
import type { TextReply, Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { readText } from '../../lib/bounded-body.ts'
import { countTokens } from '../../lib/count-tokens.ts'
import { isObject } from '../../lib/json.ts'
import { restoreModel, upstreamBody } from './body.ts'
import { readError, upstreamRequestId } from './errors.ts'
import { readUsage } from './usage.ts'
import { ChatStreamWatcher } from './watch-stream.ts'

const maxAnswerBytes = 64 * 1024 * 1024
const maxErrorBytes = 64 * 1024
const noAnswer = 'the upstream answered with something that is not a chat completion'

export async function send(
  call: TextCall,
  upstream: Upstream,
  signal: AbortSignal,
): Promise<TextReply> {
  let response: Response
  try {
    response = await upstream.fetch(`${upstream.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${upstream.key}`,
        'content-type': 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'model-gateway',
      },
      body: upstreamBody(call, upstream.model),
      redirect: 'manual',
      signal,
    })
  } catch (error) {
    return failed('upstream_unreachable', 'the upstream could not be reached', undefined, error)
  }
  upstream.progress()
  const requestId = upstreamRequestId(response.headers)
  if (response.status !== 200) {
    const text = await readText(response, maxErrorBytes).catch(() => '')
    return { kind: 'failed', error: readError(response.status, response.headers, text ?? '') }
  }
  if (!call.stream) return readAnswer(call, upstream, response, requestId)
  const type = response.headers.get('content-type') ?? ''
  if (response.body === null || !type.includes('event-stream')) {
    response.body?.cancel().catch(() => {})
    return failed(
      'upstream_invalid_response',
      'the upstream did not answer with a stream',
      requestId,
    )
  }
  return {
    kind: 'stream',
    reader: response.body.getReader(),
    upstreamRequestId: requestId,
    watcher: new ChatStreamWatcher({
      restoreTo: upstream.model === call.model ? undefined : call.model,
      wantsUsage: call.wantsUsage,
      choices: call.choices,
      upstreamRequestId: requestId,
    }),
  }
}

async function readAnswer(
  call: TextCall,
  upstream: Upstream,
  response: Response,
  requestId: string | undefined,
): Promise<TextReply> {
  let text: string | undefined
  try {
    text = await readText(response, maxAnswerBytes, upstream.progress)
  } catch (error) {
    return failed('upstream_error', 'the upstream broke off its answer', requestId, error)
  }
  const answer = text === undefined ? undefined : parse(text)
  if (text === undefined || !isObject(answer)) {
    return failed('upstream_invalid_response', noAnswer, requestId)
  }
  if (answer['error'] != null) {
    return { kind: 'failed', error: readError(200, response.headers, text) }
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
