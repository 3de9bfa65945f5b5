// Where a channel's provider tells what it bills: its statements are pulled from there.
import { z } from 'zod'
import { baseUrl, strict, text } from '../fields.ts'

export const billingKinds = ['openai', 'anthropic', 'openrouter'] as const

export const billingAccess = strict({
  kind: z.enum(billingKinds).meta({ description: 'Whose reports of costs they are.' }),
  key: text(
    /^[\x21-\x7e]{1,4096}$/,
    'a key of printable characters without spaces',
    'Key for the reports: an admin key, at openrouter a management key.',
  ),
  url: baseUrl("Address of the reports, with or without /v1. Default: the provider's.").optional(),
}).meta({ description: 'Where statements of what the provider bills are pulled from, every day.' })

/** The key never comes out. */
export const billingView = (billing: z.infer<typeof billingAccess> | undefined) =>
  billing === undefined ? null : { kind: billing.kind, url: billing.url ?? null }
