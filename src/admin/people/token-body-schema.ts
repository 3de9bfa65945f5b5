// What the admin API takes to make, change and rotate a token.
import { z } from 'zod'
import { tokenDeclaration } from '../../contract/config-schema/index.ts'

const { name, models, limits, allowed_ips, translation, fallback, tags, expires_at, budget } =
  tokenDeclaration.shape
const policy = tokenDeclaration.shape.require.nullable()
const limitChange = z
  .strictObject(
    Object.fromEntries(
      (['rpm', 'tpm', 'concurrency'] as const).map((field) => [
        field,
        limits.unwrap().shape[field].unwrap().nullable().optional(),
      ]),
    ),
  )
  .optional()

/** A secret that callers have from elsewhere: only who holds it can use it, the gateway never sees it here. */
const broughtSecret = {
  token_sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in 64 small hexadecimal digits')
    .describe('SHA-256 of a secret that begins with sk-, in place of the secret itself.')
    .optional(),
  prefix: z
    .string()
    .regex(/^sk-[A-Za-z0-9._-]{0,13}$/, 'must begin with sk- and have at most 16 characters')
    .describe('What is shown of that secret. With token_sha256 only.')
    .optional(),
}

export const tokenCreation = tokenDeclaration
  .extend({
    ...broughtSecret,
    disabled: z.boolean().optional(),
    budget: budget.nullable(),
    require: policy,
  })
  .refine(({ token, token_sha256 }) => token === undefined || token_sha256 === undefined, {
    path: ['token_sha256'],
    message: 'and token cannot both be given',
  })
  .refine(({ prefix, token_sha256 }) => prefix === undefined || token_sha256 !== undefined, {
    path: ['prefix'],
    message: 'is for token_sha256 only',
  })
  .meta({ id: 'TokenDeclaration' })
export const tokenChange = z
  .strictObject({
    name: name.optional(),
    models,
    limits: limitChange,
    allowed_ips,
    translation,
    tags: tags.nullable(),
    fallback,
    require: policy,
    expires_at: expires_at.nullable(),
    disabled: z.boolean().optional(),
    budget: budget.nullable(),
  })
  .meta({ id: 'TokenChange' })
export const tokenRotation = z
  .strictObject({ previous_valid_until: expires_at })
  .meta({ id: 'TokenRotation' })
