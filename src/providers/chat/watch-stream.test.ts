// The result must not depend on how the network splits a stream. Random events are split at random
// bytes and compared with an independent parser.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { TextCall } from '../../contract/requests.ts'
import { TextStreamWatcher } from '../text/watch-stream.ts'
import { stream as chatStream } from './stream.ts'

interface WatchOptions {
  restoreTo: string | undefined
  wantsUsage: boolean
  choices: number
  upstreamRequestId: string | undefined
}

type Json = Record<string, unknown>

const plain: WatchOptions = {
  restoreTo: undefined,
  wantsUsage: true,
  choices: 1,
  upstreamRequestId: 'up_1',
}
const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 }
const counted = { inputTokens: 5, outputTokens: 7, cacheReadTokens: 0, cacheWriteTokens: 0 }

const chunkOf = (content: string, more: Json = {}): Json => ({
  id: 'chatcmpl-1',
  model: 'up-model',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
  ...more,
})
const finish: Json = chunkOf('', {
  choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
})
const usageOnly: Json = chunkOf('', { choices: [], usage })
const dataLine = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const done = 'data: [DONE]\n\n'

interface Watched {
  watcher: TextStreamWatcher
  /** What went to the caller before the final event, and the whole. */
  passed: string
  all: string
}

function watch(
  pieces: readonly Uint8Array[],
  options: WatchOptions = plain,
  close = true,
): Watched {
  const call = { ...options, model: options.restoreTo ?? 'up-model' } as unknown as TextCall
  const watcher = new TextStreamWatcher(
    chatStream,
    call,
    { model: 'up-model' },
    options.upstreamRequestId,
  )
  const out: Uint8Array[] = []
  for (const piece of pieces) {
    const bytes = watcher.take(piece)
    if (bytes !== undefined) out.push(bytes)
  }
  if (close) watcher.close()
  const passed = Buffer.concat(out)
  const ending = watcher.ending ?? new Uint8Array()
  return { watcher, passed: passed.toString(), all: Buffer.concat([passed, ending]).toString() }
}

const watchText = (text: string, options?: WatchOptions) => watch([Buffer.from(text)], options)

/** Split before each position; every piece in its own memory. */
function cut(text: string, places: readonly number[]): Uint8Array[] {
  const bytes = Buffer.from(text)
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...at].map((from, i) => Uint8Array.from(bytes.subarray(from, at[i] ?? bytes.length)))
}

const words = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '你好',
    '👩‍👩‍👧',
    'naïve',
    '"error"',
    '[DONE]',
    'data: [DONE]',
    '\n\n',
    'model',
    '"model"',
  ),
)

const event = fc.oneof(
  { weight: 6, arbitrary: words.map((text): Json => chunkOf(text)) },
  { weight: 1, arbitrary: words.map((text): Json => chunkOf(text, { usage: null })) },
  { weight: 1, arbitrary: words.map((text): Json => chunkOf(text, { usage })) },
  { weight: 1, arbitrary: fc.constant<Json>({ choices: [], note: 'no model here' }) },
  { weight: 1, arbitrary: fc.constant(': keep-alive') },
  { weight: 1, arbitrary: fc.constant('event: ping\nid: 7') },
)

const stream = fc
  .record({ events: fc.array(event, { maxLength: 12 }), end: fc.constantFrom('\n', '\r\n') })
  .map(({ events, end }) => {
    const all = [...events, finish, usageOnly]
    const lines = all.map((each) =>
      typeof each === 'string' ? each : `data: ${JSON.stringify(each)}`,
    )
    const text = [...lines, 'data: [DONE]'].map((line) => `${line}\n\n`).join('')
    return { events: all, end, text: text.replaceAll('\n', end) }
  })

const places = fc.array(fc.nat(100_000), { maxLength: 30 })

/** What a caller reads from the wire: the data of its events, comments as they are. */
const readEvents = (text: string): unknown[] =>
  text
    .split(/\r?\n\r?\n/)
    .filter((part) => part !== '')
    .map((part) => {
      if (!part.startsWith('data: ')) return part.replaceAll('\r\n', '\n')
      return part === 'data: [DONE]' ? part : JSON.parse(part.slice(6))
    })

function expected(events: readonly (Json | string)[], options: WatchOptions): unknown[] {
  const seen: unknown[] = []
  for (const each of events) {
    if (typeof each === 'string') {
      seen.push(each)
      continue
    }
    const { usage: reported, ...rest } = each
    const hide = !options.wantsUsage && reported !== null && reported !== undefined
    if (hide && (each['choices'] as unknown[]).length === 0) continue
    const renamed = options.restoreTo !== undefined && 'model' in each
    const model = renamed ? { model: options.restoreTo } : {}
    seen.push({ ...(hide ? rest : each), ...model })
  }
  return [...seen, 'data: [DONE]']
}

describe('any stream, cut anywhere,', () => {
  const options = fc.record({
    restoreTo: fc.constantFrom(undefined, 'own-name', 'with "quotes" and $&'),
    wantsUsage: fc.boolean(),
    choices: fc.constant(1),
    upstreamRequestId: fc.constant('up_1'),
  })

  test('comes out the same as uncut, and as a second reading says', () => {
    fc.assert(
      fc.property(stream, places, options, ({ events, text }, cuts, chosen) => {
        const whole = watchText(text, chosen)
        const pieces = watch(cut(text, cuts), chosen)
        expect(pieces.all).toBe(whole.all)
        expect(pieces.watcher.outcome).toBe('finished')
        expect(pieces.watcher.reported.usage).toEqual(counted)
        expect(readEvents(pieces.all)).toEqual(expected(events, chosen))
        expect(pieces.passed).not.toContain('data: [DONE]\n')
      }),
      { numRuns: 400 },
    )
  })

  test('keeps every byte when nothing has to be changed', () => {
    fc.assert(
      fc.property(stream, places, ({ text }, cuts) => {
        expect(watch(cut(text, cuts)).all).toBe(text)
      }),
      { numRuns: 300 },
    )
  })

  test('byte by byte comes out whole', () => {
    const text = `${dataLine(chunkOf('你好 👋'))}${dataLine(finish)}${done}`.replaceAll(
      '\n',
      '\r\n',
    )
    const bytes = Buffer.from(text)
    const one = Array.from(bytes, (byte) => Uint8Array.of(byte))
    expect(watch(one).all).toBe(text)
  })

  test('that breaks off before its end is a failure, wherever it breaks', () => {
    const text = `${dataLine(chunkOf('one'))}${dataLine(chunkOf('two'))}${dataLine(finish)}${done}`
    const bytes = Buffer.from(text)
    const finishedAt = bytes.indexOf('"finish_reason":"stop"')
    for (let length = 0; length < finishedAt; length++) {
      const { watcher, passed } = watch([bytes.subarray(0, length)])
      expect(watcher.outcome).toMatchObject({ code: 'upstream_error', upstreamRequestId: 'up_1' })
      expect(watcher.ending).toBeUndefined()
      expect(text).toStartWith(passed)
      expect(passed === '' || passed.endsWith('\n\n')).toBe(true)
    }
  })
})

describe('the end of a stream', () => {
  test('is kept back until it is asked for', () => {
    const { watcher, passed } = watch([Buffer.from(`${dataLine(finish)}${done}`)], plain, false)
    expect(passed).toBe(dataLine(finish))
    expect(Buffer.from(watcher.ending!).toString()).toBe(done)
  })

  test('is supplied when the upstream closes after its last word without the marker', () => {
    const { watcher, all } = watchText(dataLine(chunkOf('hi')) + dataLine(finish))
    expect(watcher.outcome).toBe('finished')
    expect(all).toEndWith(done)
  })

  test('is supplied also when a comment was the last that came', () => {
    const packets = [dataLine(finish), ': bye\n\n'].map((text) => Buffer.from(text))
    expect(watch(packets).all).toBe(`${dataLine(finish)}: bye\n\n${done}`)
    const goesOn = [dataLine(chunkOf('hi')), ': bye\n\n'].map((text) => Buffer.from(text))
    expect(watch(goesOn).watcher.outcome).toMatchObject({ code: 'upstream_error' })
  })

  test('is not supplied when an event was begun and not ended', () => {
    const { watcher } = watchText(`${dataLine(finish)}data: {"choices":[],"us`)
    expect(watcher.outcome).toMatchObject({ code: 'upstream_error' })
  })

  test('is not supplied while one of several answers is unfinished', () => {
    const second = chunkOf('', {
      choices: [{ index: 1, delta: { content: 'and' }, finish_reason: null }],
    })
    const { watcher } = watchText(dataLine(second) + dataLine(finish), { ...plain, choices: 2 })
    expect(watcher.outcome).toMatchObject({ code: 'upstream_error' })
  })

  test('is the end: nothing after it passes', () => {
    const { all, watcher } = watchText(dataLine(finish) + done + dataLine(chunkOf('more')))
    expect(all).toBe(dataLine(finish) + done)
    expect(watcher.take(Buffer.from(dataLine(chunkOf('more'))))).toBeUndefined()
  })

  test('comes of an empty stream never', () => {
    expect(watch([]).watcher.outcome).toMatchObject({ code: 'upstream_error' })
  })
})

describe('an event', () => {
  test.each<[unknown, string, string]>([
    [{ error: { message: 'boom' } }, 'upstream_error', 'boom'],
    [{ error: 'boom' }, 'upstream_error', 'boom'],
    [{ error: { code: 500 } }, 'upstream_error', 'the upstream reported an error in its stream'],
    [
      { error: { message: 'no', code: 'data_inspection_failed' } },
      'content_policy_violation',
      'no',
    ],
  ])('with %j ends the stream as a failure', (body, code, message) => {
    const { watcher, all } = watchText(dataLine(chunkOf('hi')) + dataLine(body) + done)
    expect(watcher.outcome).toEqual({
      code,
      message,
      upstreamRequestId: 'up_1',
    } as typeof watcher.outcome)
    expect(all).toBe(dataLine(chunkOf('hi')))
  })

  test('with an empty error passes', () => {
    const text = dataLine(chunkOf('hi', { error: null })) + dataLine(finish) + done
    expect(watchText(text).all).toBe(text)
  })

  test('that should hold usage and is no JSON ends the stream as a failure', () => {
    const { watcher } = watchText(`data: {"usage":{"prompt_tokens":5\n\n${done}`)
    expect(watcher.outcome).toMatchObject({ code: 'upstream_invalid_response' })
  })

  test('of any depth passes, with its usage', () => {
    const depth = 100_000
    const deep = '['.repeat(depth) + ']'.repeat(depth)
    const known = JSON.stringify(usage).slice(0, -1)
    const text = `data: {"choices":[],"usage":${known},"x":${deep}}}\n\n${done}`
    const { watcher, all } = watchText(text)
    expect([watcher.outcome, watcher.reported.usage]).toEqual(['finished', counted])
    expect(all).toBe(text)
  })

  test('that is no JSON is left out behind the beginning, and a failure at it', () => {
    const broken = 'data: {"usage":{"prompt\n\n'
    const begun = dataLine(chunkOf('hi'))
    const { watcher, all } = watchText(begun + broken + dataLine(finish) + done)
    expect([watcher.outcome, all]).toEqual(['finished', begun + dataLine(finish) + done])
    expect(watchText(broken + begun).watcher.outcome).toMatchObject({
      code: 'upstream_invalid_response',
    })
  })

  test('that is a web page ends the stream as a failure', () => {
    const { watcher, all } = watchText('<html>\n<p>Bad gateway</p>\n\n</html>\n\n')
    expect(watcher.outcome).toMatchObject({ code: 'upstream_invalid_response' })
    expect(all).toBe('')
  })

  test('that names no model gets none, on however many lines it stands', () => {
    const text = 'data: {"note":{"model":"x"},\ndata: "choices":[]}\n\n'
    expect(watchText(text, { ...plain, restoreTo: 'own' }).passed).toBe(text)
  })

  test('may have its data on several lines and no space after the colon', () => {
    const text = 'data:{"choices":[],\ndata:"usage":{"prompt_tokens":5,"completion_tokens":7}}\n\n'
    const { watcher } = watchText(dataLine(finish) + text + done)
    expect(watcher.reported.usage).toEqual(counted)
  })

  test('of many megabytes passes while it comes, and is a failure when it does not end', () => {
    const big = dataLine(chunkOf('x'.repeat(3 << 20)))
    const pieces = cut(big + dataLine(finish) + done, [1 << 20, 2 << 20])
    expect(watch(pieces).all).toBe(big + dataLine(finish) + done)
    const piece = Buffer.alloc(1 << 20, 'x')
    const endless = watch([Buffer.from('data: '), ...Array.from({ length: 9 }, () => piece)])
    expect(endless.watcher.outcome).toMatchObject({ code: 'upstream_error', begun: true })
    expect(endless.passed.length).toBeGreaterThan(8 << 20)
  })

  test('of many megabytes tells its usage, and has the caller’s name, wherever it is cut', () => {
    const logprobs = Array.from({ length: 60_000 }, (_, i) => ({ token: `é${i}`, logprob: -0.5 }))
    const choices = [{ index: 0, delta: { content: 'hi' }, logprobs: { content: logprobs } }]
    const text = (model: string) =>
      dataLine({ id: 'chatcmpl-1', model, choices, usage }) + dataLine(finish) + done
    for (const seed of [1, 7, 13]) {
      const cuts = Array.from({ length: 60 }, (_, i) => i * 31_013 + seed * 1_009)
      const { all, watcher } = watch(cut(text('up-model'), cuts), { ...plain, restoreTo: 'own' })
      expect(all).toBe(text('own').replace('"model":"up-model"', '"model":"own"'))
      expect([watcher.outcome, watcher.reported.usage]).toEqual(['finished', counted])
    }
  })
})

describe('usage', () => {
  test('with the last one that is there counting', () => {
    const early = dataLine(chunkOf('a', { usage: { ...usage, completion_tokens: 1 } }))
    const { watcher } = watchText(early + dataLine(finish) + dataLine(usageOnly) + done)
    expect(watcher.reported).toEqual({ usage: counted, raw: usage })
  })

  test('that makes no sense is kept for the log and not used', () => {
    const absurd = { prompt_tokens: -1, completion_tokens: '7' }
    const { watcher } = watchText(dataLine(chunkOf('', { choices: [], usage: absurd })) + done)
    expect(watcher.reported).toEqual({ usage: undefined, raw: absurd })
  })

  test('that is missing can be counted from the text, however it was cut', () => {
    const text = 'four letters make a token, 汉字 make one each. '.repeat(800)
    const parts = text.match(/.{1,40}/gsu)!.map((part) => dataLine(chunkOf(part)))
    const body = parts.join('') + dataLine(finish) + done
    const whole = watchText(body).watcher.countOutputTokens()
    const narrow = text.replaceAll(/[汉字]/g, '').length / 4
    const guess = narrow + text.length - narrow * 4
    expect(Math.abs(whole - guess)).toBeLessThan(guess / 50)
    const pieces = watch(cut(body, [17, 999, 5000, 20_001, 20_002, 60_000]))
    expect(Math.abs(pieces.watcher.countOutputTokens() - whole)).toBeLessThan(10)
  })

  test('is counted in an event of several megabytes too', () => {
    const { watcher } = watchText(dataLine(chunkOf('x'.repeat(4 << 20))))
    const share = watcher.countOutputTokens() / (1 << 20)
    expect(share).toBeGreaterThan(0.95)
    expect(share).toBeLessThanOrEqual(1)
  })

  test('counts reasoning and arguments of tools as output', () => {
    const delta = (fields: Json) => chunkOf('', { choices: [{ index: 0, delta: fields }] })
    const text =
      dataLine(delta({ reasoning_content: 'x'.repeat(40) })) +
      dataLine(delta({ tool_calls: [{ function: { arguments: 'y'.repeat(40) } }] }))
    expect(watchText(text).watcher.countOutputTokens()).toBe(20)
  })
})
