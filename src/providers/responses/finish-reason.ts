// Why a response ended: its status, what made it incomplete, or the calls that it ended with.
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from '../text/style.ts'

const calls: ReadonlySet<unknown> = new Set(['function_call', 'custom_tool_call'])

const isCall = (item: unknown): boolean => isObject(item) && calls.has(item['type'])

export function finishReasonOf({ status, incomplete_details: details, output }: Json): unknown {
  const reason = isObject(details) ? details['reason'] : undefined
  if (reason != null) return reason
  if (status !== 'completed' && status !== undefined) return status
  return Array.isArray(output) && output.some(isCall) ? 'tool_calls' : 'completed'
}
