// The setting for request log retention, in wire form and as a value.
import { z } from 'zod'
import { strict } from './fields.ts'

const minDays = 7
const maxDays = 3650
const defaultDays = 400

const daysOf = (value: string): number => Number(/^(\d{1,4})d$/.exec(value)?.[1] ?? 0)

export const logsDeclaration = strict({
  keep: z
    .string({ error: () => 'must be a number of days, such as 90d' })
    .refine(
      (value) => daysOf(value) >= minDays && daysOf(value) <= maxDays,
      `must be a number of days from ${minDays}d to ${maxDays}d, such as 90d`,
    )
    .meta({
      description: `How long request log rows are kept. Default ${defaultDays}d.`,
      examples: ['90d'],
    })
    .optional(),
}).meta({ description: 'Retention of the request log. The ledger is never deleted.' })

export type LogsDeclaration = z.infer<typeof logsDeclaration>

export const logKeepMs = (logs: LogsDeclaration | undefined): number =>
  (logs?.keep === undefined ? defaultDays : daysOf(logs.keep)) * 86_400_000
