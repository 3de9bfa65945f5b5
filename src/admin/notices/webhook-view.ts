// Subscriptions and deliveries as the admin API shows them. No secret is in either.
import type { ErrorRateRule } from '../../contract/notices/webhooks.ts'
import type { DeliveryStory } from '../../store/deliveries/notices.ts'
import type { Webhook } from '../../store/deliveries/webhooks.ts'
import { time } from '../answers.ts'
import type { View } from '../route.ts'
import type { delivery, webhook } from './webhook-schema.ts'

const mailto = 'mailto:'

export function view(each: Webhook): View<typeof webhook> {
  const { id, address, format = 'json', events, rules, disabled, source, createdAtMs } = each
  const isMail = address.startsWith(mailto)
  return {
    id,
    url: isMail ? null : address,
    email: isMail ? address.slice(mailto.length) : null,
    format: isMail ? null : format,
    events,
    rules: rules.map(ruleView),
    disabled,
    source,
    created_at: time(createdAtMs),
  }
}

const ruleView = ({ overMs, ...rule }: ErrorRateRule) => ({ ...rule, over: spanOf(overMs) })

/** In the largest unit that fits. */
function spanOf(ms: number): string {
  if (ms % 60_000 !== 0) return `${ms / 1_000}s`
  return ms % 3_600_000 === 0 ? `${ms / 3_600_000}h` : `${ms / 60_000}m`
}

const stateWords = { waiting: 'pending', delivered: 'delivered', exhausted: 'failed' } as const

export const deliveryView = (story: DeliveryStory): View<typeof delivery> => ({
  id: story.notice.id,
  type: story.notice.type,
  at: time(story.notice.atMs),
  state: stateWords[story.state],
  next_at: story.state === 'waiting' ? time(story.nextAtMs) : null,
  attempts: story.attempts.map(({ atMs, tookMs, status, error }) => ({
    at: time(atMs),
    took_ms: tookMs,
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error }),
  })),
})
