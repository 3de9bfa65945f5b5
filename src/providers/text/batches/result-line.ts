// What a line of the results of an upstream's batch says, in the forms that there are.
import type { BatchResult } from '../../../contract/batches/upstream.ts'
import { isObject } from '../../../lib/json/parse.ts'
import { spansIn } from '../../../lib/json/spans.ts'

type Answered = Extract<BatchResult, { status: number }>

/** With its body as a text. */
type TextResult = Exclude<BatchResult, Answered> | (Omit<Answered, 'body'> & { body: string })

/** Undefined: no line of ours. */
function fileResult(text: string): TextResult | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(value) || typeof value['custom_id'] !== 'string') return undefined
  const { custom_id: id, response, error } = value
  const status = isObject(response) ? response['status_code'] : undefined
  if (isObject(response) && typeof status === 'number' && response['body'] != null) {
    const { request_id: requestId } = response
    return {
      ...{ id, status, body: bodyIn(text) },
      ...(typeof requestId === 'string' && { upstreamRequestId: requestId }),
    }
  }
  const { code, message } = isObject(error) ? error : {}
  const unrun =
    code === 'batch_expired' ? 'expired' : code === 'batch_cancelled' ? 'cancelled' : 'failed'
  return { id, unrun, message: typeof message === 'string' ? message : '' }
}

/** As it stands there. */
function bodyIn(text: string): string {
  const within = (start: number, name: string) =>
    spansIn(text, start).findLast(({ key }) => key === name)!
  const { start, end } = within(within(text.indexOf('{'), 'response').start, 'body')
  return text.slice(start, end)
}

const unrunTypes: Readonly<Record<string, 'expired' | 'cancelled'>> = {
  expired: 'expired',
  canceled: 'cancelled',
}

/** Undefined: no result. */
function messagesResult(text: string): TextResult | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(value) || typeof value['custom_id'] !== 'string') return undefined
  const { custom_id: id, result } = value
  if (!isObject(result)) return undefined
  const { type, message, error } = result
  if (type === 'succeeded' && isObject(message)) {
    const within = (start: number, name: string) =>
      spansIn(text, start).findLast(({ key }) => key === name)!
    const { start, end } = within(within(text.indexOf('{'), 'result').start, 'message')
    return { id, status: 200, body: text.slice(start, end) }
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
