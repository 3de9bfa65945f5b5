// A task as a response object of this interface. Once there is an answer, that is the response.
import type { KeptResponse } from '../../contract/caller-api.ts'
import { isEnd, type ResponseTask, type TaskState } from '../../contract/task.ts'
import type { AnswerHeaders } from '../../http/request-context.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { echoOf } from '../../styles/responses/echo.ts'

const statuses: Readonly<Record<TaskState, string>> = {
  accepted: 'queued',
  unknown: 'queued',
  queued: 'queued',
  running: 'in_progress',
  succeeded: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
}

const pollSeconds = 2

export const bodyOf = ({ task, answer }: KeptResponse): string =>
  answer ?? JSON.stringify(viewOf(task))

function viewOf(task: ResponseTask): Record<string, unknown> {
  const { id, model, request, state, createdAtMs } = task
  return {
    id,
    object: 'response',
    created_at: Math.floor(createdAtMs / 1_000),
    status: statuses[state],
    completed_at: null,
    error: errorOf(task),
    incomplete_details: null,
    model,
    output: [],
    usage: null,
    ...echoOf(request.settings),
    background: true,
    store: true,
  }
}

function errorOf({ state, error }: ResponseTask): { code: string; message: string } | null {
  if (state !== 'failed') return null
  return error === undefined
    ? { code: 'upstream_error', message: 'the response could not be made' }
    : { code: error.code, message: error.message }
}

/** What it cost once it is charged; until it has ended, how long to wait before the next poll. */
export function headersOf({ task, answer }: KeptResponse, currency: string): AnswerHeaders {
  const { state, chargeNanos, servedModel } = task
  const served = servedModel !== undefined && { 'x-gateway-served-model': servedModel }
  if (answer !== undefined) {
    return {
      'x-gateway-charge': formatNanos(chargeNanos),
      'x-gateway-currency': currency,
      ...served,
    }
  }
  if (isEnd(state)) return { ...served }
  return {
    'retry-after': String(pollSeconds),
    'openai-poll-after-ms': String(pollSeconds * 1_000),
    ...served,
  }
}
