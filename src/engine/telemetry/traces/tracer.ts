// Decides which requests are traced, and makes their spans when they have ended: one for the
// request, one for each try at an upstream, one for a task. Made from complete rows; they hold no
// text of a prompt or of an upstream.
import type { Interface } from '../../../contract/catalog.ts'
import { interfaceRows } from '../../../contract/config-schema/names.ts'
import type { Attempt, CallTrace, RequestRecord } from '../../../contract/requests.ts'
import type { Task } from '../../../contract/task.ts'
import type { SpanExporter } from '../../../lib/telemetry/span-exporter.ts'
import {
  newSpanId,
  newTraceId,
  readTraceParent,
  type TraceParent,
} from '../../../lib/telemetry/trace-context.ts'
import { formatNanos } from '../../../lib/text/decimal.ts'
import { knownModelOf } from '../../admission/known-model.ts'

/** As OTEL_TRACES_SAMPLER has it. */
export interface Sampling {
  /** Sampling ratio of traces that begin here, and of all when the caller's decision is ignored. */
  ratio: number
  /** The caller's sampling decision counts. */
  followsParent: boolean
}

export class Tracer {
  readonly #exporter: SpanExporter
  readonly #sampling: Sampling

  constructor(exporter: SpanExporter, sampling: Sampling) {
    this.#exporter = exporter
    this.#sampling = sampling
  }

  get spans(): SpanExporter['spans'] {
    return this.#exporter.spans
  }

  /** For a request with or without trace context. */
  begin(parent: TraceParent | undefined): CallTrace {
    const traceId = parent?.traceId ?? newTraceId()
    const { ratio, followsParent } = this.#sampling
    const sampled =
      parent !== undefined && followsParent ? parent.sampled : isWithin(traceId, ratio)
    return {
      traceId,
      spanId: newSpanId(),
      ...(parent !== undefined && { parentId: parent.parentId }),
      sampled,
      tries: [],
    }
  }

  /** A request has ended. */
  call(record: RequestRecord): void {
    const { trace } = record
    if (trace === undefined || !trace.sampled) return
    record.detail.attempts.forEach((attempt, at) => {
      this.#attempt(record, trace, attempt, trace.tries[at])
    })
    const operation = operationOf(record.interface)
    const { usage } = record
    this.#exporter.add({
      traceId: trace.traceId,
      spanId: trace.spanId,
      ...(trace.parentId !== undefined && { parentId: trace.parentId }),
      name: nameOf(operation, knownModelOf(record)),
      kind: 'server',
      startMs: record.atMs,
      endMs: record.atMs + record.totalMs,
      attributes: {
        'gen_ai.operation.name': operation,
        'gen_ai.request.model': knownModelOf(record),
        'gen_ai.request.stream': record.detail.stream ? true : undefined,
        'gen_ai.usage.input_tokens': usage?.inputTokens,
        'gen_ai.usage.output_tokens': usage?.outputTokens,
        'gen_ai.usage.cache_read.input_tokens': usage?.cacheReadTokens,
        'gen_ai.usage.cache_creation.input_tokens': usage?.cacheWriteTokens,
        'http.response.status_code': record.status,
        'error.type': record.errorCode,
        'gateway.request_id': record.requestId,
        'gateway.interface': record.interface,
        'gateway.channel': record.channel,
        'gateway.task_id': record.detail.taskId,
        'gateway.first_byte_ms': record.firstByteMs,
        'gateway.charge': formatNanos(record.chargeNanos),
      },
      ...(record.status >= 500 && { error: record.errorCode ?? 'error' }),
    })
  }

  #attempt(
    record: RequestRecord,
    trace: CallTrace,
    { channel, afterMs, ms, status, error, key }: Attempt,
    spanId = newSpanId(),
  ): void {
    const operation = operationOf(record.interface)
    const startMs = record.atMs + afterMs
    this.#exporter.add({
      traceId: trace.traceId,
      spanId,
      parentId: trace.spanId,
      name: nameOf(operation, knownModelOf(record)),
      kind: 'client',
      startMs,
      endMs: startMs + ms,
      attributes: {
        'gen_ai.operation.name': operation,
        'gen_ai.provider.name': channel,
        'gen_ai.request.model': record.detail.upstreamModel ?? knownModelOf(record),
        'http.response.status_code': status,
        'error.type': error === undefined ? undefined : String(status ?? 'failed'),
        'gateway.key': key,
      },
      ...(error !== undefined && { error: 'failed' }),
    })
  }

  /** A create was sent; `code` is the error of its reply. */
  sent(task: Task, startMs: number, endMs: number, code: string | undefined): void {
    const parent = parentOf(task)
    if (parent === undefined) return
    const operation = operationOf(task.interface)
    this.#exporter.add({
      traceId: parent.traceId,
      spanId: newSpanId(),
      parentId: parent.parentId,
      name: nameOf(operation, task.model),
      kind: 'client',
      startMs,
      endMs,
      attributes: {
        'gen_ai.operation.name': operation,
        'gen_ai.provider.name': task.channel,
        'gen_ai.request.model': task.upstreamModel,
        'error.type': code,
        'gateway.task_id': task.id,
      },
      ...(code !== undefined && { error: code }),
    })
  }

  taskEnded(task: Task): void {
    const parent = parentOf(task)
    if (parent === undefined) return
    const operation = operationOf(task.interface)
    this.#exporter.add({
      traceId: parent.traceId,
      spanId: newSpanId(),
      parentId: parent.parentId,
      name: `task ${task.model}`,
      kind: 'internal',
      startMs: task.createdAtMs,
      endMs: task.finishedAtMs ?? task.updatedAtMs,
      attributes: {
        'gen_ai.operation.name': operation,
        'gen_ai.request.model': task.model,
        'error.type': task.error?.code,
        'gateway.task_id': task.id,
        'gateway.task.state': task.state,
        'gateway.task.looks': task.checks,
        'gateway.request_id': task.requestId,
        'gateway.interface': task.interface,
        'gateway.channel': task.channel,
        'gateway.video_seconds': task.usage?.outputSeconds,
        'gateway.images': task.kind === 'image' ? task.media.length : undefined,
        'gateway.charge': formatNanos(task.chargeNanos),
      },
      ...(task.state === 'failed' && { error: task.error?.code ?? 'failed' }),
    })
  }

  close(): Promise<void> {
    return this.#exporter.close()
  }
}

/** The attributes for images and videos are ours: the conventions have none yet. */
const operationOf = (use: Interface): string => {
  const kind = interfaceRows[use]?.kind ?? 'text'
  if (kind === 'text') return 'chat'
  return kind === 'embedding' ? 'embeddings' : `${kind}_generation`
}

const nameOf = (operation: string, model: string | undefined): string =>
  model === undefined ? operation : `${operation} ${model}`

function parentOf({ trace }: Task): TraceParent | undefined {
  const parent = trace === undefined ? undefined : readTraceParent(trace.parent)
  return parent?.sampled === true ? parent : undefined
}

/** The same decision in every service that the trace passes. */
function isWithin(traceId: string, ratio: number): boolean {
  if (ratio >= 1) return true
  return Number.parseInt(traceId.slice(-13), 16) < ratio * 2 ** 52
}
