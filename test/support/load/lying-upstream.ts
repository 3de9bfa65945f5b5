// An upstream of every protocol that reports what it is told to, whatever it was asked for. A marker in
// the prompt says which call it is: by it the test tells what to report, and what arrived is counted.
import { taskWires } from '../../faults/tasks/wire.ts'
import {
  asEvents,
  type Captured,
  completion,
  finishChunk,
  jsonReply,
  startUpstream,
  streamReply,
  textChunk,
  usageChunk,
} from '../upstream.ts'

/** What is said of the work of one call. */
export interface Told {
  input: number
  output: number
  read: number
  written: number
  /** `prompt_tokens` or `input_tokens`, where the style has no other way. */
  spelling: 'prompt' | 'input'
  missing: 'nothing' | 'output' | 'all'
  /** Seconds, video tokens or pictures; null: not reported. */
  units: number | null
  /** `cut`: the answer breaks off. `failed`: it says so, or the task ends so, with its usage. */
  ending: 'good' | 'cut' | 'failed'
}

export interface LyingUpstream {
  /** The lines of a channel's `protocols`. */
  protocols: Readonly<Record<string, string>>
  tell(marker: string, told: Told): void
  /** How often work was asked for; questions about tasks do not count. */
  asked(marker: string): number
  stop(): Promise<void>
}

const markerIn = (text: string): string => /mark-\d+-\d+/.exec(text)?.[0] ?? ''

export function startLyingUpstream(): LyingUpstream {
  const tellings = new Map<string, Told>()
  const counts = new Map<string, number>()
  const upstream = startUpstream((call) => {
    if (call.path.endsWith('.png') || call.path.endsWith('.mp4')) return new Response(onePixel)
    const isWork = call.body !== ''
    const marker = markerIn(isWork ? call.body : call.path)
    const told = tellings.get(marker)
    if (told === undefined)
      return jsonReply({ error: { message: 'no such call' } }, { status: 404 })
    if (isWork) counts.set(marker, (counts.get(marker) ?? 0) + 1)
    const asked = { marker, told, call, files: `${upstream.url}/files` }
    return textAnswer(asked) ?? (isWork ? created(asked) : report(asked))
  })
  const { url } = upstream
  return {
    protocols: {
      chat: `${url}/v1`,
      responses: `${url}/v1`,
      messages: url,
      embeddings: `${url}/v1`,
      images: `${url}/pictures/v1`,
      imgvendor: `${url}/tasks-of-pictures`,
      vf: url,
      arkvendor: `${url}/api/v3`,
      vendorg: `${url}/operator`,
    },
    tell: (marker, told) => void tellings.set(marker, told),
    asked: (marker) => counts.get(marker) ?? 0,
    stop: upstream.stop,
  }
}

const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+M8AAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
)

interface Asked {
  marker: string
  told: Told
  call: Captured
  files: string
}

function textAnswer({ told, call }: Asked): Response | undefined {
  const style = textStyles.find(([ending]) => call.path.endsWith(ending))
  if (style === undefined) return undefined
  const [, answer, usageOf] = style
  if (told.ending === 'failed') {
    return jsonReply({ error: { message: 'no', type: 'invalid_request_error' } }, { status: 400 })
  }
  const usage = told.missing === 'all' ? undefined : usageOf(told)
  if ((JSON.parse(call.body) as { stream?: boolean }).stream) {
    const events = [textChunk('Hello there.'), finishChunk(), usageChunk(usage), '[DONE]']
    return streamReply([asEvents(told.ending === 'cut' ? events.slice(0, 1) : events)])
  }
  const text = JSON.stringify({ ...answer, ...(usage !== undefined && { usage }) })
  return jsonReply(told.ending === 'cut' ? text.slice(0, -20) : text)
}

const sides = ({ output, missing }: Told, name: string): object =>
  missing === 'output' ? {} : { [name]: output }

const bySpelling = (told: Told): object => {
  const details = { cached_tokens: told.read, cache_write_tokens: told.written }
  return told.spelling === 'prompt'
    ? {
        prompt_tokens: told.input,
        ...sides(told, 'completion_tokens'),
        prompt_tokens_details: details,
      }
    : { input_tokens: told.input, ...sides(told, 'output_tokens'), input_tokens_details: details }
}

const textStyles: readonly [ending: string, answer: object, usage: (told: Told) => object][] = [
  ['/chat/completions', completion(undefined, 'txta-plus'), bySpelling],
  [
    '/responses',
    {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'txta-plus',
      output: [
        {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hello there.', annotations: [] }],
        },
      ],
    },
    bySpelling,
  ],
  [
    '/messages',
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'txta-plus',
      content: [{ type: 'text', text: 'Hello there.' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
    },
    (told) => ({
      input_tokens: told.input,
      ...sides(told, 'output_tokens'),
      cache_read_input_tokens: told.read,
      cache_creation_input_tokens: told.written,
    }),
  ],
  [
    '/embeddings',
    {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.5, -0.5] }],
      model: 'txta-embed',
    },
    ({ input }) => ({ prompt_tokens: input, total_tokens: input }),
  ],
]

const wireAt = (path: string) => {
  if (path.startsWith('/operator/')) return taskWires.vendorg
  return path.startsWith('/api/v3/') ? taskWires.arkvendor : taskWires.vf
}

const pictures = ({ told, files }: Asked) =>
  Array.from({ length: told.units ?? 1 }, (_, index) => ({ index, url: `${files}/${index}.png` }))

const imageTask = (id: string, status: string, more: object = {}) =>
  jsonReply({ code: 0, message: 'success', data: { task_id: id, task_status: status, ...more } })

function created(asked: Asked): Response {
  const { marker, told, call } = asked
  if (call.path.startsWith('/tasks-of-pictures/')) return imageTask(`up-${marker}`, 'submitted')
  if (call.path.startsWith('/pictures/')) {
    if (told.ending === 'failed') return jsonReply({ error: { message: 'no' } }, { status: 400 })
    const text = JSON.stringify({ created: 1, data: pictures(asked) })
    return jsonReply(told.ending === 'cut' ? text.slice(0, -5) : text)
  }
  const wire = wireAt(call.path)
  return jsonReply(wire.created(wire.idFor(marker)))
}

function report(asked: Asked): Response {
  const { marker, told, call, files } = asked
  if (call.path.startsWith('/tasks-of-pictures/')) {
    return told.ending === 'failed'
      ? imageTask(`up-${marker}`, 'failed', { task_status_msg: 'it broke' })
      : imageTask(`up-${marker}`, 'succeed', { task_result: { images: pictures(asked) } })
  }
  const wire = wireAt(call.path)
  const id = wire.idFor(marker)
  const done = wire.done(id, { url: `${files}/v.mp4`, used: told.units })
  return jsonReply(told.ending === 'failed' ? { ...done, ...wire.failed(id, 'it broke') } : done)
}
