// Shared by the stream tests of all styles: a watcher fed piece by piece, and random splits. Knows
// no style.
import fc from 'fast-check'
import type { TextCall } from '../../contract/requests.ts'
import type { StreamStyle } from './style.ts'
import { TextStreamWatcher } from './watch-stream.ts'

export const upstreamModel = 'up-model'

export interface Watched {
  watcher: TextStreamWatcher
  /** What went to the caller before the final event. */
  passed: string
  /** The final event; empty when there is none. */
  ending: string
  all: string
}

/** `restoreTo`: the caller's name for the model, if not the upstream's. */
export function watchStream(
  style: StreamStyle,
  pieces: readonly Uint8Array[],
  {
    restoreTo,
    close = true,
    markFor,
  }: {
    restoreTo?: string | undefined
    close?: boolean
    markFor?: (id: string) => string
  } = {},
): Watched {
  const model = restoreTo ?? upstreamModel
  const call = { model, wantsUsage: true, choices: 1 } as TextCall
  const watcher = new TextStreamWatcher(
    style,
    call,
    { model: upstreamModel, ...(markFor !== undefined && { markFor }) },
    'up_1',
  )
  const out: Uint8Array[] = []
  for (const piece of pieces) {
    const bytes = watcher.take(piece)
    if (bytes !== undefined) out.push(bytes)
  }
  if (close) watcher.close()
  const passed = Buffer.concat(out).toString()
  const ending = Buffer.from(watcher.ending ?? new Uint8Array()).toString()
  return { watcher, passed, ending, all: passed + ending }
}

/** Split before each position; every piece in its own memory. */
export function cut(text: string, places: readonly number[]): Uint8Array[] {
  const bytes = Buffer.from(text)
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...at].map((from, i) => Uint8Array.from(bytes.subarray(from, at[i] ?? bytes.length)))
}

export const places = fc.array(fc.nat(100_000), { maxLength: 30 })

/** Words that could be mistaken for something else. */
export const words = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '你好 👩‍👩‍👧',
    '"error"',
    'response.completed',
    'message_stop',
    '"message_start"',
    'data: [DONE]',
    '\n\n',
    '"model"',
    '"model":"up-model"',
    '{"response":{"model":"up-model"}}',
  ),
)

/** A named event; `spaced` as some JSON writers do it. */
export const named = (data: Readonly<Record<string, unknown>>, spaced = false): string => {
  const json = JSON.stringify(data)
  const shown = spaced ? json.replace(/^\{"type":"/, '{ "type": "') : json
  return `event: ${data['type']}\ndata: ${shown}\n\n`
}

/** What a caller reads: the data of each event, whatever else there is as it came. */
export const readData = (text: string): unknown[] =>
  text
    .split(/\r?\n\r?\n/)
    .filter((part) => part !== '')
    .map((part) => {
      const lines = part.split(/\r?\n/)
      const data = lines.find((line) => line.startsWith('data: '))
      return data === undefined ? lines.join('\n') : JSON.parse(data.slice(6))
    })
