// Upstreams that speak a text: as a file that comes as it is made, or as events with pieces of it.
import type { TextCall } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import { readTokens } from '../calls/read-tokens.ts'
import type { CallStyle } from '../calls/style.ts'
import { readErrorEvent } from '../common/errors.ts'
import type { Json, StreamState, StreamStyle, Verdict } from '../text/style.ts'

/** Tokens of sound for each character: some 15 characters and 21 tokens make a second. */
const tokensPerCharacter = 1.4
/** Of Chinese, Japanese and Korean, where a character is a syllable or more. */
const tokensPerSyllable = 4.7
const syllables = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu

const stream: StreamStyle = {
  unread: { without: ['.done"', '"usage"', '"error"', '"cost', '"provider'] },
  read,
  // The last event says that the file is whole.
  ending: () => undefined,
  textField: /"never spoken"/g,
  fromAnswer: () => [],
  toAnswer: () => undefined,
}

export const speechStyle: CallStyle = {
  protocol: 'speech',
  path: '/audio/speech',
  noun: 'sound',
  formOf: ({ fields }) => (fields['stream_format'] === 'sse' ? 'json' : 'file'),
  readAnswer: () => undefined,
  countFileTokens,
  stream,
}

function countFileTokens({ fields: { input, speed } }: TextCall): number {
  if (typeof input !== 'string') return 0
  const wide = input.match(syllables)?.length ?? 0
  const tokens = wide * tokensPerSyllable + (input.length - wide) * tokensPerCharacter
  // Not every upstream speaks faster when told to.
  return Math.ceil(tokens / (typeof speed === 'number' ? Math.min(1, speed) : 1))
}

function read(data: Json, state: StreamState): Verdict {
  const { type, error, usage } = data
  if (isObject(error) || type === 'error') {
    return { failed: readErrorEvent(error ?? data, state.upstreamRequestId) }
  }
  if (isObject(usage)) state.reported = readTokens(usage, undefined, true)
  return type === 'speech.audio.done' ? 'last' : 'pass'
}
