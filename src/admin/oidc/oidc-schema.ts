// Sign-in through an identity provider as the admin API tells of it.
import { z } from 'zod'
import { query } from '../schema.ts'

export const signInOptions = z
  .object({
    oidc: z.boolean().describe('People can sign in through the identity provider.'),
    passwords: z.boolean().describe('False: they must, except for the break-glass administrator.'),
  })
  .meta({ id: 'SignInOptions' })

export const startQuery = z.object({
  return_to: query.text(
    'Page of the console to open in the end: a path that begins with /console/.',
    'PATH',
  ),
})

export type SignInOptions = z.infer<typeof signInOptions>

/** Why a sign-in failed, in the address of the page that says so. */
export type SignInProblem =
  | 'expired'
  | 'denied'
  | 'failed'
  | 'unavailable'
  | 'too_many'
  | 'no_group'
  | 'no_account'
  | 'disabled'
