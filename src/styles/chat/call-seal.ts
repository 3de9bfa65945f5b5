// Where chat clients and upstreams keep the seal of a call.
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from '../common/conversation.ts'

export function signatureOf({ extra_content: extra }: Json): string | undefined {
  const vendor = isObject(extra) ? extra['google'] : undefined
  const signature = isObject(vendor) ? vendor['thought_signature'] : undefined
  return typeof signature === 'string' && signature !== '' ? signature : undefined
}

export const extraContent = (signature: string): Json => ({
  extra_content: { google: { thought_signature: signature } },
})
