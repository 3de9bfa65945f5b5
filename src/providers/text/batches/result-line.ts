// What a line of the results of an upstream's batch says, in the forms that there are.
import type { BatchResult } from '../../../contract/batches/upstream.ts'
import { isObject } from '../../../lib/json/parse.ts'
import { spansIn } from '../../../lib/json/spans.ts'

type Answered = Extract<BatchResult, { status: number }>

/** With its body as a text. */
type TextResult = Exclude<BatchResult, Answered> | (Omit<Answered, 'body'> & { body: string })

/** Of a call that we have named; undefined: no such line. */
function lineIn(text: string): (Readonly<Record<string, unknown>> & { id: string }) | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(value) || typeof value['custom_id'] !== 'string') return undefined
  return { ...value, id: value['custom_id'] }
}

/** Undefined: no line of ours. */
function fileResult(text: string): TextResult | undefined {
  const line = lineIn(text)
  if (line === undefined) return undefined
  const { id, response, error } = line
  const status = isObject(response) ? response['status_code'] : undefined
  if (isObject(response) && typeof status === 'number' && response['body'] != null) {
    const { request_id: requestId } = response
    return {
      ...{ id, status, body: valueIn(text, 'response', 'body') },
      ...(typeof requestId === 'string' && { upstreamRequestId: requestId }),
    }
  }
  const { code, message } = isObject(error) ? error : {}
  const unrun =
    code === 'batch_expired' ? 'expired' : code === 'batch_cancelled' ? 'cancelled' : 'failed'
  return { id, unrun, message: typeof message === 'string' ? message : '' }
}

/** As it stands there. */
function valueIn(text: string, holder: string, name: string): string {
  const within = (start: number, name: string) =>
    spansIn(text, start).findLast(({ key }) => key === name)!
  const { start, end } = within(within(text.indexOf('{'), holder).start, name)
  return text.slice(start, end)
}

const unrunTypes: Readonly<Record<string, 'expired' | 'cancelled'>> = {
  expired: 'expired',
  canceled: 'cancelled',
}

/** Undefined: no result. */
function messagesResult(text: string): TextResult | undefined {
  const line = lineIn(text)
  const result = line?.['result']
  if (line === undefined || !isObject(result)) return undefined
  const { id } = line
  const { type, message, error } = result
  if (type === 'succeeded' && isObject(message)) {
    return { id, status: 200, body: valueIn(text, 'result', 'message') }
  }
  const unrun = unrunTypes[String(type)]
  if (unrun !== undefined) return { id, unrun, message: '' }
  return { id, status: statusOf(error), body: JSON.stringify(error ?? {}) }
}

/** What its call would have been answered with. */
function statusOf(error: unknown): number {
  const inner = isObject(error) && isObject(error['error']) ? error['error'] : error
  return isObject(inner) && inner['type'] === 'invalid_request_error' ? 400 : 500
}

/** Undefined: no result of ours. */
export const resultReaders = { file: fileResult, messages: messagesResult } as const

export type ResultForm = keyof typeof resultReaders
