// Rows of the fault table about answers that break off or are framed wrongly, at their first byte,
// in the middle and at the last.
import {
  asChunk,
  broken,
  callerHas,
  chunkedLine,
  chunkedStream,
  error,
  type Fault,
  fine,
  goodBody,
  goodEvents,
  head,
  jsonHead,
  openStream,
  type Scene,
  sized,
} from './fault.ts'
import { settle, type Wire } from './raw-upstream.ts'
import { all, streaming } from './styles.ts'

const failed = error(502, ['upstream_error', 'upstream_invalid_response'])
const invalid = error(502, 'upstream_invalid_response')
const early = error(502, ['upstream_error', 'upstream_unreachable'])

type Ending = 'reset' | 'end'
const endings: readonly Ending[] = ['reset', 'end']
const verb = { reset: 'reset', end: 'close' }

/** Sends, gives the other side time to read, and ends. */
async function cutAfter(wire: Wire, bytes: string | Uint8Array, ending: Ending): Promise<void> {
  await wire.send(bytes)
  await settle()
  wire[ending]()
}

const heads: Fault[] = endings.flatMap((ending): Fault[] => [
  {
    row: 'F7',
    name: `${verb[ending]} inside the head`,
    styles: all,
    modes: ['json', 'stream'],
    seen: early,
    script: (wire) => cutAfter(wire, 'HTTP/1.1 200 OK\r\ncontent-ty', ending),
  },
  {
    row: 'F7',
    name: `${verb[ending]} after the head`,
    styles: all,
    modes: ['json', 'stream'],
    seen: error(502, 'upstream_error'),
    script: (wire, scene) =>
      cutAfter(wire, scene.mode === 'json' ? jsonHead(goodBody(scene)) : chunkedStream, ending),
  },
  {
    row: 'F7',
    name: `${verb[ending]} inside the first event`,
    styles: streaming,
    modes: ['stream'],
    seen: error(502, 'upstream_error'),
    script: (wire, scene) =>
      cutAfter(wire, openStream + goodEvents(scene)[0]!.slice(0, 40), ending),
  },
  {
    row: 'F7',
    name: `${verb[ending]} after a comment and before the first event`,
    styles: streaming,
    modes: ['stream'],
    seen: error(502, 'upstream_error'),
    script: (wire) => cutAfter(wire, `${openStream}: hello\n\n`, ending),
  },
])

const places: [name: string, at: (length: number) => number][] = [
  ['its first byte', () => 1],
  ['half of it', (length) => Math.floor(length / 2)],
  ['all but its last byte', (length) => length - 1],
]

const bodies: Fault[] = endings.flatMap((ending) =>
  places.flatMap(([place, at]): Fault[] => [
    {
      row: 'F8',
      name: `${verb[ending]} in a body of known length after ${place}`,
      styles: all,
      modes: ['json'],
      seen: error(502, 'upstream_error'),
      script(wire, scene) {
        const body = goodBody(scene)
        return cutAfter(wire, jsonHead(body) + body.slice(0, at(body.length)), ending)
      },
    },
    {
      row: 'F8',
      name: `${verb[ending]} in a chunked body after ${place}`,
      styles: all,
      modes: ['json'],
      seen: error(502, 'upstream_error'),
      script(wire, scene) {
        const chunk = `${asChunk(goodBody(scene))}0\r\n\r\n`
        const bytes = head('application/json', chunkedLine) + chunk.slice(0, at(chunk.length))
        return cutAfter(wire, bytes, ending)
      },
    },
    {
      row: 'F8',
      name: `${verb[ending]} in a body of unknown length after ${place}`,
      styles: all,
      modes: ['json'],
      // A close is how such a body ends, so only its JSON can tell that something is missing.
      seen: ending === 'end' ? invalid : error(502, 'upstream_error'),
      script(wire, scene) {
        const body = goodBody(scene)
        const bytes = head('application/json', 'connection: close\r\n')
        return cutAfter(wire, bytes + body.slice(0, at(body.length)), ending)
      },
    },
  ]),
)

const framings: [name: string, bytes: (body: string) => string][] = [
  ['a chunk size that is no number', (body) => `${chunkedLine}\r\nzz\r\n${body}\r\n0\r\n\r\n`],
  ['a negative chunk size', (body) => `${chunkedLine}\r\n-5\r\n${body}\r\n0\r\n\r\n`],
  ['a huge chunk size', (body) => `${chunkedLine}\r\n${'f'.repeat(20)}\r\n${body}\r\n`],
  ['a chunk that is longer than its size', (body) => `${chunkedLine}\r\n5\r\n${body}\r\n0\r\n\r\n`],
  ['two framings', (body) => `${chunkedLine}${sized(body)}\r\n${asChunk(body)}0\r\n\r\n`],
  ['two lengths', (body) => `${sized(body)}content-length: 7\r\n\r\n${body}`],
  ['a length that is no number', (body) => `content-length: many\r\n\r\n${body}`],
  ['a negative length', (body) => `content-length: -1\r\n\r\n${body}`],
  ['a length shorter than the body', (body) => `${sized(body.slice(0, -5))}\r\n${body}`],
  ['an unknown coding', (body) => `transfer-encoding: gzip, chunked\r\n\r\n${asChunk(body)}`],
]

const framed: Fault[] = framings.map(([name, bytes]) => ({
  row: 'F8',
  name,
  styles: all,
  modes: ['json'],
  seen: failed,
  script: (wire, scene) =>
    wire.send(head('application/json', bytes(goodBody(scene))).replace(/\r\n$/, '')),
}))

/** Sends, waits until the caller has the first event, and ends. */
async function cutInSight(
  wire: Wire,
  scene: Scene,
  bytes: string | Uint8Array,
  ending: Ending,
): Promise<void> {
  await wire.send(bytes)
  await callerHas(scene, goodEvents(scene)[0]!.trimEnd())
  await settle()
  wire[ending]()
}

const spots: [name: string, upTo: (events: readonly string[]) => string][] = [
  ['after the first event', ([first = '']) => first],
  ['inside the second event', ([first = '', second = '']) => first + second.slice(0, 20)],
  [
    'between the two line ends of an event',
    ([first = '', second = '']) => first + second.slice(0, -1),
  ],
  [
    'inside the final event',
    (events) => events.slice(0, -1).join('') + events.at(-1)!.trimEnd().slice(0, -2),
  ],
]

const streams: Fault[] = endings.flatMap((ending) => [
  ...spots.map(
    ([spot, upTo]): Fault => ({
      row: 'F9',
      name: `${verb[ending]} ${spot}`,
      styles: streaming,
      modes: ['stream'],
      seen: broken('upstream_error'),
      script: (wire, scene) =>
        cutInSight(wire, scene, openStream + upTo(goodEvents(scene)), ending),
    }),
  ),
  ...spots.map(
    ([spot, upTo]): Fault => ({
      row: 'F9',
      name: `${verb[ending]} of a chunked stream ${spot}`,
      styles: streaming,
      modes: ['stream'],
      seen: broken('upstream_error'),
      script: (wire, scene) =>
        cutInSight(wire, scene, chunkedStream + asChunk(upTo(goodEvents(scene))), ending),
    }),
  ),
])

const nearTheEnd: Fault[] = [
  {
    row: 'F9',
    name: 'reset just before the final event',
    styles: streaming,
    modes: ['stream'],
    seen: broken('upstream_error'),
    script: (wire, scene) =>
      cutInSight(wire, scene, openStream + goodEvents(scene).slice(0, -1).join(''), 'reset'),
  },
  {
    row: 'F9',
    name: 'proper close just before the final event',
    styles: streaming,
    modes: ['stream'],
    // Two styles have said all by then; in the others the final event says how the answer ended.
    seen: (style) =>
      style === 'responses' || style === 'generate' ? broken('upstream_error') : fine,
    script: (wire, scene) =>
      cutInSight(wire, scene, openStream + goodEvents(scene).slice(0, -1).join(''), 'end'),
  },
  {
    row: 'F9',
    name: 'proper close after the last word, no usage and a comment',
    styles: ['chat'],
    modes: ['stream'],
    told: null,
    seen: { kind: 'good', pays: 'count', exact: false },
    async script(wire, scene) {
      await wire.send(openStream + scene.style.events(scene.model, undefined).slice(0, -1).join(''))
      await settle()
      await cutAfter(wire, ': bye\n\n', 'end')
    },
  },
  {
    row: 'F9',
    name: 'final event without its line ends',
    styles: streaming,
    modes: ['stream'],
    seen: fine,
    script: (wire, scene) =>
      cutInSight(wire, scene, openStream + goodEvents(scene).join('').trimEnd(), 'end'),
  },
  {
    row: 'F9',
    name: 'reset after the final event',
    styles: streaming,
    modes: ['stream'],
    seen: fine,
    async script(wire, scene) {
      await wire.send(openStream + goodEvents(scene).join(''))
      // The caller may have all of it and be gone by now.
      await settle()
      wire.reset()
    },
  },
  {
    row: 'F9',
    name: 'stream of no bytes',
    styles: streaming,
    modes: ['stream'],
    seen: error(502, ['upstream_error', 'upstream_invalid_response']),
    script: (wire) => wire.send(head('text/event-stream', sized(''))),
  },
  {
    row: 'F9',
    name: 'malformed chunk in a stream',
    styles: streaming,
    modes: ['stream'],
    seen: broken(['upstream_error', 'upstream_invalid_response']),
    async script(wire, scene) {
      const [first = '', ...rest] = goodEvents(scene)
      await wire.send(chunkedStream + asChunk(first))
      await callerHas(scene, first.trimEnd())
      await wire.send(`oops\r\n${rest.join('')}\r\n0\r\n\r\n`)
    },
  },
]

export const cutRows: readonly Fault[] = [...heads, ...bodies, ...framed, ...streams, ...nearTheEnd]
