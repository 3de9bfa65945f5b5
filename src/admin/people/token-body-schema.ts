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

export const tokenCreation = tokenDeclaration
  .extend({ budget: budget.nullable(), require: policy })
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
