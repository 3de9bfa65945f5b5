// Sends finished spans to a collector as OTLP over HTTP, in JSON and in batches. Spans that cannot
// be sent are dropped and counted; no caller waits. Knows neither requests nor what the spans mean.

type SpanValue = string | number | boolean

export interface Span {
  traceId: string
  spanId: string
  parentId?: string
  name: string
  kind: 'internal' | 'server' | 'client'
  startMs: number
  endMs: number
  attributes: Readonly<Record<string, SpanValue | undefined>>
  /** A keyword for the failure, never text from outside. */
  error?: string
}

interface ExporterSettings {
  url: string
  headers: Readonly<Record<string, string>>
  timeoutMs: number
  /** Attributes of all spans, such as service.name. */
  resource: Readonly<Record<string, string>>
}

interface ExporterOptions extends ExporterSettings {
  version: string
  post?: (url: string, init: RequestInit) => Promise<Response>
  /** Called at most once a minute. */
  failed?: (reason: string) => void
  limits?: Partial<typeof exporterLimits>
}

const exporterLimits = {
  /** Maximum waiting spans; more are dropped. */
  queue: 2_048,
  /** Spans of one request. */
  batch: 512,
  /** How long spans wait to form a batch. */
  everyMs: 1_000,
  /** Between two failure reports. */
  complainMs: 60_000,
}

const kinds = { internal: 1, server: 2, client: 3 } as const
const errorStatus = 2

export class SpanExporter {
  /** Counts by outcome. */
  readonly spans = { sent: 0, dropped: 0, failed: 0 }
  readonly #options: ExporterOptions
  readonly #limits: typeof exporterLimits
  #queue: Span[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  #sending: Promise<void> | undefined
  #complainedMs = Number.NEGATIVE_INFINITY

  constructor(options: ExporterOptions) {
    this.#options = options
    this.#limits = { ...exporterLimits, ...options.limits }
  }

  add(span: Span): void {
    if (this.#queue.length >= this.#limits.queue) {
      this.spans.dropped++
      return
    }
    this.#queue.push(span)
    if (this.#sending !== undefined) return
    if (this.#queue.length >= this.#limits.batch) this.#send()
    else this.#timer ??= this.#later()
  }

  /** Sends waiting spans once; those that fail are lost. */
  async close(): Promise<void> {
    await this.#sending
    if (this.#queue.length > 0) this.#send()
    await this.#sending
    clearTimeout(this.#timer)
  }

  #later(): ReturnType<typeof setTimeout> {
    const timer = setTimeout(() => this.#send(), this.#limits.everyMs)
    timer.unref()
    return timer
  }

  #send(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#sending !== undefined || this.#queue.length === 0) return
    const batch = this.#queue.slice(0, this.#limits.batch)
    this.#queue = this.#queue.slice(this.#limits.batch)
    this.#sending = this.#post(batch).finally(() => {
      this.#sending = undefined
      if (this.#queue.length > 0) this.#timer ??= this.#later()
    })
  }

  async #post(batch: readonly Span[]): Promise<void> {
    const { url, headers, timeoutMs, post = fetch } = this.#options
    try {
      const response = await post(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(this.#envelope(batch)),
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      })
      await response.body?.cancel()
      if (!response.ok) throw new Error(`the collector answered with ${response.status}`)
      this.spans.sent += batch.length
    } catch (error) {
      this.spans.failed += batch.length
      this.#complain(error instanceof Error ? error.message : String(error))
    }
  }

  #complain(reason: string): void {
    const nowMs = performance.now()
    if (nowMs - this.#complainedMs < this.#limits.complainMs) return
    this.#complainedMs = nowMs
    this.#options.failed?.(reason)
  }

  #envelope(batch: readonly Span[]): object {
    const { resource, version } = this.#options
    const scope = { name: 'model-gateway', version }
    const scopeSpans = [{ scope, spans: batch.map(wireSpan) }]
    return { resourceSpans: [{ resource: { attributes: wireAttributes(resource) }, scopeSpans }] }
  }
}

const nanos = (ms: number): string => `${Math.round(ms)}000000`

const wireSpan = (span: Span): object => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentId !== undefined && { parentSpanId: span.parentId }),
  name: span.name,
  kind: kinds[span.kind],
  startTimeUnixNano: nanos(span.startMs),
  endTimeUnixNano: nanos(Math.max(span.startMs, span.endMs)),
  attributes: wireAttributes(span.attributes),
  status: span.error === undefined ? {} : { code: errorStatus, message: span.error },
})

const wireAttributes = (attributes: Span['attributes']): object[] =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: wireValue(value) }],
  )

function wireValue(value: SpanValue): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
