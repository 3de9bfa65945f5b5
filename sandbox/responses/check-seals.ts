// Reasoning that comes back must be as it was given out: sealed here, under its id, before its call.
import { asList, asObject, asText, type Json } from '../http/fields.ts'
import type { Fault } from '../protocol.ts'
import type { Seals } from '../text/seals.ts'

const calls = ['function_call', 'custom_tool_call']

export function sealFault(fields: Json, seals: Seals): Fault | undefined {
  const items = asList(fields['input']).map(asObject)
  for (const [index, item] of items.entries()) {
    const { type, encrypted_content: seal } = item
    if (type !== 'reasoning' || seal == null) continue
    const claims = seals.open(seal)
    const problem =
      claims === undefined
        ? `The encrypted content ${asText(seal).slice(0, 12)}... could not be verified. Reason: Encrypted content could not be decrypted or parsed.`
        : problemOf(item, items.slice(index + 1), claims)
    if (problem === undefined) continue
    const code = 'invalid_encrypted_content'
    return { status: 400, message: problem, param: `input[${index}]`, code }
  }
  return undefined
}

/** An item may come without its id, but not with another one. */
function problemOf({ id }: Json, after: readonly Json[], claims: Json): string | undefined {
  if (id != null && id !== claims['item']) {
    return 'The encrypted content could not be verified: encrypted content item_id did not match the target item id.'
  }
  const [next] = after
  const followed = next !== undefined && next['role'] !== 'user'
  if (!followed) {
    return `Item '${claims['item']}' of type 'reasoning' was provided without its required following item.`
  }
  const call = after.find(({ type }) => type === 'reasoning' || calls.includes(asText(type)))
  const callId = call !== undefined && call['type'] !== 'reasoning' ? call['call_id'] : ''
  if (claims['call'] === '' || claims['call'] === callId) return undefined
  return 'The encrypted content could not be verified: it was made for another call.'
}
