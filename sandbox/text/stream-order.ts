// The order of what a stream hands over: function calls one after the other or alternating, and signs
// of life between events. Knows no wire.
import type { Directives } from '../http/directives.ts'
import type { StreamEvent } from '../protocol.ts'
import type { FunctionCall } from './plan-reply.ts'

export type CallStep =
  | { step: 'open' | 'close'; at: number; call: FunctionCall }
  | { step: 'token'; at: number; call: FunctionCall; token: string }

/** Each call opens, hands over its input token by token, and closes. */
export function* orderCalls(
  calls: readonly FunctionCall[],
  { interleaved }: Directives,
): Generator<CallStep> {
  const runs = calls.map((call, at) => callSteps(call, at))
  if (!interleaved) for (const run of runs) yield* run
  // One step of each in turn, until none is left.
  let open = interleaved ? runs : []
  while (open.length > 0) {
    const steps = open.map((run) => ({ run, next: run.next() }))
    open = steps.filter(({ next }) => !next.done).map(({ run }) => run)
    for (const { next } of steps) if (!next.done) yield next.value
  }
}

function* callSteps(call: FunctionCall, at: number): Generator<CallStep> {
  yield { step: 'open', at, call }
  for (const token of call.tokens) yield { step: 'token', at, call, token }
  yield { step: 'close', at, call }
}

export function* withKeepAlives(
  events: Iterable<StreamEvent>,
  wire: string,
  every: number,
): Generator<StreamEvent> {
  let position = 0
  for (const event of events) {
    if (position > 0 && position % every === 0) yield { wire, outputTokens: 0 }
    position++
    yield event
  }
}
