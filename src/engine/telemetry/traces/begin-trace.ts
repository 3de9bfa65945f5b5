// The trace a request belongs to: the caller's, which is continued, or a new one where spans are wanted.
import type { CallTrace } from '../../../contract/requests.ts'
import { newSpanId, readTraceParent, readTraceState } from '../../../lib/telemetry/trace-context.ts'
import type { Engine } from '../../engine.ts'

interface Arrived {
  readonly request: Request
  trace?: CallTrace
}

/** What cannot be read is as if it had not come. */
export function beginTrace({ tracer }: Engine, arrived: Arrived, header: string | null): void {
  const parent = header === null ? undefined : readTraceParent(header)
  if (parent === undefined && tracer === undefined) return
  const state = parent && readTraceState(arrived.request.headers.get('tracestate'))
  const begun = tracer === undefined ? continued(parent!) : tracer.begin(parent)
  arrived.trace = state === undefined ? begun : { ...begun, state }
}

/** Nobody here makes spans: the caller's choice goes on as it is. */
const continued = ({ traceId, parentId, sampled }: NonNullable<Parent>): CallTrace => ({
  traceId,
  spanId: newSpanId(),
  parentId,
  sampled,
  tries: [],
})

type Parent = ReturnType<typeof readTraceParent>
