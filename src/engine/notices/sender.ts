// Delivers notices to their subscriptions.
import { guardedPost } from '../../lib/net/guarded-post.ts'
import { type NoticeDelivery, noticeQueue } from '../../store/deliveries/notices.ts'
import type { Post } from '../callbacks/deliver.ts'
import { DeliverySender } from '../callbacks/delivery-sender.ts'
import { deliverNotice, type NoticeDeps } from './deliver-notice.ts'

interface NoticeSenderDeps extends NoticeDeps {
  readonly random: () => number
  readonly subscriptions: { readonly exist: boolean }
}

export class NoticeSender extends DeliverySender<NoticeDelivery> {
  constructor(deps: NoticeSenderDeps, owner: string, post: Post = guardedPost as Post) {
    super(deps, owner, {
      noun: 'notice',
      queue: noticeQueue,
      deliver: (delivery, signal) => deliverNotice(deps, delivery, post, signal),
      isNeeded: () => deps.subscriptions.exist,
      fieldsOf: ({ noticeId, webhookId }) => ({ notice_id: noticeId, webhook_id: webhookId }),
    })
  }
}
