// Budgets as the configuration file and the admin API declare them.
import { z } from 'zod'
import { parseNanos } from '../../lib/text/decimal.ts'
import { amount, strict, text } from '../config-schema/fields.ts'
import type { Budget } from './budget.ts'
import { isZone, periods } from './period.ts'

const terms = {
  amount: amount('What may be spent in each period. Zero refuses everything.'),
  per: z.enum(periods).meta({ description: 'The period. Weeks begin on Monday.' }),
  zone: z
    .string()
    .refine(isZone, 'must be the IANA name of a time zone, such as Asia/Shanghai')
    .meta({ description: 'Time zone that periods begin in. Default UTC.' })
    .optional(),
}

export const budgetDeclaration = strict(terms).meta({
  title: 'Budget declaration',
  description: 'What may be spent in a period. Left out, all that the account has.',
})

const tagBudget = strict({
  tag: text(
    /^[a-z][a-z0-9_-]{0,31}=[A-Za-z0-9._:/@-]{1,64}$/,
    'a tag such as team=red',
    'The tag that it is for.',
  ),
  ...terms,
}).meta({ title: 'TagBudget', description: 'What calls with a tag may spend in a period.' })

const maxTagBudgets = 100

export const tagBudgetsDeclaration = z
  .array(tagBudget)
  .max(maxTagBudgets)
  .refine((list) => new Set(list.map(({ tag }) => tag)).size === list.length, {
    message: 'must name each tag once',
  })
  .meta({ description: 'Budgets of tags, each over all tokens of the account.' })

type Declared = z.output<typeof budgetDeclaration>

export const budgetFrom = ({ amount: decimal, per, zone = 'UTC' }: Declared): Budget => ({
  amountNanos: parseNanos(decimal)!,
  per,
  zone,
})

export const tagBudgetsFrom = (list: z.output<typeof tagBudgetsDeclaration>) =>
  list.map(({ tag, ...budget }) => ({ tag, ...budgetFrom(budget) }))
