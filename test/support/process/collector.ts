// A collector of spans for tests: takes OTLP over HTTP and keeps what came; can be told to hang.

export interface WireSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  status: { code?: number; message?: string }
  attributes: { key: string; value: Record<string, unknown> }[]
}

export interface Collector {
  url: string
  spans: WireSpan[]
  /** Everything that came, as it came. */
  text(): string
  headers: Headers[]
  /** Whether it answers. */
  hangs: boolean
  stop(): Promise<void>
}

export function startCollector(): Collector {
  const texts: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    development: false,
    async fetch(request) {
      const text = await request.text()
      texts.push(text)
      collector.headers.push(request.headers)
      if (collector.hangs) await new Promise(() => {})
      for (const { scopeSpans } of JSON.parse(text).resourceSpans) {
        for (const { spans } of scopeSpans) collector.spans.push(...spans)
      }
      return Response.json({})
    },
  })
  const collector: Collector = {
    url: `http://127.0.0.1:${server.port}`,
    spans: [],
    text: () => texts.join('\n'),
    headers: [],
    hangs: false,
    stop: () => server.stop(true),
  }
  return collector
}

export const attributesOf = ({ attributes }: WireSpan): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
