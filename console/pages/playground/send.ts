// Sends one request and reads its events. The token is created for this page and stays in this tab.
import { api } from '../../lib/api.ts'

const storageKey = 'gateway-playground-token'
const goodForMs = 12 * 3_600_000

interface StoredToken {
  account: string
  like: string
  secret: string
  untilMs: number
}

/** What a token may do, as the admin API has it. */
export interface Rights {
  models: string[]
  limits: Record<string, number>
  allowed_ips: string[]
}

/** The token of this tab for an account, made when there is none; with the rights of another one. */
export async function tokenFor(account: string, rights?: Rights): Promise<string> {
  const stored = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as StoredToken | null
  const like = rights === undefined ? '' : JSON.stringify(rights)
  const isFitting = stored?.account === account && stored.like === like
  if (isFitting && stored.untilMs > Date.now()) return stored.secret
  const untilMs = Date.now() + goodForMs
  const body = {
    account,
    name: `playground-${untilMs.toString(36)}`,
    expires_at: new Date(untilMs).toISOString(),
    ...rights,
  }
  const { token: secret } = await api<{ token: string }>('POST', '/tokens', { body })
  const next: StoredToken = { account, like, secret, untilMs: untilMs - 60_000 }
  sessionStorage.setItem(storageKey, JSON.stringify(next))
  return secret
}

interface Event {
  afterMs: number
  data: string
}

export interface Outcome {
  status: number
  requestId: string
  firstMs?: number
  totalMs?: number
  /** What a person reads. */
  text: string
  events: Event[]
  body?: unknown
}

interface Sending {
  path: string
  token: string
  body: string
  signal: AbortSignal
  onProgress: (outcome: Outcome) => void
}

export async function send({ path, token, body, signal, onProgress }: Sending): Promise<Outcome> {
  const startMs = performance.now()
  const response = await fetch(path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body,
    signal,
    credentials: 'omit',
  })
  const outcome: Outcome = {
    status: response.status,
    requestId: response.headers.get('x-gateway-request-id') ?? '',
    text: '',
    events: [],
  }
  const since = () => performance.now() - startMs
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    const text = await response.text()
    outcome.firstMs = since()
    outcome.body = parsed(text) ?? text
    outcome.text = textOf(outcome.body) ?? text
    outcome.totalMs = since()
    return outcome
  }
  for await (const data of eventsOf(response)) {
    outcome.firstMs ??= since()
    outcome.events.push({ afterMs: since(), data })
    outcome.text += deltaOf(parsed(data)) ?? ''
    onProgress({ ...outcome, events: [...outcome.events] })
  }
  return { ...outcome, totalMs: since() }
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

interface Answer {
  choices?: { message?: { content?: string }; delta?: { content?: string } }[]
  output_text?: string
  output?: { content?: { text?: string }[] }[]
  content?: { text?: string }[]
  candidates?: { content?: { parts?: { text?: string }[] } }[]
  delta?: string | { text?: string }
  type?: string
  error?: { message?: string }
}

/** The words of a whole answer, in any of the four styles. */
function textOf(body: unknown): string | undefined {
  const answer = (body ?? {}) as Answer
  return (
    answer.error?.message ??
    answer.choices?.[0]?.message?.content ??
    answer.output_text ??
    answer.output?.flatMap(({ content = [] }) => content.map(({ text = '' }) => text)).join('') ??
    answer.candidates?.[0]?.content?.parts?.map(({ text = '' }) => text).join('') ??
    (Array.isArray(answer.content)
      ? answer.content.map(({ text = '' }) => text).join('')
      : undefined)
  )
}

/** The words one event adds. */
function deltaOf(event: unknown): string | undefined {
  const part = (event ?? {}) as Answer
  if (part.error?.message !== undefined) return `\n${part.error.message}`
  if (part.choices !== undefined) return part.choices[0]?.delta?.content
  if (part.type === 'response.output_text.delta' && typeof part.delta === 'string')
    return part.delta
  if (typeof part.delta === 'object') return part.delta.text
  return undefined
}
