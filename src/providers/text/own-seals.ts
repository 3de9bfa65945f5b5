// Calls in the caller's own style, which go upstream as they came: only seals of reasoning that the
// upstream did not make are taken out first, and all of them if it refuses them.
import type { TextProvider, TextReply } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import { type IsForeign, isEnvelope } from '../../styles/common/envelope.ts'
import { parseExact } from '../../styles/common/exact-json.ts'
import type { Style } from '../../styles/common/style.ts'

type Send = TextProvider['send']

const isSeal: IsForeign = (seal) => typeof seal === 'string' && seal !== ''

export function sendOwn(style: Style, send: Send, sent: Parameters<Send>): Promise<TextReply> {
  const [{ fields }, { isOtherMaker = false }] = sent
  let hasSeals = false
  const isForeign: IsForeign = (seal) => {
    if (!isSeal(seal)) return false
    hasSeals = true
    return isOtherMaker || isEnvelope(seal as string)
  }
  const isChanged = style.stripSeals(fields, isForeign) !== fields
  return hasSeals ? sendSealed(style, send, sent, isChanged ? isForeign : undefined) : send(...sent)
}

async function sendSealed(
  style: Style,
  send: Send,
  [call, ...where]: Parameters<Send>,
  isForeign: IsForeign | undefined,
): Promise<TextReply> {
  const first = isForeign === undefined ? call : stripped(style, call, isForeign)
  const reply = await send(first, ...where)
  if (isBadSeal(reply)) return marked(style, await send(stripped(style, call, isSeal), ...where))
  return first === call ? reply : marked(style, reply)
}

function stripped(style: Style, call: TextCall, isForeign: IsForeign): TextCall {
  const exact = parseExact(call.body)
  const fields = style.stripSeals(isObject(exact) ? exact : call.fields, isForeign)
  return { ...call, fields, body: JSON.stringify(fields) }
}

const marked = (style: Style, reply: TextReply): TextReply =>
  reply.kind === 'failed' ? reply : { ...reply, losses: [style.sealField] }

const badSeal =
  /(?:invalid|corrupted)[^.]{0,40}signature|signature[^.]{0,40}(?:invalid|not valid)|encrypted[ _]content[^.]{0,60}(?:could not be|not be verified|invalid)|invalid_encrypted_content/i

/** It refused the request because of a seal that it does not recognise. */
export const isBadSeal = (reply: TextReply): boolean =>
  reply.kind === 'failed' &&
  reply.error.code === 'upstream_invalid_request' &&
  badSeal.test(reply.error.message)
