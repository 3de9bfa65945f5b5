// The maximum cost of a call in words, for refusals: where it comes from, and the field that lowers it.
import type { Interface } from '../../contract/catalog.ts'
import type { TextCall } from '../../contract/requests.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import type { TextBounds } from './text-bounds.ts'

/** A call and the most that it can use. */
export interface Sized {
  call: Pick<TextCall, 'interface' | 'maxOutputTokens' | 'quantity'>
  bounds: TextBounds
}

const boundFields: Readonly<Partial<Record<Interface, string>>> = {
  chat: 'max_tokens',
  responses: 'max_output_tokens',
  messages: 'max_tokens',
  generate: 'generationConfig.maxOutputTokens',
}

/** Without a size, as of tasks, only the amount. */
export function costText(nanos: bigint, sized?: Sized): string {
  const amount = formatNanos(nanos)
  if (sized === undefined || sized.call.quantity !== undefined) return amount
  const { call, bounds } = sized
  const field = call.maxOutputTokens === undefined ? boundFields[call.interface] : undefined
  const hint = field === undefined ? '' : `; set '${field}' to need less`
  return `${amount} (up to ${bounds.inputTokens} input and ${bounds.outputTokens} output tokens)${hint}`
}
