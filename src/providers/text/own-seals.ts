// Calls in the caller's own style, which go upstream as they came: only seals of reasoning that the
// upstream did not make are taken out first.
import type { Stop, TextProvider, TextReply, Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import { type IsForeign, isEnvelope } from '../../styles/common/envelope.ts'
import { parseExact } from '../../styles/common/exact-json.ts'
import type { Style } from '../../styles/common/style.ts'
import { notStrict } from '../../styles/common/translate-request.ts'
import { refused } from './translate.ts'

type Send = TextProvider['send']

const isOurs: IsForeign = (seal) => typeof seal === 'string' && isEnvelope(seal)
/** Reasoning without a seal, too. */
const isAny: IsForeign = () => true

export function sendOwn(
  style: Style,
  send: Send,
  call: TextCall,
  upstream: Upstream,
  stop: Stop,
): Promise<TextReply> {
  const { withoutSeals, strict } = upstream
  const isForeign = withoutSeals ? isAny : isOurs
  if (style.stripSeals(call.fields, isForeign) === call.fields) return send(call, upstream, stop)
  if (strict) return Promise.resolve(refused(notStrict(style.sealField)))
  return sendStripped(style, send, [call, upstream, stop], isForeign)
}

/** For a question about the call; the same call if it has none. */
export const withoutEnvelopes = (style: Style, call: TextCall): TextCall =>
  style.stripSeals(call.fields, isOurs) === call.fields ? call : strip(style, call, isOurs)

async function sendStripped(
  style: Style,
  send: Send,
  [call, ...where]: Parameters<Send>,
  isForeign: IsForeign,
): Promise<TextReply> {
  const stripped = strip(style, call, isForeign)
  const settings = Object.keys(call.fields).filter((name) => !Object.hasOwn(stripped.fields, name))
  const reply = await send(stripped, ...where)
  return reply.kind === 'failed' ? reply : { ...reply, losses: [style.sealField, ...settings] }
}

function strip(style: Style, call: TextCall, isForeign: IsForeign): TextCall {
  const exact = parseExact(call.body)
  const fields = style.stripSeals(isObject(exact) ? exact : call.fields, isForeign)
  return { ...call, fields, body: JSON.stringify(fields) }
}
