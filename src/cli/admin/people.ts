// gateway person, gateway invitation: the people of the console, and the links that invite them or set
// a new password. A link is printed once.
import { invitation, newInvitation } from '../../admin/invitations/invitation-schema.ts'
import { person, personChange } from '../../admin/people/person-schema.ts'
import { askCommand } from '../terminal/ask.ts'
import type { Command } from '../terminal/command.ts'
import { listCommand } from '../terminal/list.ts'
import { cell, type Row } from '../terminal/show.ts'

const linkText = (answer: Row): string =>
  `${cell(answer['url'])}\n\nThe link works once, until ${cell(answer['expires_at'])}, and is shown only now.`

const account = { account: 'ID|NAME' }

export const personCommands: readonly Command[] = [
  listCommand(
    { path: ['person', 'list'], summary: 'the people who can sign in to the console' },
    { path: '/people', what: 'people', item: person },
  ),
  askCommand({
    path: ['person', 'invite'],
    summary: 'make a link that creates a person, and show it once',
    call: 'POST /invitations',
    input: { schema: newInvitation, values: account },
    text: linkText,
  }),
  askCommand({
    path: ['person', 'update'],
    args: ['ID'],
    summary: 'change the role of a person, or disable them',
    call: 'PATCH /people/:id',
    input: { schema: personChange, without: ['password'], values: account },
  }),
  askCommand({
    path: ['person', 'reset-password'],
    args: ['ID'],
    summary: 'make a link with which a person sets a new password, and show it once',
    call: 'POST /people/:id/password-link',
    text: linkText,
  }),
  askCommand({
    path: ['person', 'remove'],
    args: ['ID'],
    summary: 'remove a person and end their sessions',
    call: 'DELETE /people/:id',
    text: (_, { line }) => `removed ${cell(line.arg(0))}`,
  }),
  listCommand(
    { path: ['invitation', 'list'], summary: 'invitations and links for new passwords' },
    { path: '/invitations', what: 'invitations', item: invitation },
  ),
  askCommand({
    path: ['invitation', 'revoke'],
    args: ['ID'],
    summary: 'revoke a link that has not been used',
    call: 'DELETE /invitations/:id',
    text: (_, { line }) => `revoked ${cell(line.arg(0))}`,
  }),
]
