// How a text provider sends calls: those of its own style as they are, and those of others translated.
import type { Stop, TextProvider, TextReply, Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { ensure } from '../../lib/ensure.ts'
import {
  embeddingStyles,
  isEmbeddingStyle,
  isStyle,
  isUpstreamStyle,
  styles,
  upstreamStyles,
} from '../../styles/index.ts'
import { usualSettings } from '../../styles/settings.ts'
import { sendOwn } from './own-seals.ts'
import { sendText } from './send.ts'
import type { TextStyle } from './style.ts'
import { sendAs } from './translate.ts'
import { sendEmbedding } from './translate-embedding.ts'

export function senderFor(style: TextStyle): TextProvider['send'] {
  const send: TextProvider['send'] = (call, upstream, stop) => sendText(style, call, upstream, stop)
  const { protocol: to } = style
  const forward: TextProvider['send'] = (call, upstream, stop) => {
    const marked = upstream.autoCache ? marksFor(style, call, upstream) : undefined
    return marked === undefined
      ? send(call, upstream, stop)
      : sendMarked(send, { ...call, body: marked.body }, upstream, stop, marked.marks)
  }
  return (call, upstream, stop) => {
    const { translating } = upstream
    if (translating === undefined) {
      return isStyle(to)
        ? sendOwn(styles[to], forward, call, upstream, stop)
        : send(call, upstream, stop)
    }
    const { interface: from } = call
    const given = { call, upstream, translating }
    if (from === 'embeddings' || call.makes === 'embedding') {
      ensure(isEmbeddingStyle(from) && isEmbeddingStyle(to), `${from} embeds at ${to}`)
      return sendEmbedding(embeddingStyles[from], embeddingStyles[to], send, given, stop)
    }
    ensure(isStyle(from) && isUpstreamStyle(to), `${from} can be translated into ${to}`)
    return sendAs(styles[from], upstreamStyles[to], send, given, stop)
  }
}

/** For upstreams that read them. */
function marksFor(style: TextStyle, call: TextCall, { cacheControl }: Upstream) {
  const { protocol, withCacheMarks } = style
  if (!isStyle(protocol)) return undefined
  return (cacheControl ?? usualSettings[protocol].cacheControl) ? withCacheMarks?.(call) : undefined
}

async function sendMarked(
  send: TextProvider['send'],
  call: TextCall,
  upstream: Upstream,
  stop: Stop,
  cacheMarks: number,
): Promise<TextReply> {
  const reply = await send(call, upstream, stop)
  return reply.kind === 'failed' ? reply : { ...reply, cacheMarks }
}
