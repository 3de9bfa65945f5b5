// Upstreams that speak the chat-completions style.

import type { Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import { bearer } from '../common/bearer.ts'
import { servedBy, servedIn } from '../common/served-as.ts'
import { FileBatches } from '../text/batches/file-batches.ts'
import { markMessages } from '../text/cache-marks.ts'
import { textProvider } from '../text/provider.ts'
import { type Json, type ReadAnswer, type TextStyle, withServed } from '../text/style.ts'
import { firstReason } from './finish-reason.ts'
import { repairAnswer } from './repair.ts'
import { stream } from './stream.ts'
import { readUsage } from './usage.ts'

export const chatStyle: TextStyle = {
  protocol: 'chat',
  path: '/chat/completions',
  noun: 'a chat completion',
  headers: (_, upstream) => bearer(upstream),
  fieldsFor: usageOption,
  withCacheMarks: (call) => markMessages(call, { takesMark: ({ type }) => type === 'text' }),
  repair: repairAnswer,
  readAnswer,
  stream,
}

export const chat = { ...textProvider(chatStyle), batches: new FileBatches(chatStyle) }

/** A stream is billed by its usage, so usage is always requested. */
function usageOption(
  call: TextCall,
  { streamOptions }: Upstream,
): Readonly<Record<string, string>> | undefined {
  const options = call.fields['stream_options']
  if (streamOptions === false) return options == null ? undefined : { stream_options: 'null' }
  if (!call.stream) return undefined
  const own = isObject(options) ? options : {}
  if (own['include_usage'] === true) return undefined
  const wanted = { ...own, include_usage: true }
  return { stream_options: JSON.stringify(wanted) }
}

function readAnswer(answer: Json): ReadAnswer | undefined {
  const { choices, usage, service_tier: tier } = answer
  if (!Array.isArray(choices)) return undefined
  return {
    reported: withServed(readUsage(usage), servedBy(tier) ?? servedIn(usage)),
    finishReason: firstReason(choices),
    text: () => choices.map(textOf).join(''),
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
