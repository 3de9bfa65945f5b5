// Where events begin and end in bytes, and what they say.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  dataOf,
  eachEvent,
  endOfEvent,
  endOfLastEvent,
  findOddEvent,
  nameOf,
  splitEvents,
  startOfEvent,
} from './sse.ts'

const bytes = (text: string) => Buffer.from(text)

/** Events as upstreams write them, all with the same line ends. */
const line = fc.string({ unit: 'grapheme' }).map((text) => `data: ${JSON.stringify({ text })}`)
const event = fc.oneof(
  line,
  line.map((data) => `event: some.name\n${data}`),
  fc.constantFrom(': comment', 'event: ping', 'data: [DONE]', 'data:{"a":1}', 'id: 7'),
)
const streams = fc
  .record({ events: fc.array(event, { minLength: 1 }), end: fc.constantFrom('\n', '\r\n') })
  .map(({ events, end }) => events.map((each) => `${each}\n\n`.replaceAll('\n', end)))

describe('the end of the last event', () => {
  test.each<[string, number]>([
    ['', 0],
    ['data: x', 0],
    ['data: x\n', 0],
    ['data: x\r\n\r', 0],
    ['data: x\n\n', 9],
    ['data: x\r\n\r\n', 11],
    ['data: x\n\nda', 9],
    ['data: x\r\n\r\nda', 11],
    ['data: x\n\ndata: y\r\n\r\nda', 20],
    ['data: x\r\n\r\ndata: y\n\nda', 20],
    ['\n\n', 2],
  ])('of %j is %d', (text, end) => {
    expect(endOfLastEvent(bytes(text))).toBe(end)
  })

  test('is the end of the whole events, wherever the bytes are cut', () => {
    fc.assert(
      fc.property(streams, fc.nat(), (events, place) => {
        const all = bytes(events.join(''))
        const length = place % (all.length + 1)
        let whole = 0
        for (const each of events) {
          if (whole + bytes(each).length > length) break
          whole += bytes(each).length
        }
        expect(endOfLastEvent(all.subarray(0, length))).toBe(whole)
      }),
      { numRuns: 300 },
    )
  })
})

test('the start of an event is found from any byte of its lines', () => {
  fc.assert(
    fc.property(streams, (events) => {
      const all = bytes(events.join(''))
      let start = 0
      for (const each of events) {
        const last = start + bytes(each.trimEnd()).length - 1
        expect(startOfEvent(all, start)).toBe(start)
        expect(startOfEvent(all, last)).toBe(start)
        start += bytes(each).length
      }
    }),
  )
})

test('a text is split into its whole events and nothing is lost', () => {
  fc.assert(
    fc.property(streams, (events) => {
      expect(splitEvents(events.join(''))).toEqual(events)
      expect(splitEvents(`${events.join('')}data: begun`)).toEqual(events)
    }),
  )
  expect(splitEvents('')).toEqual([])
})

test.each<[string, string | undefined]>([
  ['data: x\n\n', 'x'],
  ['data:x\n\n', 'x'],
  ['data:  x\n\n', ' x'],
  ['data: x\r\n\r\n', 'x'],
  ['data:\n\n', ''],
  ['event: e\ndata: x\n\n', 'x'],
  ['event: e\r\ndata: x\r\n\r\n', 'x'],
  ['event: e\ndata: x\ndata: y\n\n', 'x\ny'],
  ['event: e\nid: 1\ndata: x\n\n', 'x'],
  ['data: x\nid: 7\n\n', 'x'],
  ['data: a\ndata: b\n\n', 'a\nb'],
  ['data: a\r\ndata:b\r\n\r\n', 'a\nb'],
  [': comment\n\n', undefined],
  ['event: ping\n\n', undefined],
  ['dat: x\n\n', undefined],
  ['\n\n', undefined],
])('the data of %j is %j', (text, data) => {
  expect(dataOf(text)).toBe(data as string)
})

test.each<[string, string | undefined]>([
  ['event: e\ndata: x\n\n', 'e'],
  ['event: e\r\ndata: x\r\n\r\n', 'e'],
  ['event:e\n\n', 'e'],
  ['event: e\rx\n\n', 'e'],
  ['event: \n\n', ''],
  ['event: e', 'e'],
  ['\ufeffevent: e\n\n', 'e'],
  ['data: x\nevent: e\n\n', 'e'],
  ['data: x\n\n', undefined],
])('the name of %j is %j', (text, name) => {
  expect(nameOf(text)).toBe(name as string)
})

describe('the first odd event', () => {
  const usual = 'data: {"a":1}\n\n'
  const called = 'event: e.delta\ndata: {"a":1}\n\n'
  const names = ['x', 'e.'].map((name) => Buffer.from(name))
  const find = (text: string, known?: readonly Buffer[], start = 0, end = text.length) => {
    const seen = { events: 0 }
    return [findOddEvent(bytes(text), start, end, seen, known), seen.events]
  }

  test('is not there when all are as they should be', () => {
    expect(find('')).toEqual([-1, 0])
    expect(find(usual + usual)).toEqual([-1, 2])
    expect(find(called + called + called, names)).toEqual([-1, 3])
  })

  const odd = [
    'data: [DONE]\n\n',
    'data:{"a":1}\n\n',
    'data: {"a":1\n\n',
    'data: "a"}\n\n',
    ': comment\n\n',
    'event: e.\n\n',
    'event: e.\ndata: x\n\n',
    'id: 7\ndata: {"a":1}\n\n',
    'error: {"a":1}\n\n',
    '\n\n',
    'data: }\n\n',
  ]
  test.each([...odd, called])('is %j after usual ones', (event) => {
    expect(find(usual + usual + event + usual)).toEqual([2 * usual.length, 2])
  })

  test.each([...odd, usual, 'event: other\ndata: {"a":1}\n\n', 'event:e.\ndata: {"a":1}\n\n'])(
    'is %j after those with a known name',
    (event) => {
      expect(find(called + event + called, names)).toEqual([called.length, 1])
    },
  )

  test('is the first whose line ends are mixed; others may all have a carriage return', () => {
    expect(find(usual.replaceAll('\n', '\r\n'))).toEqual([-1, 1])
    expect(find(called.replaceAll('\n', '\r\n'), names)).toEqual([-1, 1])
    for (const ends of ['\n\r', '\r\n\r', '\n\r\n', '\r\r\n', '\r\n']) {
      const mixed = `${usual}${usual.trimEnd()}${ends}data: x\n\n`
      expect(find(mixed)).toEqual([usual.length, 1])
    }
  })

  test('is looked for only between the given places', () => {
    expect(find(`${usual}data: x\n\n`, undefined, 0, usual.length)).toEqual([-1, 1])
    const from = 'data: x\n\n'.length
    expect(find(`data: x\n\n${usual}`, undefined, from)).toEqual([-1, 1])
  })
})

test.each([
  ['a\n\nb\n\n', 0, 3],
  ['a\n\nb\n\n', 3, 6],
  ['a\r\n\r\nb\n\n', 0, 5],
  ['a\n\nb\r\n\r\n', 0, 3],
  ['a\n\nb\r\n\r\n', 3, 8],
  ['abc', 0, 3],
])('in %j the event that begins at %d ends at %d', (text, start, end) => {
  expect(endOfEvent(bytes(text), start)).toBe(end)
})

describe('each event', () => {
  const read = (text: string, max = Number.POSITIVE_INFINITY) => {
    const found: [string, string | undefined][] = []
    eachEvent(text, (data, name) => found.push([data, name]) < max)
    return found
  }
  const expected = (events: readonly string[]) =>
    events.flatMap((each) => {
      const data = dataOf(each)
      return data === undefined ? [] : [[data, nameOf(each)]]
    })

  test('is read as if it were cut out first', () => {
    fc.assert(
      fc.property(streams, streams, (some, more) => {
        const events = [...some, ...more]
        expect(read(events.join(''))).toEqual(expected(events) as [string, string | undefined][])
      }),
      { numRuns: 300 },
    )
  })

  test.each([
    ['data: 1\ndata: 2\n\n', [['1\n2', undefined]]],
    ['data: 1\nevent: late\n\n', [['1', 'late']]],
    ['event: a\nid: 7\ndata: 1\n\n', [['1', 'a']]],
    ['data: 1\n\r\ndata: 2\n\n', [['1\n2', undefined]]],
    ['data: 1\r\n\n', [['1', undefined]]],
    ['data: 1\n\ndata: begun', [['1', undefined]]],
    ['\n\ndata: 1\n\n', [['1', undefined]]],
  ] as [string, [string, string | undefined][]][])('of %j is %j', (text, found) => {
    expect(read(text)).toEqual(found)
  })

  test('is the last when it is told to stop', () => {
    expect(read('data: 1\n\ndata: 2\n\n', 1)).toHaveLength(1)
  })
})

test('an event begins and ends at the blank line that is nearest, of either kind', () => {
  const text = fc.string({ unit: fc.constantFrom('\r', '\n', '\r\n', 'a'), maxLength: 24 })
  fc.assert(
    fc.property(text, fc.nat(24), (text, at) => {
      const ends = (from: number) =>
        ['\n\n', '\r\n\r\n'].flatMap((blank) => {
          const found = text.indexOf(blank, from)
          return found === -1 ? [] : [[found, found + blank.length] as const]
        })
      const [next] = ends(at).sort(([one], [other]) => one - other)
      expect(endOfEvent(bytes(text), at)).toBe(next?.[1] ?? text.length)
      const before = ['\n\n', '\r\n\r\n'].map((blank) => {
        const found = text.lastIndexOf(blank, at)
        return found === -1 ? 0 : found + blank.length
      })
      expect(startOfEvent(bytes(text), at)).toBe(Math.max(...before))
    }),
    { numRuns: 3_000 },
  )
})
