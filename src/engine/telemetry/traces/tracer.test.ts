import { describe, expect, test } from 'bun:test'
import type { RequestRecord } from '../../../contract/requests.ts'
import { type Span, SpanExporter } from '../../../lib/telemetry/span-exporter.ts'
import { newTraceId } from '../../../lib/telemetry/trace-context.ts'
import { type Sampling, Tracer } from './tracer.ts'

function newTracer(sampling: Partial<Sampling> = {}) {
  const spans: Span[] = []
  class Kept extends SpanExporter {
    override add(span: Span): void {
      spans.push(span)
    }
  }
  const settings = { url: '', headers: {}, timeoutMs: 1, resource: {}, version: '' }
  const tracer = new Tracer(new Kept(settings), { ratio: 1, followsParent: true, ...sampling })
  return { tracer, spans }
}

const parent = (sampled: boolean, traceId = 'a'.repeat(32)) => ({
  traceId,
  parentId: 'b'.repeat(16),
  sampled,
})

describe('sampling', () => {
  test('follows the caller where it should', () => {
    const { tracer } = newTracer({ ratio: 0 })
    expect(tracer.begin(parent(true)).sampled).toBe(true)
    expect(tracer.begin(parent(false)).sampled).toBe(false)
    expect(tracer.begin(undefined).sampled).toBe(false)
  })

  test('does not where it should not', () => {
    expect(newTracer({ ratio: 1, followsParent: false }).tracer.begin(parent(false)).sampled).toBe(
      true,
    )
    expect(newTracer({ ratio: 0, followsParent: false }).tracer.begin(parent(true)).sampled).toBe(
      false,
    )
  })

  test('takes about the share it was told, and the same traces every time', () => {
    const { tracer } = newTracer({ ratio: 0.25, followsParent: false })
    const ids = Array.from({ length: 4_000 }, newTraceId)
    const taken = (all: string[]) => all.map((id) => tracer.begin(parent(false, id)).sampled)
    const first = taken(ids)
    expect(taken(ids)).toEqual(first)
    const share = first.filter(Boolean).length / ids.length
    expect(share).toBeGreaterThan(0.2)
    expect(share).toBeLessThan(0.3)
  })
})

describe('a request', () => {
  const record = (trace: RequestRecord['trace']): RequestRecord => ({
    requestId: 'req_1',
    atMs: 1_000,
    accountId: 'acc',
    tokenId: 'tok',
    interface: 'messages',
    model: 'txta-plus',
    channel: 'b',
    status: 502,
    errorCode: 'upstream_error',
    chargeNanos: 0n,
    totalMs: 90,
    detail: {
      stream: true,
      ending: 'failed',
      error: 'it said: a secret',
      upstreamModel: 'up-model',
      attempts: [
        { channel: 'a', afterMs: 5, ms: 20, status: 500, error: 'it said: a secret' },
        { channel: 'b', afterMs: 30, ms: 60, error: 'it said: a secret' },
      ],
    },
    ...(trace !== undefined && { trace }),
  })

  test('has a span of its own and one for each try, with no word of anybody', () => {
    const { tracer, spans } = newTracer()
    const trace = { ...tracer.begin(parent(true)), tries: ['1'.repeat(16), '2'.repeat(16)] }
    tracer.call(record(trace))
    const [first, second, server] = spans as [Span, Span, Span]
    expect(server).toMatchObject({
      traceId: 'a'.repeat(32),
      spanId: trace.spanId,
      parentId: 'b'.repeat(16),
      kind: 'server',
      name: 'chat txta-plus',
      startMs: 1_000,
      endMs: 1_090,
      error: 'upstream_error',
    })
    expect(first).toMatchObject({ spanId: '1'.repeat(16), parentId: trace.spanId, kind: 'client' })
    expect(first).toMatchObject({ startMs: 1_005, endMs: 1_025, error: 'failed' })
    expect(first.attributes).toMatchObject({ 'gen_ai.provider.name': 'a', 'error.type': '500' })
    expect(second.attributes).toMatchObject({ 'gen_ai.request.model': 'up-model' })
    expect(JSON.stringify(spans)).not.toContain('secret')
  })

  test('that nobody wants to see has none', () => {
    const { tracer, spans } = newTracer()
    tracer.call(record(tracer.begin(parent(false))))
    tracer.call(record(undefined))
    expect(spans).toEqual([])
  })

  test('for a model that there is not keeps the name to itself', () => {
    const { tracer, spans } = newTracer()
    const made = { ...record(tracer.begin(undefined)), errorCode: 'model_not_found', status: 404 }
    tracer.call({ ...made, model: 'a-secret', detail: { ...made.detail, attempts: [] } })
    expect(JSON.stringify(spans)).not.toContain('a-secret')
    expect(spans[0]!.error).toBeUndefined()
  })
})
