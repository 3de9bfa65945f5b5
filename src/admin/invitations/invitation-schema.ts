// Invitations and links for a new password as the admin API tells of them.
import { z } from 'zod'
import { roles } from '../../contract/people.ts'
import { password, personName } from '../people/person-schema.ts'
import { column, pageOf, time } from '../schema.ts'

const kinds = ['invitation', 'password'] as const
const states = ['pending', 'accepted', 'expired'] as const

export const newInvitation = z
  .strictObject({
    role: z.enum(roles),
    account: z.string().optional().describe('Id or name of the account of a member.'),
    email: z
      .email()
      .max(254)
      .optional()
      .describe('For whom it is. Where the gateway sends e-mail, the link goes there.'),
  })
  .meta({ id: 'NewInvitation' })

export const invitation = z
  .object({
    id: column(z.string()),
    kind: column(z.enum(kinds)).describe('`password`: the link sets a new password of a person.'),
    role: column(z.enum(roles)),
    account: column(z.string().nullable()),
    email: column(z.string().nullable()),
    person: column(z.string().nullable()).describe(
      'Name of the person who accepted it, or whose password it sets.',
    ),
    state: column(z.enum(states)),
    created_by: column(z.string()),
    created_at: time(),
    expires_at: column(time(), 'expires'),
  })
  .meta({ id: 'Invitation' })
export const invitationList = pageOf(invitation, 'InvitationList')

export const invitationLink = invitation
  .extend({
    url: z.string().describe('Works once. Shown in this answer only.'),
    mailed: z.boolean().describe('Whether a mail server took it.'),
    mail_problem: z.string().nullable().describe('Why it was not sent although it has an address.'),
  })
  .meta({ id: 'InvitationLink' })

const code = z.string().max(100)

export const openInvitation = z.strictObject({ code }).meta({ id: 'OpenInvitation' })

/** What the page behind the link shows. */
export const openedInvitation = invitation
  .pick({ kind: true, role: true, account: true, email: true, person: true, expires_at: true })
  .meta({ id: 'OpenedInvitation' })

export const acceptInvitation = z
  .strictObject({
    code,
    name: personName.optional().describe('Required for an invitation.'),
    password,
  })
  .meta({ id: 'AcceptInvitation' })

export type Invitation = z.infer<typeof invitation>
export type InvitationLink = z.infer<typeof invitationLink>
export type OpenedInvitation = z.infer<typeof openedInvitation>
