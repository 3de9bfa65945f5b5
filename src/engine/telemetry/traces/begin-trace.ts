// The trace of a request: continues the caller's, or begins a new one where spans are wanted.
import type { CallTrace } from '../../../contract/requests.ts'
import { newSpanId, readTraceParent, readTraceState } from '../../../lib/telemetry/trace-context.ts'
import type { Tracer } from './tracer.ts'

interface Arrived {
  readonly request: Request
  trace?: CallTrace
}

/** An unreadable header counts as absent. */
export function beginTrace(
  { tracer }: { readonly tracer?: Tracer },
  arrived: Arrived,
  header: string | null,
): void {
  const parent = header === null ? undefined : readTraceParent(header)
  if (parent === undefined && tracer === undefined) return
  const state = parent && readTraceState(arrived.request.headers.get('tracestate'))
  const begun = tracer === undefined ? continued(parent!) : tracer.begin(parent)
  arrived.trace = state === undefined ? begun : { ...begun, state }
}

/** No tracer here: the caller's sampling decision is passed on. */
const continued = ({ traceId, parentId, sampled }: NonNullable<Parent>): CallTrace => ({
  traceId,
  spanId: newSpanId(),
  parentId,
  sampled,
  tries: [],
})

type Parent = ReturnType<typeof readTraceParent>
