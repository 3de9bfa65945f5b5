// Upstreams that speak a text: as a file that comes as it is made, or as events with pieces of it.
import type { TextCall } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import { readTokens } from '../calls/read-tokens.ts'
import { callProvider } from '../calls/send.ts'
import { readErrorEvent } from '../common/errors.ts'
import type { Json, StreamState, StreamStyle, Verdict } from '../text/style.ts'

/** Tokens of sound for each character: some 15 characters and 21 tokens make a second. */
const tokensPerCharacter = 1.4

const stream: StreamStyle = {
  unread: { without: ['.done"', '"usage"', '"error"'] },
  read,
  // The last event says that the file is whole.
  ending: () => undefined,
  textField: /"never spoken"/g,
  fromAnswer: () => [],
  toAnswer: () => undefined,
}

export const speech = callProvider({
  protocol: 'speech',
  path: '/audio/speech',
  noun: 'sound',
  formOf: ({ fields }) => (fields['stream_format'] === 'sse' ? 'json' : 'file'),
  readAnswer: () => undefined,
  countFileTokens,
  stream,
})

function countFileTokens({ fields: { input } }: TextCall): number {
  return typeof input === 'string' ? Math.ceil(input.length * tokensPerCharacter) : 0
}

function read(data: Json, state: StreamState): Verdict {
  const { type, error, usage } = data
  if (isObject(error) || type === 'error') {
    return { failed: readErrorEvent(error ?? data, state.upstreamRequestId) }
  }
  if (isObject(usage)) state.reported = readTokens(usage, undefined, true)
  return type === 'speech.audio.done' ? 'last' : 'pass'
}
