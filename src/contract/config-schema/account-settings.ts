// Settings of an account that the file and the admin API declare alike, as they are stored.
import { z } from 'zod'
import { thresholdFrom } from '../notices/webhooks.ts'
import { type dataRequirement, requirementFrom } from './channel/data.ts'
import { type ProfileChange, profileIn } from './profile.ts'
import { accountTagsFrom } from './tags.ts'

/** Tokens that members of an account may have, unless it says otherwise. */
export const usualTokenLimit = 200

export const tokenLimitField = z
  .int()
  .min(0)
  .max(1_000_000)
  .meta({ description: `Tokens that members may have. Left out, ${usualTokenLimit}.` })

type Declared = Parameters<typeof accountTagsFrom>[0] &
  Parameters<typeof thresholdFrom>[0] & {
    token_limit?: number | null | undefined
    require?: z.infer<typeof dataRequirement> | null | undefined
  } & ProfileChange

/** Null: as if it had never been set; absent: not said. */
export const accountSettingsFrom = (declared: Declared) => ({
  ...accountTagsFrom(declared),
  ...thresholdFrom(declared),
  ...(declared.token_limit !== undefined && { tokenLimit: declared.token_limit }),
  ...(declared.require !== undefined && { require: requirementFrom(declared.require) ?? null }),
  profile: profileIn(declared),
})
