// Files and batches of upstreams of the chat style: lines are uploaded, run after a while, and answered as files.
import { asObject, invalid, type Json } from '../http/fields.ts'
import {
  type Answer,
  type Call,
  jsonAnswer,
  type Route,
  type SandboxSettings,
  type SimulatedProtocol,
} from '../protocol.ts'
import { type AnswerCall, answerLine } from './run-line.ts'

interface Batch {
  id: string
  key: string
  fileId: string
  endpoint: string
  metadata: Json
  createdMs: number
  endsMs: number
  cancelled: boolean
  output?: string
  errors?: string
  counts: { total: number; completed: number; failed: number }
}

const maxKept = 1_000

export const answerWith = ({ routes }: SimulatedProtocol): AnswerCall =>
  routes.find(({ method }) => method === 'POST')!.answer

class FileBatches {
  readonly #settings: SandboxSettings
  readonly #answers: Readonly<Record<string, AnswerCall>>
  readonly #files = new Map<string, { key: string; text: string; name: string }>()
  readonly #batches = new Map<string, Batch>()

  constructor(settings: SandboxSettings, answers: Readonly<Record<string, AnswerCall>>) {
    this.#settings = settings
    this.#answers = answers
  }

  upload({ fields, key }: Call): Answer {
    const file = asObject(fields['file'])
    if (fields['purpose'] !== 'batch' || typeof file['text'] !== 'string') {
      return fault(invalid('file', "A file and the purpose 'batch' are required."))
    }
    const id = this.#keep(key, file['text'], String(file['file']))
    return jsonAnswer({ id, object: 'file', purpose: 'batch', bytes: file['text'].length })
  }

  #keep(key: string, text: string, name: string): string {
    const id = `file-${crypto.randomUUID().replaceAll('-', '')}`
    this.#files.set(id, { key, text, name })
    if (this.#files.size > maxKept) this.#files.delete(this.#files.keys().next().value!)
    return id
  }

  content({ key, params }: Call): Answer {
    const file = this.#files.get(params['id']!)
    if (file?.key !== key) return fault({ status: 404, message: 'No such File object.' })
    return { kind: 'whole', contentType: 'application/octet-stream', body: file.text }
  }

  remove({ key, params }: Call): Answer {
    const id = params['id']!
    if (this.#files.get(id)?.key !== key) return fault({ status: 404, message: 'No such file.' })
    this.#files.delete(id)
    return jsonAnswer({ id, object: 'file', deleted: true })
  }

  create(call: Call): Answer {
    const { fields, key } = call
    const { input_file_id: fileId, endpoint, completion_window: window } = fields
    const file = this.#files.get(String(fileId))
    if (file?.key !== key) return fault(invalid('input_file_id', 'No such File object.'))
    if (window !== '24h') return fault(invalid('completion_window', "It must be '24h'."))
    if (this.#answers[String(endpoint)] === undefined) {
      return fault(invalid('endpoint', 'This endpoint is not supported.'))
    }
    const createdMs = this.#settings.now()
    const batch: Batch = {
      id: `batch_${crypto.randomUUID().replaceAll('-', '')}`,
      ...{ key, fileId: String(fileId), endpoint: String(endpoint), createdMs, cancelled: false },
      metadata: asObject(fields['metadata']),
      endsMs: createdMs + this.#settings.taskSeconds * 1000,
      counts: { total: file.text.trim().split('\n').length, completed: 0, failed: 0 },
    }
    this.#batches.set(batch.id, batch)
    if (this.#batches.size > maxKept) this.#batches.delete(this.#batches.keys().next().value!)
    return jsonAnswer(this.#view(batch, call))
  }

  list(call: Call): Answer {
    const limit = Number(call.search.get('limit') ?? 20)
    const after = call.search.get('after')
    const own = [...this.#batches.values()].filter(({ key }) => key === call.key).toReversed()
    const from = after === null ? 0 : own.findIndex(({ id }) => id === after) + 1
    const page = own.slice(from, from + limit)
    const hasMore = own.length > from + limit
    return jsonAnswer({
      object: 'list',
      data: page.map((batch) => this.#view(batch, call)),
      has_more: hasMore,
    })
  }

  read(call: Call): Answer {
    const batch = this.#find(call)
    return batch === undefined ? noBatch : jsonAnswer(this.#view(batch, call))
  }

  cancel(call: Call): Answer {
    const batch = this.#find(call)
    if (batch === undefined) return noBatch
    if (!this.#hasEnded(batch)) batch.cancelled = true
    return jsonAnswer(this.#view(batch, call))
  }

  #find({ key, params }: Call): Batch | undefined {
    const batch = this.#batches.get(params['id']!)
    return batch?.key === key ? batch : undefined
  }

  #hasEnded = (batch: Batch): boolean => batch.cancelled || this.#settings.now() >= batch.endsMs

  #view(batch: Batch, call: Call): Json {
    const hasEnded = this.#hasEnded(batch)
    if (hasEnded && !batch.cancelled && batch.output === undefined) this.#run(batch, call)
    return {
      id: batch.id,
      object: 'batch',
      endpoint: batch.endpoint,
      input_file_id: batch.fileId,
      completion_window: '24h',
      status: !hasEnded ? 'in_progress' : batch.cancelled ? 'cancelled' : 'completed',
      output_file_id: batch.output ?? null,
      error_file_id: batch.errors ?? null,
      created_at: Math.floor(batch.createdMs / 1000),
      request_counts: batch.counts,
      metadata: batch.metadata,
      errors: null,
    }
  }

  #run(batch: Batch, call: Call): void {
    const lines = this.#files.get(batch.fileId)?.text.trim().split('\n') ?? []
    const good: string[] = []
    const bad: string[] = []
    for (const text of lines) {
      const { custom_id, body } = JSON.parse(text) as { custom_id: string; body: Json }
      const answered = answerLine(this.#answers[batch.endpoint]!, call, body)
      const id = `batch_req_${crypto.randomUUID()}`
      const isGood = 'body' in answered
      const response = isGood
        ? { status_code: 200, request_id: id, body: answered.body }
        : {
            status_code: answered.fault.status,
            request_id: id,
            body: { error: { message: answered.fault.message, code: answered.fault.code ?? null } },
          }
      ;(isGood ? good : bad).push(JSON.stringify({ id, custom_id, response, error: null }))
    }
    batch.counts = { total: lines.length, completed: good.length, failed: bad.length }
    batch.output = this.#keep(batch.key, `${good.join('\n')}\n`, 'output.jsonl')
    if (bad.length > 0) batch.errors = this.#keep(batch.key, `${bad.join('\n')}\n`, 'errors.jsonl')
  }
}

const fault = (of: Extract<Answer, { kind: 'fault' }>['fault']): Answer => ({
  kind: 'fault',
  fault: of,
})
const noBatch = fault({ status: 404, message: 'No such batch.' })

export function fileBatchRoutes(
  settings: SandboxSettings,
  answers: Readonly<Record<string, AnswerCall>>,
): Route[] {
  const kept = new FileBatches(settings, answers)
  const route = (method: string, path: RegExp, answer: AnswerCall, more = {}): Route => ({
    ...{ method, path, answer, ...more },
  })
  const form = { takesForms: true, keepsFiles: true, isBatch: true }
  return [
    route('POST', /^\/v1\/files$/, (call) => kept.upload(call), form),
    route('GET', /^\/v1\/files\/(?<id>[^/]+)\/content$/, (call) => kept.content(call)),
    route('DELETE', /^\/v1\/files\/(?<id>[^/]+)$/, (call) => kept.remove(call)),
    route('POST', /^\/v1\/batches$/, (call) => kept.create(call)),
    route('GET', /^\/v1\/batches$/, (call) => kept.list(call)),
    route('GET', /^\/v1\/batches\/(?<id>[^/]+)$/, (call) => kept.read(call)),
    route('POST', /^\/v1\/batches\/(?<id>[^/]+)\/cancel$/, (call) => kept.cancel(call), {
      bodyOptional: true,
    }),
  ]
}
