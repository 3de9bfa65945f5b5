// Rows of the fault table about connections and time: not reached, not trusted, silent, too slow.
import {
  answered,
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
  type Mode,
  openStream,
  type Place,
  short,
  wholeAnswer,
} from './fault.ts'
import { drip, settle, waitForGone } from './raw-upstream.ts'
import { all, good, streaming } from './styles.ts'

const both: readonly Mode[] = ['json', 'stream']
const unreachable = error(502, 'upstream_unreachable')
/** A connection that breaks before the answer begins looks like one that never was. */
const brokeEarly = error(502, ['upstream_unreachable', 'upstream_error'])
const timedOut = error(504, 'upstream_timeout')

const nowhere = (row: string, name: string, at: Place): Fault => ({
  row,
  name,
  at,
  styles: all,
  modes: both,
  seen: unreachable,
  timeouts: { connect: '20s', first_byte: '20s', idle: '20s', total: '40s' },
})

const reach: Fault[] = [
  nowhere('F1', 'nobody listens', 'refused'),
  nowhere('F1', 'the name is unknown', 'nameless'),
  nowhere('F2', 'nobody vouches for the certificate', 'unknown'),
  nowhere('F2', 'the certificate has expired', 'expired'),
  nowhere('F2', 'the certificate is for another name', 'foreign'),
  nowhere('F2', 'no TLS is spoken', 'plain'),
  {
    ...nowhere('F2', 'the certificate is in order', 'local'),
    seen: fine,
    script: (wire, scene) => wire.send(wholeAnswer(scene, good)),
  },
  {
    ...nowhere('F3', 'the handshake never comes', 'mute'),
    timeouts: { connect: '1s', first_byte: '20s', idle: '20s', total: '20s' },
  },
]

const silence: Fault[] = [
  {
    row: 'F4',
    name: 'silence after the request',
    styles: all,
    modes: both,
    seen: timedOut,
    timeouts: short,
    script: async (wire) => void (await waitForGone(wire)),
  },
  {
    row: 'F4',
    name: 'close instead of an answer',
    styles: all,
    modes: both,
    seen: brokeEarly,
    script: (wire) => wire.end(),
  },
  {
    row: 'F4',
    name: 'reset instead of an answer',
    styles: all,
    modes: both,
    seen: brokeEarly,
    script: (wire) => wire.reset(),
  },
  {
    row: 'F10',
    name: 'stall inside a body',
    styles: all,
    modes: ['json'],
    seen: timedOut,
    timeouts: short,
    async script(wire, scene) {
      const body = goodBody(scene)
      await wire.send(jsonHead(body) + body.slice(0, 30))
      await waitForGone(wire)
    },
  },
  {
    row: 'F10',
    name: 'whole body of unknown length and no close',
    styles: all,
    modes: ['json'],
    seen: timedOut,
    timeouts: short,
    async script(wire, scene) {
      await wire.send(head('application/json', '') + goodBody(scene))
      await waitForGone(wire)
    },
  },
  {
    row: 'F10',
    name: 'whole body in chunks and no last chunk',
    styles: all,
    modes: ['json'],
    seen: timedOut,
    timeouts: short,
    async script(wire, scene) {
      await wire.send(head('application/json', chunkedLine) + asChunk(goodBody(scene)))
      await waitForGone(wire)
    },
  },
  {
    row: 'F10',
    name: 'whole stream and no end of its body',
    styles: streaming,
    modes: ['stream'],
    seen: fine,
    timeouts: short,
    async script(wire, scene) {
      await wire.send(chunkedStream + goodEvents(scene).map(asChunk).join(''))
      await waitForGone(wire)
    },
  },
  {
    row: 'F10',
    name: 'more and more after the final event',
    styles: streaming,
    modes: ['stream'],
    seen: fine,
    timeouts: short,
    async script(wire, scene) {
      await wire.send(openStream + goodEvents(scene).join(''))
      await drip(wire, goodEvents(scene)[0]!, 5)
    },
  },
  {
    row: 'F10',
    name: 'stall before the first event',
    styles: streaming,
    modes: ['stream'],
    seen: timedOut,
    timeouts: short,
    async script(wire, scene) {
      await wire.send(openStream + goodEvents(scene)[0]!.slice(0, 20))
      await waitForGone(wire)
    },
  },
  {
    row: 'F10',
    name: 'stall between events',
    styles: streaming,
    modes: ['stream'],
    seen: broken('upstream_timeout'),
    timeouts: short,
    async script(wire, scene) {
      const [first = '', second = ''] = goodEvents(scene)
      await wire.send(chunkedStream + asChunk(first) + asChunk(second))
      await waitForGone(wire)
    },
  },
  {
    row: 'F10',
    name: 'stall inside an event',
    styles: streaming,
    modes: ['stream'],
    seen: broken('upstream_timeout'),
    timeouts: short,
    async script(wire, scene) {
      const [first = '', second = ''] = goodEvents(scene)
      await wire.send(openStream + first + second.slice(0, 25))
      await waitForGone(wire)
    },
  },
  {
    row: 'F10',
    name: 'stall before the final event',
    styles: streaming,
    modes: ['stream'],
    seen: broken('upstream_timeout'),
    timeouts: short,
    async script(wire, scene) {
      await wire.send(openStream + goodEvents(scene).slice(0, -1).join(''))
      await waitForGone(wire)
    },
  },
]

const slow: Fault[] = [
  {
    row: 'F18',
    name: 'dripped head',
    styles: all,
    modes: both,
    seen: timedOut,
    timeouts: { ...short, first_byte: '2s' },
    script: (wire) => drip(wire, `HTTP/1.1 200 OK\r\nx-slow: ${'a'.repeat(200)}`),
  },
  {
    row: 'F18',
    name: 'dripped interim answers',
    styles: ['chat', 'embeddings'],
    modes: ['json'],
    seen: timedOut,
    timeouts: short,
    script: (wire) => drip(wire, 'HTTP/1.1 100 Continue\r\n\r\n', 100),
  },
  {
    row: 'F18',
    name: 'dripped body',
    styles: all,
    modes: ['json'],
    seen: timedOut,
    timeouts: short,
    async script(wire, scene) {
      await wire.send(jsonHead('x'.repeat(500)))
      await drip(wire, goodBody(scene))
    },
  },
  {
    row: 'F18',
    name: 'dripped body of an error',
    styles: all,
    modes: both,
    seen: error(504, 'upstream_timeout'),
    timeouts: short,
    async script(wire) {
      await wire.send(answered('500 Oops', 'x'.repeat(500)).slice(0, -500))
      await drip(wire, '{"error":{"message":"slow"}}')
    },
  },
  {
    row: 'F18',
    name: 'dripped first event',
    styles: streaming,
    modes: ['stream'],
    seen: timedOut,
    timeouts: short,
    async script(wire, scene) {
      await wire.send(openStream)
      await drip(wire, goodEvents(scene)[0]!.trimEnd().replaceAll('\n', ' ').repeat(9))
    },
  },
  {
    row: 'F18',
    name: 'dripped comments after the first event',
    styles: streaming,
    modes: ['stream'],
    seen: broken('upstream_timeout'),
    timeouts: short,
    async script(wire, scene) {
      const first = goodEvents(scene)[0]!
      await wire.send(openStream + first)
      await callerHas(scene, first.trimEnd())
      await settle()
      await drip(wire, ': wait\n\n')
    },
  },
]

export const connectionRows: readonly Fault[] = [...reach, ...silence, ...slow]
