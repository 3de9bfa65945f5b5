// Subscriptions to notices and their deliveries, as the admin API takes and tells of them.
import { z } from 'zod'
import {
  noticeFormats,
  noticeTypes,
  webhookDeclaration,
  webhookFields,
} from '../../contract/notices/webhooks.ts'
import { amount, column, pageFields, pageOf, source, time } from '../schema.ts'

const rule = z.object({
  model: z.string().exactOptional(),
  channel: z.string().exactOptional(),
  above: z.number(),
  over: z.string(),
  min: z.int(),
})

const fields = {
  id: column(z.string()),
  url: column(z.string().nullable()),
  email: column(z.string().nullable()),
  format: column(z.enum(noticeFormats).nullable()).describe('What is posted; null for e-mail.'),
  events: column(z.array(z.enum(noticeTypes))),
  rules: z.array(rule),
  disabled: column(z.boolean()),
  source: column(source),
  created_at: time(),
}

export const webhook = z.object(fields).meta({ id: 'Webhook' })
export const webhookList = pageOf(webhook, 'WebhookList')
export const webhookWithSecret = z
  .object({
    ...fields,
    secret: z.string().exactOptional().describe('Signs the notices; shown this once.'),
  })
  .meta({ id: 'WebhookWithSecret' })

export const webhookCreation = webhookDeclaration.meta({ id: 'WebhookDeclaration' })
export const webhookChange = webhookFields
  .omit({ format: true })
  .partial()
  .meta({ id: 'WebhookChange' })

export const webhookQuery = z.object(pageFields)

const attempt = z.object({
  at: time(),
  took_ms: amount(),
  status: z.int().exactOptional().describe('Of the answer.'),
  error: z.string().exactOptional(),
})

export const delivery = z
  .object({
    id: column(z.string()).describe('Of the notice: the same for every attempt.'),
    type: column(z.enum([...noticeTypes, 'test'])),
    at: column(time()),
    state: column(z.enum(['pending', 'delivered', 'failed'])),
    next_at: column(time().nullable(), 'next').describe('When it is tried again.'),
    attempts: z.array(attempt),
  })
  .meta({ id: 'NoticeDelivery' })
export const deliveryList = pageOf(delivery, 'NoticeDeliveryList')

export type Webhook = z.output<typeof webhook>
export type WebhookWithSecret = z.output<typeof webhookWithSecret>
export type NoticeDelivery = z.output<typeof delivery>
