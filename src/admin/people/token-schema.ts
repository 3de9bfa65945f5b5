// Tokens as the admin API tells of them: never their secret, but in the answer that makes it.
import { z } from 'zod'
import { budget } from '../../contract/answers/budget-schema.ts'
import { fallbackModes } from '../../contract/catalog.ts'
import { dataRequirement } from '../../contract/config-schema/channel/data.ts'
import { translationModes } from '../../contract/config-schema/translation.ts'
import { accountField, column, money, pageFields, pageOf, source, time } from '../schema.ts'

const limit = z.int().min(1).exactOptional()

const fields = {
  id: column(z.string()),
  prefix: column(z.string()).describe('First letters of the secret.'),
  account: column(z.string()),
  name: column(z.string()),
  disabled: column(z.boolean(), 'state'),
  models: column(z.array(z.string())),
  limits: column(z.object({ rpm: limit, tpm: limit, concurrency: limit })),
  allowed_ips: column(z.array(z.string())),
  translation: column(z.enum(translationModes)),
  tags: z.record(z.string(), z.string()).describe('Tags of its calls by default.'),
  fallback: z
    .enum(fallbackModes)
    .describe('Whether another than the first choice of a virtual model may serve it.'),
  require: dataRequirement
    .nullable()
    .describe('What channels must promise of data, besides what its account requires.'),
  expires_at: column(time().nullable(), 'expires'),
  budget: budget.nullable().describe('Shared with the secrets that it had before.'),
  source: column(source),
  created_at: time(),
}

export const token = z.object(fields).meta({ id: 'Token' })

const secret = z.string().describe('The secret itself, this once.')
export const tokenWithSecret = z
  .object({ ...fields, token: secret.exactOptional() })
  .meta({ id: 'TokenWithSecret' })

export const rotatedToken = z
  .object({
    ...fields,
    token: secret,
    previous: z.object({ id: z.string(), name: z.string(), expires_at: time() }).nullable(),
  })
  .meta({ id: 'RotatedToken' })

/** The spend is there when it is asked for. */
export const listedToken = z
  .object({
    ...fields,
    spend: money().exactOptional().describe('In the last days.'),
    spend_by_day: z.array(z.object({ day: z.string(), amount: money() })).exactOptional(),
    last_charged_at: time()
      .nullable()
      .exactOptional()
      .describe('The hour of the last charge if that was today, else its day.'),
    last_used_at: time()
      .nullable()
      .exactOptional()
      .describe('When its last request came, charged or not.'),
  })
  .meta({ id: 'ListedToken' })
export const tokenList = pageOf(listedToken, 'TokenList')

export const revoked = z.object({ id: z.string(), revoked: z.literal(true) })

export const tokenQuery = z.object({
  account: accountField,
  spend: z.enum(['true', 'false']).optional().describe('With what was spent lately.'),
  ...pageFields,
})

export type Token = z.infer<typeof listedToken>
