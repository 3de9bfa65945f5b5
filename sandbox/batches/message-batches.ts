// Batches of upstreams of the messages style: the requests come with the create, and results are a list.
import { asObject, invalid, type Json } from '../http/fields.ts'
import {
  type Answer,
  type Call,
  type Fault,
  jsonAnswer,
  type Route,
  type SandboxSettings,
} from '../protocol.ts'
import { type AnswerCall, answerLine } from './run-line.ts'

interface Batch {
  id: string
  key: string
  requests: readonly Json[]
  createdMs: number
  endsMs: number
  cancelled: boolean
}

const maxKept = 1_000
const idForm = /^[a-zA-Z0-9_-]{1,64}$/

class MessageBatches {
  readonly #settings: SandboxSettings
  readonly #answer: AnswerCall
  readonly #errorOf: (fault: Fault) => unknown
  readonly #batches = new Map<string, Batch>()

  constructor(settings: SandboxSettings, answer: AnswerCall, errorOf: (fault: Fault) => unknown) {
    this.#settings = settings
    this.#answer = answer
    this.#errorOf = errorOf
  }

  create({ fields, key }: Call): Answer {
    const requests = (Array.isArray(fields['requests']) ? fields['requests'] : []).map(asObject)
    if (requests.length === 0) return fault(invalid('requests', 'There must be a request.'))
    if (!requests.every(({ custom_id: id }) => idForm.test(String(id)))) {
      return fault(invalid('requests', 'A custom_id has 1 to 64 letters, digits, - and _.'))
    }
    const createdMs = this.#settings.now()
    const id = `msgbatch_${crypto.randomUUID().replaceAll('-', '')}`
    const endsMs = createdMs + this.#settings.taskSeconds * 1000
    const batch = { id, key, requests, createdMs, endsMs, cancelled: false }
    this.#batches.set(id, batch)
    if (this.#batches.size > maxKept) this.#batches.delete(this.#batches.keys().next().value!)
    return jsonAnswer(this.#view(batch))
  }

  list({ key, search }: Call): Answer {
    const own = [...this.#batches.values()].filter((batch) => batch.key === key).toReversed()
    const page = own.slice(0, Number(search.get('limit') ?? 20))
    return jsonAnswer({ data: page.map((batch) => this.#view(batch)), has_more: false })
  }

  read(call: Call): Answer {
    const batch = this.#find(call)
    return batch === undefined ? noBatch : jsonAnswer(this.#view(batch))
  }

  cancel(call: Call): Answer {
    const batch = this.#find(call)
    if (batch === undefined) return noBatch
    if (!this.#hasEnded(batch)) batch.cancelled = true
    return jsonAnswer(this.#view(batch))
  }

  results(call: Call): Answer {
    const batch = this.#find(call)
    if (batch === undefined || !this.#hasEnded(batch)) return noBatch
    const lines = batch.requests.map(({ custom_id, params }) =>
      JSON.stringify({ custom_id, result: this.#resultOf(batch, call, asObject(params)) }),
    )
    const body = `${lines.join('\n')}\n`
    return { kind: 'whole', contentType: 'application/x-jsonl', body }
  }

  #resultOf({ cancelled }: Batch, call: Call, params: Json): Json {
    if (cancelled) return { type: 'canceled' }
    const answered = answerLine(this.#answer, call, params)
    return 'body' in answered
      ? { type: 'succeeded', message: answered.body }
      : { type: 'errored', error: this.#errorOf(answered.fault) }
  }

  #find({ key, params }: Call): Batch | undefined {
    const batch = this.#batches.get(params['id']!)
    return batch?.key === key ? batch : undefined
  }

  #hasEnded = (batch: Batch): boolean => batch.cancelled || this.#settings.now() >= batch.endsMs

  #view(batch: Batch): Json {
    const hasEnded = this.#hasEnded(batch)
    return {
      id: batch.id,
      type: 'message_batch',
      processing_status: hasEnded ? 'ended' : 'in_progress',
      created_at: new Date(batch.createdMs).toISOString(),
      results_url: hasEnded ? `/v1/messages/batches/${batch.id}/results` : null,
    }
  }
}

const fault = (of: Fault): Answer => ({ kind: 'fault', fault: of })
const noBatch = fault({ status: 404, message: 'No such batch.' })

export function messageBatchRoutes(
  settings: SandboxSettings,
  answer: AnswerCall,
  errorOf: (fault: Fault) => unknown,
): Route[] {
  const kept = new MessageBatches(settings, answer, errorOf)
  const path = (rest: string) => new RegExp(`^/v1/messages/batches${rest}$`)
  const one = '/(?<id>[^/]+)'
  return [
    { method: 'POST', path: path(''), isBatch: true, answer: (call) => kept.create(call) },
    { method: 'GET', path: path(''), answer: (call) => kept.list(call) },
    { method: 'GET', path: path(one), answer: (call) => kept.read(call) },
    { method: 'GET', path: path(`${one}/results`), answer: (call) => kept.results(call) },
    {
      method: 'POST',
      path: path(`${one}/cancel`),
      bodyOptional: true,
      answer: (call) => kept.cancel(call),
    },
  ]
}
