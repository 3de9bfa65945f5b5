// Rows for calls that are translated: upstreams that end an answer and never say why, or say it in a word
// that is not known. What marks its end otherwise has a plain end in every other style.
import {
  answered,
  asChunk,
  broken,
  callerHas,
  chunkedStream,
  converted,
  error,
  type Fault,
} from './fault.ts'
import { good, type StyleName, streaming } from './styles.ts'

/** Each reason that the styles of the tests give. */
const reasons =
  /"(finish_reason|stop_reason|finishReason|status)":"(?:stop|end_turn|STOP|completed)"/g

/** Styles whose answers are over without that reason, too. */
const closing: readonly StyleName[] = ['chat', 'messages']

const changes: [name: string, change: (text: string) => string, ended: readonly StyleName[]][] = [
  ['no reason', (text) => text.replace(reasons, '"$1":null'), closing],
  ['an empty reason', (text) => text.replace(reasons, '"$1":""'), closing],
  ['an unknown reason', (text) => text.replace(reasons, '"$1":"tired"'), [...closing, 'generate']],
]

export const reasonRows: readonly Fault[] = changes.flatMap(([name, change, ended]): Fault[] => [
  {
    row: 'F45',
    name: `an answer that ends with ${name}`,
    styles: streaming,
    modes: ['json'],
    seen: (style) => (ended.includes(style) ? converted : error(502, 'upstream_invalid_response')),
    script: (wire, { style, model }) =>
      wire.send(answered('200 OK', change(JSON.stringify(style.answer(model, good))))),
  },
  {
    row: 'F45',
    name: `a stream that ends with ${name}`,
    styles: ['chat', 'messages', 'generate'],
    modes: ['stream'],
    seen: (style) => (ended.includes(style) ? converted : broken('upstream_error')),
    async script(wire, scene) {
      const [first = '', ...rest] = scene.style.events(scene.model, good)
      await wire.send(chunkedStream + asChunk(first))
      await callerHas(scene, first.trimEnd())
      await wire.send(`${rest.map(change).map(asChunk).join('')}0\r\n\r\n`)
    },
  },
])
