// Accounts and their ledgers as the admin API tells of them.

import { z } from 'zod'
import { budget, tagBudget } from '../../contract/answers/budget-schema.ts'
import { budgetDeclaration, tagBudgetsDeclaration } from '../../contract/budgets/declaration.ts'
import { tokenLimitField } from '../../contract/config-schema/account-settings.ts'
import { dataRequirement } from '../../contract/config-schema/channel/data.ts'
import { amount } from '../../contract/config-schema/fields.ts'
import { profileChange } from '../../contract/config-schema/profile.ts'
import { declaredProfile, profileOf } from '../../contract/config-schema/profile-fields.ts'
import { accountTagFields } from '../../contract/config-schema/tags.ts'
import { chargeTextColumns, entryKinds } from '../../contract/ledger.ts'
import { endUserModes } from '../../contract/tags/index.ts'
import {
  column,
  count,
  modelField,
  money,
  pageFields,
  pageOf,
  query,
  sortFields,
  source,
  tagFields,
  time,
} from '../schema.ts'

export const account = z
  .object({
    id: column(z.string()),
    name: column(z.string()),
    ...profileOf((name) => z.string().nullable().describe(declaredProfile(name).about)),
    currency: z.string(),
    balance: column(money()).describe('All entries but holds and releases.'),
    held: column(money()).describe('What holds have set aside.'),
    available: column(money()).describe('Balance less held.'),
    balance_low: money().nullable().describe('Notices tell when the balance falls below it.'),
    tag_names: z.array(z.string()).describe('Tags that its calls may carry.'),
    end_users: z.enum(endUserModes).describe('How end users that its calls name are kept.'),
    token_limit: count().describe('Tokens that its members may have.'),
    require: dataRequirement.nullable().describe('What channels must promise of data.'),
    budget: budget.nullable().describe('Over all its tokens.'),
    tag_budgets: z.array(tagBudget).describe('Of calls with a tag, over all its tokens.'),
    source,
    created_at: time(),
    suspended_since: time()
      .exactOptional()
      .describe('Since when nothing billable is begun for it.'),
  })
  .meta({ id: 'Account' })
export const accountList = pageOf(account, 'AccountList')

export const entry = z
  .object({
    id: z.string(),
    at: column(time()),
    kind: column(z.enum(entryKinds)),
    amount: column(money()).describe('Negative when it takes from the account.'),
    model: column(z.string().nullable()),
    ...chargeTextColumns(({ about }) => z.string().nullable().describe(about)),
    unit: column(z.string().nullable()),
    tier: z.string().nullable(),
    quantity: column(z.number().nullable()),
    request_id: column(z.string().nullable(), 'reference'),
    task_id: z.string().nullable(),
    price_id: column(z.string().nullable()),
    estimated: z.boolean(),
    note: column(z.string().nullable()),
    ...tagFields,
  })
  .meta({ id: 'Entry' })
export const entryList = pageOf(entry, 'EntryList')

/** Null takes a setting away. */
export const accountChange = z
  .strictObject({
    ...profileChange,
    balance_low: amount('Notices tell when the balance falls below it.').nullable().optional(),
    tag_names: accountTagFields.tag_names.nullable(),
    end_users: accountTagFields.end_users.nullable(),
    token_limit: tokenLimitField.nullable().optional(),
    require: dataRequirement.nullable().optional(),
    budget: budgetDeclaration.nullable().optional(),
    tag_budgets: tagBudgetsDeclaration.nullable().optional(),
  })
  .meta({ id: 'AccountChange' })

export const accountQuery = z.object({
  search: query.text('A part of its name, or of what else is known of who it is.', 'TEXT'),
  ...sortFields(['created', 'name', 'balance', 'spend'], 'asc'),
  ...pageFields,
})
export const entryQuery = z.object({
  by_hand: query.flag('Credits, adjustments and refunds alone.'),
  ...pageFields,
})
export const paidPriceQuery = z.object({ model: modelField, ...pageFields })

export type Account = z.infer<typeof account>
export type Entry = z.infer<typeof entry>
