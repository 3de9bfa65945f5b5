// Spans sent to a collector that works, is away, or does not answer. Adding one never blocks.
import { describe, expect, test } from 'bun:test'
import { type Span, SpanExporter } from './span-exporter.ts'

const span = (name: string): Span => ({
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  parentId: 'c'.repeat(16),
  name,
  kind: 'server',
  startMs: 1_700_000_000_123,
  endMs: 1_700_000_000_456,
  attributes: { text: 'x', count: 3, share: 0.5, yes: true, absent: undefined },
})

interface Sent {
  url: string
  headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: the wire form, looked into
  body: any
}

function newExporter(answer: () => Promise<Response>, limits = {}) {
  const sent: Sent[] = []
  const complaints: string[] = []
  const exporter = new SpanExporter({
    url: 'http://collector/v1/traces',
    headers: { authorization: 'Bearer x' },
    timeoutMs: 50,
    resource: { 'service.name': 'gw' },
    version: '1.2.3',
    limits: { everyMs: 5, ...limits },
    failed: (reason) => complaints.push(reason),
    post: (url, init) => {
      const headers = init.headers as Record<string, string>
      sent.push({ url, headers, body: JSON.parse(init.body as string) })
      const aborted = new Promise<Response>((_, reject) => {
        init.signal?.addEventListener('abort', () => reject(new Error('it took too long')))
      })
      return Promise.race([answer(), aborted])
    },
  })
  return { exporter, sent, complaints }
}

const well = async () => new Response('{}')

describe('spans', () => {
  test('leave together, in the wire form of OTLP', async () => {
    const { exporter, sent } = newExporter(well)
    exporter.add(span('first'))
    exporter.add({ ...span('second'), error: 'upstream_error' })
    await exporter.close()
    expect(sent).toHaveLength(1)
    const [{ headers, body }] = sent as [Sent]
    expect(headers).toEqual({ authorization: 'Bearer x', 'content-type': 'application/json' })
    const [{ resource, scopeSpans }] = body.resourceSpans
    expect(resource.attributes).toEqual([{ key: 'service.name', value: { stringValue: 'gw' } }])
    expect(scopeSpans[0].scope).toEqual({ name: 'model-gateway', version: '1.2.3' })
    const [first, second] = scopeSpans[0].spans
    expect(first).toEqual({
      traceId: 'a'.repeat(32),
      spanId: 'b'.repeat(16),
      parentSpanId: 'c'.repeat(16),
      name: 'first',
      kind: 2,
      startTimeUnixNano: '1700000000123000000',
      endTimeUnixNano: '1700000000456000000',
      attributes: [
        { key: 'text', value: { stringValue: 'x' } },
        { key: 'count', value: { intValue: '3' } },
        { key: 'share', value: { doubleValue: 0.5 } },
        { key: 'yes', value: { boolValue: true } },
      ],
      status: {},
    })
    expect(second.status).toEqual({ code: 2, message: 'upstream_error' })
    expect(exporter.spans).toEqual({ sent: 2, dropped: 0, failed: 0 })
  })

  test('of which too many wait are dropped and counted', async () => {
    const { exporter } = newExporter(() => new Promise(() => {}), { queue: 4, batch: 2 })
    for (let i = 0; i < 10; i++) exporter.add(span(String(i)))
    // Two are on their way, four wait.
    expect(exporter.spans.dropped).toBe(4)
    await exporter.close()
    expect(exporter.spans).toMatchObject({ sent: 0, failed: 4 })
  })

  test('that a collector refuses are lost, which is told once', async () => {
    const { exporter, complaints } = newExporter(async () => new Response('', { status: 503 }))
    exporter.add(span('a'))
    await exporter.close()
    exporter.add(span('b'))
    await exporter.close()
    expect(exporter.spans).toEqual({ sent: 0, dropped: 0, failed: 2 })
    expect(complaints).toEqual(['the collector answered with 503'])
  })

  test('that a collector does not answer for are given up after a time', async () => {
    const { exporter, complaints } = newExporter(() => new Promise(() => {}))
    exporter.add(span('a'))
    await exporter.close()
    expect(exporter.spans.failed).toBe(1)
    expect(complaints).toEqual(['it took too long'])
  })

  test('that come while others are under way follow them', async () => {
    const { exporter, sent } = newExporter(well, { batch: 1 })
    exporter.add(span('a'))
    exporter.add(span('b'))
    exporter.add(span('c'))
    while (exporter.spans.sent < 3) await Bun.sleep(1)
    expect(sent).toHaveLength(3)
  })
})
