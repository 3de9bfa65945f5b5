// One attempt to deliver a notice: posted under the rules of callbacks, signed or as a message of a chat tool,
// or sent as e-mail.
import { crashPoint } from '../../lib/crash-point.ts'
import type { EgressRules } from '../../lib/net/address-guard.ts'
import type { Mailer } from '../../lib/net/mailer.ts'
import { findNotice, type Notice, type NoticeDelivery } from '../../store/deliveries/notices.ts'
import type { Attempt } from '../../store/deliveries/queue.ts'
import { findWebhook, type Webhook } from '../../store/deliveries/webhooks.ts'
import type { BaseDeps, Seals } from '../base-deps.ts'
import { type Post, postMessage, postSigned } from '../callbacks/deliver.ts'
import { chatMessage } from './chat-message.ts'
import { mailOf, noticeBody } from './notice-text.ts'

export type NoticeDeps = BaseDeps &
  Seals &
  EgressRules & { readonly mailer?: Mailer; readonly missingForMail: readonly string[] }

export async function deliverNotice(
  deps: NoticeDeps,
  { noticeId, webhookId, url }: NoticeDelivery,
  post: Post,
  signal: AbortSignal,
): Promise<Attempt> {
  const { store, clock } = deps
  const [notice, webhook] = await Promise.all([
    findNotice(store.read, noticeId),
    findWebhook(store.read, webhookId),
  ])
  const nothing = { atMs: clock.nowMs(), tookMs: 0, error: 'there is nothing to tell' }
  if (notice === undefined || webhook === undefined) return nothing
  crashPoint('notice-due')
  const attempt = url.startsWith('mailto:')
    ? await sendMail(deps, notice, url.slice('mailto:'.length), signal)
    : await postNotice(deps, notice, { webhook, url }, post, signal)
  crashPoint('notice-sent')
  return attempt
}

function postNotice(
  deps: NoticeDeps,
  notice: Notice,
  { webhook, url }: { webhook: Webhook; url: string },
  post: Post,
  signal: AbortSignal,
): Promise<Attempt> {
  const { id, format = 'json', secretCiphertext: sealed } = webhook
  const secrets = sealed === undefined ? undefined : deps.seal.decrypt(sealed, id)
  if (format === 'json') {
    const message = { id: notice.id, url, body: noticeBody(notice), secrets: secrets ?? '' }
    return postSigned(deps, post, message, signal)
  }
  const atMs = deps.clock.nowMs()
  return postMessage(
    deps,
    post,
    chatMessage(format, notice, { url, secret: secrets, atMs }),
    signal,
  )
}

async function sendMail(
  { clock, mailer, missingForMail }: NoticeDeps,
  notice: Notice,
  to: string,
  signal: AbortSignal,
): Promise<Attempt> {
  const atMs = clock.nowMs()
  if (mailer === undefined) {
    return { atMs, tookMs: 0, error: `${missingForMail.join(' and ')} not set` }
  }
  const began = performance.now()
  const mail = { id: notice.id, to, atMs: notice.atMs, ...mailOf(notice) }
  const { problem, ...sent } = await mailer.send(mail, signal)
  const tookMs = Math.round(performance.now() - began)
  return { atMs, tookMs, ...sent, ...(problem !== undefined && { error: problem }) }
}
