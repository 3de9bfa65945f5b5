// What gateway.yaml and the admin API may declare, in wire form. Knows no file, no environment and
// no store.

import { z } from 'zod'
import { budgetDeclaration, tagBudgetsDeclaration } from '../budgets/declaration.ts'
import { webhookDeclaration, webhookSecret } from '../notices/webhooks.ts'
import { tokenLimitField } from './account-settings.ts'
import { dataRequirement } from './channel/data.ts'
import { channelDeclaration, resolveChannel } from './channels.ts'
import {
  amount,
  asCidr,
  count,
  duration,
  modelPattern,
  name,
  region,
  strict,
  text,
  timestamp,
} from './fields.ts'
import { issuerDeclaration, topUpDeclaration } from './issuer.ts'
import { logsDeclaration } from './logs.ts'
import { downloadsDeclaration, mediaDeclaration } from './media.ts'
import { fallbackMode, modelDeclaration, plainModelDeclaration } from './models.ts'
import {
  type CostDeclaration,
  costDeclaration,
  currencyCode,
  exchangeRate,
  maxListed,
  type PriceDeclaration,
  priceDeclaration,
  startOf,
} from './prices.ts'
import { profileFields } from './profile.ts'
import { accountTagFields, defaultTagsField } from './tags.ts'
import { translationMode } from './translation.ts'

export const accountDeclaration = strict({
  name: name('Name of the account.'),
  balance: amount('Opening balance of a new account; later changes have no effect.').optional(),
  balance_low: amount('Notices tell when the balance falls below it. Left out, never.').optional(),
  ...profileFields,
  ...accountTagFields,
  token_limit: tokenLimitField.optional(),
  require: dataRequirement.optional(),
  budget: budgetDeclaration.optional(),
  tag_budgets: tagBudgetsDeclaration.optional(),
}).meta({ title: 'Account', description: 'Who pays: holds a balance and owns tokens.' })

/** Of one token: each call compares with them. */
const maxAllowedIps = 200
const maxModelPatterns = 1_000

const tokenLimits = strict({
  rpm: count('Requests per minute.').optional(),
  tpm: count('Text tokens per minute.').optional(),
  concurrency: count('Concurrent requests.').optional(),
})

export const tokenDeclaration = strict({
  account: name('Name of the account that pays for this token.'),
  name: name('Name of the token, unique within its account.'),
  token: text(
    /^sk-[A-Za-z0-9_-]{24,253}$/,
    "'sk-' and at least 24 more letters, digits, dashes or underscores",
    'The secret. Left out, the first start creates one and prints it.',
  ).optional(),
  models: z
    .array(modelPattern('A model name, or a prefix that ends in *.'))
    .min(1)
    .max(maxModelPatterns)
    .meta({ description: 'Models this token may use. Left out, all models.' })
    .optional(),
  limits: tokenLimits.meta({ description: 'Rate limits. Left out, unlimited.' }).optional(),
  allowed_ips: z
    .array(
      z
        .string()
        .refine((value) => asCidr(value) !== undefined, 'must be an IP address or a CIDR')
        .meta({ description: 'An IP address or a CIDR.' }),
    )
    .max(maxAllowedIps)
    .meta({ description: 'IP addresses and networks of callers. Left out or empty, any.' })
    .optional(),
  translation: translationMode.optional(),
  tags: defaultTagsField.optional(),
  fallback: fallbackMode.optional(),
  require: dataRequirement.optional(),
  expires_at: timestamp('When the token stops working. Left out, never.').optional(),
  budget: budgetDeclaration.optional(),
}).meta({ title: 'Token', description: "A caller's credential." })

/** A list of prices on its own, in the words of gateway.yaml, with models that they are for. */
export const priceListDeclaration = strict({
  models: z.array(plainModelDeclaration).max(maxListed).optional(),
  prices: z.array(priceDeclaration).max(maxListed),
})

const callbacks = strict({
  secret: webhookSecret('Signs callbacks: whsec_ and the base64 of 24 to 64 bytes.'),
}).meta({
  description:
    'One secret that signs the callbacks of all accounts. Left out, each account has its own.',
})

const tasks = strict({
  lifetime: duration('Maximum age of a task before it is given up. Default 24h.').optional(),
  unknown_for: duration(
    'How long to search for the task of a create that got no answer. Default 15m.',
  ).optional(),
  lost_after: duration(
    'How long a task must be missing at its upstream before it is given up. Default 10m.',
  ).optional(),
}).meta({ description: 'When to give up tasks that do not end.' })

const fileShape = strict({
  region: region("This gateway's region.").default('cn'),
  currency: currencyCode('Currency of all amounts.').default('CNY'),
  exchange: z
    .record(currencyCode('A currency that upstreams take.'), exchangeRate)
    .default({})
    .meta({ description: "Units of the ledger's currency for one unit of another." }),
  accounts: z
    .array(accountDeclaration)
    .default([])
    .meta({ description: 'Accounts, which pay for calls.' }),
  tokens: z.array(tokenDeclaration).default([]).meta({ description: "Callers' credentials." }),
  channels: z
    .array(channelDeclaration.transform(resolveChannel))
    .default([])
    .meta({ description: 'Upstream accounts. Without any, the sandbox answers.' }),
  models: z
    .array(modelDeclaration)
    .default([])
    .meta({ description: 'Additions to the built-in catalog, and replacements.' }),
  prices: z
    .array(priceDeclaration)
    .default([])
    .meta({ description: 'Additions to the built-in prices, and replacements.' }),
  costs: z
    .array(costDeclaration)
    .default([])
    .meta({ description: 'What the upstream of a channel takes for a model.' }),
  issuer: issuerDeclaration.optional(),
  top_up: topUpDeclaration.optional(),
  left_calls: z
    .enum(['charge', 'release'])
    .meta({
      description:
        'What becomes of a JSON call whose caller leaves while it is upstream: it is read on and charged (default), or cancelled and free.',
    })
    .optional(),
  tasks: tasks.optional(),
  callbacks: callbacks.optional(),
  webhooks: z
    .array(webhookDeclaration)
    .default([])
    .meta({ description: 'Subscriptions to notices.' }),
  media: mediaDeclaration.optional(),
  downloads: downloadsDeclaration.optional(),
  logs: logsDeclaration.optional(),
})

export const fileDeclaration = fileShape
  .superRefine((file, context) => {
    const refuse = (path: (string | number)[], message: string) =>
      context.addIssue({ code: 'custom', path, message })
    const once = <T>(
      section: string,
      list: readonly T[],
      field: string,
      of: (item: T) => unknown,
    ) => {
      const known = new Set<unknown>()
      for (const [index, item] of list.entries()) {
        const value = of(item)
        if (value === undefined) continue
        if (known.has(value)) refuse([section, index, field], 'is used twice')
        known.add(value)
      }
    }
    once('accounts', file.accounts, 'name', (account) => account.name)
    once('channels', file.channels, 'name', (channel) => channel.name)
    once('models', file.models, 'name', (model) => model.name)
    once('tokens', file.tokens, 'name', (token) => `${token.account} ${token.name}`)
    once('tokens', file.tokens, 'token', (token) => token.token)
    once('prices', file.prices, 'model', priceKey)
    once('costs', file.costs, 'model', costKey)
    once('webhooks', file.webhooks, 'url', ({ url }) => url)
    once('webhooks', file.webhooks, 'email', ({ email }) => email)
    for (const [index, { currency }] of file.costs.entries()) {
      if (!needsRate(file, currency)) continue
      refuse(['costs', index, 'currency'], `is ${currency}, which has no rate in exchange`)
    }
    for (const [index, channel] of file.channels.entries()) {
      if (channel.region === undefined || channel.region === file.region) continue
      const message = `is ${channel.region}, but this gateway's region is ${file.region}`
      refuse(['channels', index, 'region'], message)
    }
  })
  .meta({ title: 'Model Gateway configuration' })

export type AccountDeclaration = z.infer<typeof accountDeclaration>
export type TokenDeclaration = z.infer<typeof tokenDeclaration>
export type FileDeclaration = z.infer<typeof fileDeclaration>

/** Two prices with the same key would be one version. */
const priceKey = (price: PriceDeclaration) =>
  `${price.model} ${price.account ?? '-'} ${startOf(price)}`

const costKey = (cost: CostDeclaration) => `${cost.channel} ${cost.model} ${startOf(cost)}`

/** Whether amounts in this currency cannot be converted to the ledger's. */
export const needsRate = (
  { currency: own, exchange }: Pick<FileDeclaration, 'currency' | 'exchange'>,
  currency: string | undefined,
): boolean => currency !== undefined && currency !== own && exchange[currency] === undefined
