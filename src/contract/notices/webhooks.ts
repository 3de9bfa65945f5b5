// Subscriptions to notices: the types there are, and what a declaration says: where they go, which
// types, and rules for error rates.
import { z } from 'zod'
import { parseNanos } from '../../lib/text/decimal.ts'
import {
  count,
  duration,
  modelName,
  name,
  parseDurationMs,
  strict,
  text,
  unique,
} from '../config-schema/fields.ts'
import { emailPattern } from './mail.ts'

export const noticeTypes = [
  'balance.low',
  'balance.empty',
  'budget.reached',
  'channel.down',
  'channel.recovered',
  'key.rejected',
  'price.missing',
  'price.changed',
  'margin.negative',
  'bill.closed',
  'loss.booked',
  'ledger.problem',
  'task.failures',
  'error_rate',
  'charge.settled',
  'batch.completed',
] as const

export type NoticeType = (typeof noticeTypes)[number]

/** What is posted: the notice as JSON, or a message as a chat tool's incoming webhook takes it. */
export const noticeFormats = ['json', 'slack', 'feishu', 'dingtalk', 'wecom'] as const
export type NoticeFormat = (typeof noticeFormats)[number]
/** These sign with a secret of the tool's own; others have none. */
const signingTools: readonly NoticeFormat[] = ['feishu', 'dingtalk']

/** When the errors of a model or a channel are told. */
export interface ErrorRateRule {
  model?: string
  channel?: string
  /** Share of failed requests, from 0 to 1. */
  above: number
  overMs: number
  /** Fewer requests than this say nothing. */
  min: number
}

export const webhookSecret = (description: string) =>
  text(
    /^whsec_(?:[A-Za-z0-9+/]{4}){8,20}(?:[A-Za-z0-9+/]{4}(?:[A-Za-z0-9+/]{2}==)?|[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
    'whsec_ and the base64 of 24 to 64 bytes',
    description,
  )

/** Of any receiver; which form it must have depends on that. */
const anySecret = text(
  /^[\x21-\x7e]{8,200}$/,
  '8 to 200 printable characters',
  "Signs the notices: whsec_ and the base64 of 24 to 64 bytes, made and shown once if left out. Of feishu and dingtalk the tool's own, if its webhook has one.",
)
const plainSecret = webhookSecret('')

/** Why a secret is not one for what is posted. */
export function secretProblem(format: NoticeFormat, secret: string): string | undefined {
  if (format === 'json') return plainSecret.safeParse(secret).error?.issues[0]?.message
  return signingTools.includes(format) ? undefined : `is not taken by ${format}`
}

const maxUrlChars = 2_048
const maxRules = 50

const rule = strict({
  model: modelName('Name of a model.').optional(),
  channel: name('Name of a channel.').optional(),
  above: z
    .number()
    .min(0)
    .max(1)
    .meta({ description: 'Share of failed requests above which it is told. Default 0.2.' })
    .default(0.2),
  over: duration('Over how long. Default 5m.')
    .refine((value) => (parseDurationMs(value) ?? 0) >= 60_000, 'must be at least 1m')
    .default('5m'),
  min: count('Fewer requests than this are not judged. Default 20.').default(20),
}).refine(({ model, channel }) => (model === undefined) !== (channel === undefined), {
  message: 'must name either a model or a channel',
})

// Without rules across fields, so that partial() can check a change of single fields.
export const webhookFields = strict({
  url: z
    .string()
    .min(1)
    .max(maxUrlChars)
    .meta({ description: 'Address that notices are posted to.' })
    .optional(),
  email: text(
    emailPattern,
    'an e-mail address',
    'E-mail address that notices are sent to, instead of a url.',
  ).optional(),
  events: z
    .array(z.enum(noticeTypes))
    .min(1)
    .refine(unique, 'must not name a type twice')
    .meta({ description: 'Types of notices.' }),
  rules: z
    .array(rule)
    .max(maxRules)
    .meta({ description: 'When error_rate is told; each is about one model or one channel.' })
    .optional(),
  format: z
    .enum(noticeFormats)
    .meta({
      description:
        'What is posted to the url: the notice, or a message of a chat tool. Default json.',
    })
    .optional(),
  secret: anySecret.optional(),
  disabled: z.boolean().meta({ description: 'Whether nothing is sent. Default false.' }).optional(),
})

export const webhookDeclaration = webhookFields
  .superRefine(({ url, email, events, rules, secret, format }, context) => {
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    if ((url === undefined) === (email === undefined)) {
      refuse('url', 'must be given, or else email')
    }
    if (email !== undefined && secret !== undefined) {
      refuse('secret', 'signs what is sent to a url; e-mail has none')
    }
    if (email !== undefined && format !== undefined) {
      refuse('format', 'is of what is posted to a url; e-mail has none')
    }
    const unfit = secret === undefined ? undefined : secretProblem(format ?? 'json', secret)
    if (unfit !== undefined) refuse('secret', unfit)
    if (events.includes('error_rate') && (rules ?? []).length === 0) {
      refuse('rules', 'must say when error_rate is told')
    }
  })
  .meta({ title: 'Webhook', description: 'A subscription to notices, by HTTP or by e-mail.' })

export type WebhookDeclaration = z.infer<typeof webhookDeclaration>

export const rulesFrom = (rules: WebhookDeclaration['rules'] = []): ErrorRateRule[] =>
  rules.map(({ model, channel, above, over, min }) => ({
    ...(model !== undefined && { model }),
    ...(channel !== undefined && { channel }),
    ...{ above, overMs: parseDurationMs(over)!, min },
  }))

/** The threshold of an account. Null: as if it had never been set; absent: not said. */
export const thresholdFrom = ({ balance_low }: { balance_low?: string | null | undefined }) =>
  balance_low === undefined
    ? {}
    : { balanceLowNanos: balance_low === null ? null : parseNanos(balance_low)! }
