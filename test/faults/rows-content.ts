// Rows of the fault table about answers that arrive whole and make no sense: wrong JSON, wrong kind,
// wrong usage.
import {
  answered,
  asChunk,
  broken,
  callerHas,
  canary,
  chunkedStream,
  converted,
  counted,
  error,
  type Fault,
  fine,
  goodBody,
  goodEvents,
  leak,
  openStream,
  type Seen,
  sane,
  wholeAnswer,
} from './fault.ts'
import { all, type StyleName, streaming, type Told } from './styles.ts'

const invalid = error(502, 'upstream_invalid_response')
const page = `<html>\n\n<body>log in at node7.cluster.internal ${canary}\n\n</body></html>`
const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`

const bodies: [name: string, body: string][] = [
  ['half a JSON', '{"choices":[{"index":0,'],
  ['an empty body', ''],
  ['null', 'null'],
  ['a number', '5'],
  ['a list', '[]'],
  ['an object of another kind', '{"hello":"world"}'],
  ['lists of nothing', '{"choices":null,"output":null,"content":null,"data":null}'],
  ['usage that is not a number', '{"choices":[],"usage":{"prompt_tokens":NaN}}'],
  ['brackets without end', '['.repeat(200_000)],
  ['brackets of great depth', deep],
  ['two answers', '{"choices":[]}{"choices":[]}'],
]
const malformed: Fault[] = bodies.map(([name, body]) => ({
  row: 'F11',
  name,
  styles: all,
  modes: ['json', 'stream'],
  seen: invalid,
  script: (wire) => wire.send(answered('200 OK', body)),
}))

/** Something in between after the first event. */
const inside = (name: string, event: string, seen: Fault['seen'] = converted): Fault => ({
  row: 'F11',
  name,
  styles: streaming,
  modes: ['stream'],
  seen,
  async script(wire, scene) {
    const [first = '', ...rest] = goodEvents(scene)
    await wire.send(chunkedStream + asChunk(first))
    await callerHas(scene, first.trimEnd())
    await wire.send(`${[event, ...rest].map(asChunk).join('')}0\r\n\r\n`)
  },
})
const leaky = JSON.stringify({ type: 'error', error: { type: 'api_error', message: leak } })
const events: Fault[] = [
  inside('an event that breaks off', 'data: {"choices":[{"delta":{"con\n\n'),
  inside('an event that is no JSON', 'data: oops\n\n'),
  inside(
    'a named event that is JSON at both ends only',
    'event: x\ndata: {"type":"x","delta":}\n\n',
  ),
  inside('an error event', `event: error\ndata: ${leaky}\n\n`, broken('upstream_error')),
  {
    row: 'F11',
    name: 'a first event that is no JSON',
    styles: streaming,
    modes: ['stream'],
    seen: invalid,
    script: (wire) => wire.send(`${chunkedStream}${asChunk('data: oops\n\n')}0\r\n\r\n`),
  },
  {
    row: 'F11',
    name: 'an error as the first event',
    styles: streaming,
    modes: ['stream'],
    seen: error(502, 'upstream_error'),
    script: (wire) =>
      wire.send(`${chunkedStream}${asChunk(`event: error\ndata: ${leaky}\n\n`)}0\r\n\r\n`),
  },
  {
    row: 'F11',
    name: 'an error in a good status',
    styles: all,
    modes: ['json', 'stream'],
    seen: error(502, 'upstream_error'),
    script: (wire) => wire.send(answered('200 OK', leaky)),
  },
]

const pages: Fault[] = [
  ['text/html', 'a page'],
  ['text/plain', 'a page as plain text'],
  ['application/json', 'a page as JSON'],
  ['text/event-stream', 'a page as a stream'],
].map(([type = '', name = '']) => ({
  row: 'F12',
  name,
  styles: all,
  modes: ['json', 'stream'],
  seen: error(502, ['upstream_invalid_response', 'upstream_error']),
  script: (wire) => wire.send(answered('200 OK', page, type)),
}))

const brokenTool = [
  { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', content: [] } },
  {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'tool_use', id: 't', name: 'n' },
  },
  { type: 'content_block_delta', index: 0, delta: { type: 'x', partial_json: '{"a":' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
]

const mixedUp: Fault[] = [
  {
    row: 'F13',
    name: 'JSON for a stream',
    styles: streaming,
    modes: ['stream'],
    seen: converted,
    script: (wire, scene) => wire.send(answered('200 OK', goodBody(scene))),
  },
  {
    row: 'F13',
    name: 'a stream for JSON',
    styles: all,
    modes: ['json'],
    seen: (style) => (style === 'embeddings' ? invalid : converted),
    script: (wire, scene) => {
      const whole = goodEvents(scene).join('') || 'data: {"object":"list","data":[]}\n\n'
      return wire.send(answered('200 OK', whole, 'text/event-stream'))
    },
  },
  {
    row: 'F13',
    name: 'a stream for JSON that never finished',
    styles: streaming,
    modes: ['json'],
    seen: invalid,
    script: (wire, scene) =>
      wire.send(answered('200 OK', goodEvents(scene).slice(0, 2).join(''), 'text/event-stream')),
  },
  {
    row: 'F13',
    name: 'a stream for JSON with a tool whose input is no JSON',
    styles: ['messages'],
    modes: ['json'],
    seen: invalid,
    script(wire) {
      const text = brokenTool.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')
      return wire.send(answered('200 OK', text, 'text/event-stream'))
    },
  },
  {
    row: 'F13',
    name: 'the other kind, with brackets of great depth',
    styles: streaming,
    modes: ['json', 'stream'],
    seen: sane,
    script(wire, scene) {
      const stuffed = (text: string) => text.replace('"model":', `"deep":${deep},"model":`)
      const { mode } = scene
      return mode === 'stream'
        ? wire.send(answered('200 OK', stuffed(goodBody(scene))))
        : wire.send(
            answered('200 OK', goodEvents(scene).map(stuffed).join(''), 'text/event-stream'),
          )
    },
  },
  {
    row: 'F13',
    name: 'a stream whose type is in capitals',
    styles: streaming,
    modes: ['stream'],
    seen: { kind: 'good', pays: 'usage', exact: true },
    async script(wire, scene) {
      const capital = openStream.replace('text/event-stream', 'Text/Event-Stream; charset=UTF-8')
      await wire.send(capital + goodEvents(scene).join(''))
      wire.end()
    },
  },
]

const noCache: readonly StyleName[] = ['chat', 'responses']
const absurd: [name: string, told: Told | null, seen: Seen, styles?: readonly StyleName[]][] = [
  ['missing', null, counted],
  ['negative', { input: -10, output: -5 }, counted],
  // Cut to what the request allows, or counted on one side: the amounts are tried elsewhere.
  ['enormous', { input: 1e18, output: 1e18 }, sane],
  ['beyond all numbers', { input: 1e300, output: 5 }, sane],
  ['a fraction', { input: 10.5, output: 5 }, sane],
  ['a text', { input: 'NaN', output: '5' }, counted],
  ['null', { input: null, output: null }, counted],
  ['more cached than read', { input: 10, output: 5, cached: 50 }, sane, noCache],
  ['less than nothing cached', { input: 10, output: 5, cached: -50 }, fine, streaming],
  ['negative output', { input: 10, output: -5 }, sane, streaming],
]
const usages: Fault[] = absurd.map(([name, told, seen, styles = all]) => ({
  row: told === null ? 'F20' : 'F21',
  name: `usage ${name}`,
  styles,
  modes: ['json', 'stream'],
  seen,
  told,
  script: (wire, scene) => wire.send(wholeAnswer(scene, told ?? undefined)),
}))

/** Usage that can be believed, with something beside it that nobody can want to keep. */
const stuffing: [name: string, json: string][] = [
  ['brackets of great depth', deep],
  ['a megabyte of text', JSON.stringify('x'.repeat(1 << 20))],
  ['a text that no column takes', '"a\\u0000b\\ud800"'],
]
const stuffed: Fault[] = stuffing.map(([name, json]) => ({
  row: 'F21',
  name: `usage with ${name}`,
  styles: all,
  modes: ['json', 'stream'],
  seen: json === deep ? sane : converted,
  script(wire, scene) {
    const sent = (text: string) => text.replace(/"(prompt|input)_tokens":/g, `"x":${json},$&`)
    return scene.mode === 'json'
      ? wire.send(answered('200 OK', sent(goodBody(scene))))
      : wire.send(answered('200 OK', sent(goodEvents(scene).join('')), 'text/event-stream'))
  },
}))

export const contentRows: readonly Fault[] = [
  ...malformed,
  ...events,
  ...pages,
  ...mixedUp,
  ...usages,
  ...stuffed,
]
