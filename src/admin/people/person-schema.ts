// People and sessions as the admin API tells of them.
import { z } from 'zod'
import { isReservedName, roles } from '../../contract/people.ts'
import { column, pageOf, time } from '../schema.ts'

const minPassword = 12
const maxPassword = 256

export const personName = z
  .string()
  .regex(/^[\w.@+-]{2,100}$/, 'must be 2 to 100 letters, digits and . @ + - _')
  .refine((text) => !isReservedName(text), 'must not be admin, gateway or system')
  .transform((text) => text.toLowerCase())
export const password = z
  .string()
  .min(minPassword, `must have at least ${minPassword} characters`)
  .max(maxPassword)
/** To be compared with what is stored. */
const givenPassword = z.string().max(maxPassword)

export const signIn = z
  .strictObject({ name: z.string().max(100), password: givenPassword })
  .meta({ id: 'SignIn' })
export const setUp = z
  .strictObject({ code: z.string().max(100), name: personName, password })
  .meta({ id: 'SetUp' })
export const newPerson = z
  .strictObject({
    name: personName,
    password,
    role: z.enum(roles),
    account: z.string().optional(),
  })
  .meta({ id: 'NewPerson' })
export const personChange = z
  .strictObject({
    password: password.optional(),
    role: z.enum(roles).optional(),
    account: z.string().nullable().optional(),
    disabled: z.boolean().optional(),
  })
  .meta({ id: 'PersonChange' })
export const newPassword = z
  .strictObject({ old: givenPassword, password })
  .meta({ id: 'NewPassword' })

export const session = z
  .object({
    name: z.string(),
    role: z.enum(roles),
    account: z.string().nullable(),
    currency: z.string(),
    public_url: z.string(),
    environment: z.enum(['sandbox', 'live']),
    top_up: z
      .object({ text: z.string().nullable(), url: z.string().nullable() })
      .nullable()
      .describe('Of a member: how money is added to the account, if the operator says it.'),
  })
  .meta({ id: 'Session' })

export const person = z
  .object({
    id: column(z.string()),
    name: column(z.string()),
    role: column(z.enum(roles)),
    account: column(z.string().nullable()),
    disabled: column(z.boolean()),
    sign_in: column(z.enum(['password', 'oidc']), 'sign-in').describe(
      '`oidc`: through the identity provider, whose groups decide on the role.',
    ),
    created_at: column(time(), 'created'),
  })
  .meta({ id: 'Person' })
export const personList = pageOf(person, 'PersonList')

export type Session = z.infer<typeof session>
export type Person = z.infer<typeof person>
export type Role = Session['role']
