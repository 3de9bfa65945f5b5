// HTTP client for a call with a trace: every request carries the trace context with its own span.
import type { Channel } from '../../../contract/catalog.ts'
import type { HttpPort } from '../../../contract/http.ts'
import type { CallTrace } from '../../../contract/requests.ts'
import type { Task } from '../../../contract/task.ts'
import {
  newSpanId,
  readTraceParent,
  writeTraceParent,
} from '../../../lib/telemetry/trace-context.ts'

type TaskTrace = NonNullable<Task['trace']>
type Headers = Readonly<Record<string, string>>

/** One try of a call at a channel, which may have trace headers turned off. */
export function clientFor(http: HttpPort, trace: CallTrace, channel: Channel): HttpPort {
  const spanId = newSpanId()
  trace.tries.push(spanId)
  if (channel.trace === false) return http
  return withTrace(http, writeTraceParent(trace.traceId, spanId, trace.sampled), trace.state)
}

/** The trace context that a task keeps of its create: its spans are children of that request's. */
export const taskTrace = ({ traceId, spanId, sampled, state }: CallTrace): TaskTrace => ({
  parent: writeTraceParent(traceId, spanId, sampled),
  ...(state !== undefined && { state }),
})

/** One poll of a task. */
export function clientForTask(
  http: HttpPort,
  { parent, state }: TaskTrace,
  channel: Channel,
): HttpPort {
  const read = channel.trace === false ? undefined : readTraceParent(parent)
  if (read === undefined) return http
  return withTrace(http, writeTraceParent(read.traceId, newSpanId(), read.sampled), state)
}

function withTrace(http: HttpPort, traceparent: string, state: string | undefined): HttpPort {
  const traced = (headers: Headers): Headers => ({
    ...headers,
    traceparent,
    ...(state !== undefined && { tracestate: state }),
  })
  return {
    post: (url, headers, body, limits) => http.post(url, traced(headers), body, limits),
    get: (url, headers, limits) => http.get(url, traced(headers), limits),
    delete: (url, headers, limits) => http.delete(url, traced(headers), limits),
  }
}
