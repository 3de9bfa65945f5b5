// Text calls in the chat dialect, complete replies and streams; and responses that the upstream makes in the
// background.
import { json, type UpstreamWire, type WireReply, type WireRequest } from './messages.ts'
import type { ReportedState, Work } from './upstream.ts'

const text = 'some words of an answer that has a length'

export function answerChat(upstreamWire: UpstreamWire, request: WireRequest): WireReply {
  const { upstream } = upstreamWire
  const [message] = request.body['messages'] as { content: string | { text: string }[] }[]
  const { content } = message!
  const [work] = upstream.make({
    kind: 'text',
    protocol: 'chat',
    model: String(request.body['model']),
    prompt: typeof content === 'string' ? content : content.map(({ text }) => text).join(''),
    channel: request.url.host.split('.')[0]!,
    from: request.from,
    requested: 200,
  })
  if (work!.fate !== 'succeeded') {
    work!.reported.push('failed')
    return json({ error: { message: 'it broke' } }, 500)
  }
  work!.reported.push('succeeded')
  const about = { id: work!.id, object: 'chat.completion', model: work!.model }
  const usage =
    work!.quantity === undefined
      ? undefined
      : { prompt_tokens: work!.inputTokens, completion_tokens: work!.quantity }
  const onRead = (read: string) => {
    if (read.includes('"usage"')) work!.isTold = true
  }
  if (request.body['stream'] !== true) {
    const choices = [{ index: 0, message: { role: 'assistant', content: text } }]
    return { ...json({ ...about, choices, ...(usage && { usage }) }), onRead }
  }
  const chunks = [...(isSpoiled(upstreamWire) ? spoiled : events)(about, usage)]
  return { status: 200, body: '', headers: eventStream, chunks, onRead }
}

const isSpoiled = ({ context: { random, faults } }: UpstreamWire): boolean =>
  random.parts.chance(faults.parts.spoiled)

const eventStream = { 'content-type': 'text/event-stream' } as const

const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`

/** It has used something and delivers nothing. */
function* spoiled(about: object, usage: object | undefined): Iterable<string> {
  if (usage !== undefined) yield event({ ...about, choices: [], usage })
  yield event({ error: { message: 'it broke' } })
}

function* events(about: object, usage: object | undefined): Iterable<string> {
  for (const word of text.split(' ')) {
    yield event({ ...about, choices: [{ index: 0, delta: { content: `${word} ` } }] })
  }
  yield event({ ...about, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
  if (usage !== undefined) yield event({ ...about, choices: [], usage })
  yield 'data: [DONE]\n\n'
}

const statuses: Partial<Record<ReportedState, string>> = {
  queued: 'queued',
  unrecognized: 'warming_up',
  succeeded: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
}

export function answerResponses({ upstream }: UpstreamWire, request: WireRequest): WireReply {
  const { pathname } = request.url
  const isCancel = pathname.endsWith('/cancel')
  if (request.method === 'GET' || isCancel) {
    const id = decodeURIComponent(pathname.split('/').at(isCancel ? -2 : -1)!)
    // One that is over stays as it is.
    if (isCancel) upstream.cancel(id)
    return responseOf(upstream.works.get(id), upstream.report(id))
  }
  const { input } = request.body
  const [work] = upstream.make({
    kind: 'response',
    protocol: 'responses',
    model: String(request.body['model']),
    prompt: typeof input === 'string' ? input : JSON.stringify(input),
    channel: request.url.host.split('.')[0]!,
    from: request.from,
    requested: 200,
  })
  return responseOf(work, 'queued')
}

function responseOf(work: Work | undefined, state: ReportedState): WireReply {
  if (work === undefined || state === 'missing') {
    return json({ error: { message: 'no such response', type: 'invalid_request_error' } }, 404)
  }
  const { id, model, inputTokens, quantity } = work
  const response = { id, object: 'response', model, status: statuses[state] ?? 'in_progress' }
  if (state === 'failed') {
    return json({ ...response, output: [], error: { code: 'server_error', message: 'it broke' } })
  }
  if (state !== 'succeeded') return json({ ...response, output: [] })
  const content = [{ type: 'output_text', text, annotations: [] }]
  const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }
  const used = {
    input_tokens: inputTokens,
    output_tokens: quantity,
    total_tokens: inputTokens + (quantity ?? 0),
  }
  return json({ ...response, output: [message], ...(quantity !== undefined && { usage: used }) })
}
