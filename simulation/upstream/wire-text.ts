// Text calls in the chat dialect: complete replies and streams.
import { json, type UpstreamWire, type WireReply, type WireRequest } from './messages.ts'

const text = 'some words of an answer that has a length'

export function answerChat({ upstream }: UpstreamWire, request: WireRequest): WireReply {
  const [message] = request.body['messages'] as { content: string }[]
  const [work] = upstream.make({
    kind: 'text',
    protocol: 'chat',
    model: String(request.body['model']),
    prompt: message!.content,
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
  if (request.body['stream'] !== true) {
    const choices = [{ index: 0, message: { role: 'assistant', content: text } }]
    return json({ ...about, choices, ...(usage && { usage }) })
  }
  return { status: 200, body: '', headers: eventStream, chunks: [...events(about, usage)] }
}

const eventStream = { 'content-type': 'text/event-stream' } as const

function* events(about: object, usage: object | undefined): Iterable<string> {
  const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`
  for (const word of text.split(' ')) {
    yield event({ ...about, choices: [{ index: 0, delta: { content: `${word} ` } }] })
  }
  yield event({ ...about, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
  if (usage !== undefined) yield event({ ...about, choices: [], usage })
  yield 'data: [DONE]\n\n'
}
