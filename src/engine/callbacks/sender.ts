// Delivers the callbacks of ended tasks.
import { guardedPost } from '../../lib/net/guarded-post.ts'
import { type Callback, callbackQueue } from '../../store/tasks/callbacks.ts'
import type { Meters } from '../telemetry/metrics/meters.ts'
import { type DeliverDeps, deliver, type Outbox, type Post } from './deliver.ts'
import { DeliverySender } from './delivery-sender.ts'

type CallbackDeps = DeliverDeps & { readonly random: () => number; readonly meters?: Meters }

interface CallbackOptions extends Pick<Outbox, 'noticeFor'> {
  post?: Post
  drainMs?: number
}

export class CallbackSender extends DeliverySender<Callback> {
  constructor(
    deps: CallbackDeps,
    owner: string,
    { drainMs, noticeFor, post = guardedPost as Post }: CallbackOptions,
  ) {
    const { meters } = deps
    super(deps, owner, {
      noun: 'callback',
      queue: callbackQueue,
      deliver: (callback, signal) => deliver(deps, callback, { noticeFor, post }, signal),
      begun: (lateMs) => meters?.callbackLag.note(lateMs / 1000),
      attempted: (outcome) => meters?.callbackAttempt(outcome),
      fieldsOf: ({ id, taskId }) => ({ task_id: taskId, callback_id: id }),
      ...(drainMs !== undefined && { drainMs }),
    })
  }
}
