// Sends one request as an application would, and reads what comes back: a body, events, or a file.
import type { Answer, Json, Style } from './chat/styles/style.ts'

interface Event {
  afterMs: number
  data: string
}

export interface Outcome {
  status: number
  requestId: string
  /** As the answer says. */
  charge?: string
  /** What a translation between styles left out. */
  loss?: string
  firstMs?: number
  totalMs?: number
  events: Event[]
  body?: unknown
  /** Sound. */
  file?: Blob
  /** Of a style of text. */
  answer?: Answer
  /** What the gateway says about a refusal. */
  refusal?: string
}

interface Sending {
  path: string
  token: string
  body: string | FormData
  /** Reads the answer, if it is text. */
  style?: Style | undefined
  signal: AbortSignal
  onProgress: (outcome: Outcome) => void
}

export async function send(sending: Sending): Promise<Outcome> {
  const { path, token, body, signal, style, onProgress } = sending
  const startMs = performance.now()
  const since = () => performance.now() - startMs
  const response = await fetch(path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'x-gateway-include': 'charge',
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
    },
    body,
    signal,
    credentials: 'omit',
  })
  const outcome = begun(response)
  const type = response.headers.get('content-type') ?? ''
  if (!type.startsWith('text/event-stream')) {
    await readWhole(response, outcome, style)
    outcome.firstMs = since()
    return { ...outcome, totalMs: since() }
  }
  const fold = style?.fold()
  onProgress({ ...outcome })
  for await (const data of eventsOf(response)) {
    outcome.firstMs ??= since()
    outcome.events.push({ afterMs: since(), data })
    const event = parsed(data)
    if (fold !== undefined && event !== undefined) withAnswer(outcome, fold(event as Json))
    onProgress({ ...outcome })
  }
  return { ...outcome, totalMs: since() }
}

function begun({ status, headers }: Response): Outcome {
  const [charge, loss] = ['x-gateway-charge', 'x-gateway-translation-loss'].map((name) =>
    headers.get(name),
  )
  return {
    status,
    requestId: headers.get('x-gateway-request-id') ?? '',
    ...(charge && { charge }),
    ...(loss && { loss }),
    events: [],
  }
}

async function readWhole(response: Response, outcome: Outcome, style?: Style): Promise<void> {
  const type = response.headers.get('content-type') ?? ''
  if (response.ok && /^(audio\/|application\/octet-stream)/.test(type)) {
    outcome.file = await response.blob()
    return
  }
  const text = await response.text()
  outcome.body = parsed(text) ?? text
  if (!response.ok) outcome.refusal = refusalIn(outcome.body) ?? text
  else if (style !== undefined) withAnswer(outcome, style.read(outcome.body as Json))
}

function withAnswer(outcome: Outcome, answer: Answer): void {
  outcome.answer = answer
  if (answer.charge !== undefined) outcome.charge = answer.charge
}

function refusalIn(body: unknown): string | undefined {
  const { error } = (body ?? {}) as { error?: { message?: unknown } }
  return typeof error?.message === 'string' ? error.message : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function* eventsOf(response: Response): AsyncGenerator<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const events = (rest + value).split(/\r?\n\r?\n/)
    rest = events.pop() ?? ''
    for (const event of events) {
      const data = event
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trimStart())
      if (data.length > 0) yield data.join('\n')
    }
  }
}
