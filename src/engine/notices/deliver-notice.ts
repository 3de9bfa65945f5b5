// One attempt to deliver a notice: signed and posted under the rules of callbacks, or sent as e-mail.
import { crashPoint } from '../../lib/crash-point.ts'
import type { EgressRules } from '../../lib/net/address-guard.ts'
import { findNotice, type Notice, type NoticeDelivery } from '../../store/deliveries/notices.ts'
import type { Attempt } from '../../store/deliveries/queue.ts'
import { findWebhook } from '../../store/deliveries/webhooks.ts'
import type { BaseDeps, Seals } from '../base-deps.ts'
import { type Post, postSigned } from '../callbacks/deliver.ts'

export type NoticeDeps = BaseDeps & Seals & EgressRules & { readonly mailer?: Mailer }

/** Sends e-mail. */
export interface Mailer {
  /** The status of the server's answer, or why there was none. */
  send(mail: Mail): Promise<{ status: number } | { status?: number; problem: string }>
}

interface Mail {
  /** The same for every attempt. */
  id: string
  to: string
  subject: string
  text: string
}

export async function deliverNotice(
  deps: NoticeDeps,
  { noticeId, webhookId, url }: NoticeDelivery,
  post: Post,
  signal: AbortSignal,
): Promise<Attempt> {
  const { store, seal, clock } = deps
  const [notice, webhook] = await Promise.all([
    findNotice(store.read, noticeId),
    findWebhook(store.read, webhookId),
  ])
  const nothing = { atMs: clock.nowMs(), tookMs: 0, error: 'there is nothing to tell' }
  if (notice === undefined || webhook === undefined) return nothing
  crashPoint('notice-due')
  const attempt = url.startsWith('mailto:')
    ? await sendMail(deps, notice, url.slice('mailto:'.length))
    : await postSigned(
        deps,
        post,
        {
          ...{ id: notice.id, url, body: bodyOf(notice) },
          secrets: seal.decrypt(webhook.secretCiphertext ?? '', webhook.id),
        },
        signal,
      )
  crashPoint('notice-sent')
  return attempt
}

const bodyOf = ({ id, type, atMs, data }: Notice): string =>
  JSON.stringify({ id, type, at: new Date(atMs).toISOString(), data })

async function sendMail({ clock, mailer }: NoticeDeps, notice: Notice, to: string) {
  const atMs = clock.nowMs()
  if (mailer === undefined) return { atMs, tookMs: 0, error: 'GATEWAY_SMTP_URL is not set' }
  const began = performance.now()
  const sent = await mailer.send({
    ...{ id: notice.id, to },
    subject: `[model-gateway] ${notice.type}${aboutOf(notice.data)}`,
    text: textOf(notice),
  })
  const took = { atMs, tookMs: Math.round(performance.now() - began) }
  const { status } = sent
  return {
    ...took,
    ...(status !== undefined && { status }),
    ...('problem' in sent && { error: sent.problem }),
  }
}

/** Names in the subject, so that a list of mails can be read. */
const aboutOf = (data: object): string => {
  const { account, channel, model } = data as Partial<Record<string, unknown>>
  const [about] = [account, channel, model].filter((each) => typeof each === 'string')
  return about === undefined ? '' : `: ${about}`
}

const textOf = (notice: Notice): string =>
  [
    ...Object.entries(notice.data).map(
      ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    ),
    '',
    `type: ${notice.type}`,
    `at: ${new Date(notice.atMs).toISOString()}`,
    `id: ${notice.id}`,
    '',
  ].join('\n')
