// Invitations, and links with which a person sets a new password: made, listed and revoked by an
// administrator. Only the hash of a code is stored.
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Person } from '../../contract/people.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { newId, newShortId } from '../../lib/crypto/ids.ts'
import {
  countPending,
  findInvitation,
  type Invitation,
  listInvitations,
  revokeInvitation,
  revokePasswordLinks,
} from '../../store/catalog/invitations.ts'
import { findPerson, lockPeople } from '../../store/catalog/people.ts'
import type { Tx } from '../../store/index.ts'
import { auditChange, notPermitted, time } from '../answers.ts'
import { accountFor } from '../people/account-for.ts'
import { mayUsePassword, passwordElsewhere, passwordsAreOff } from '../people/break-glass.ts'
import { forAdministrators } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import { deleted } from '../schema.ts'
import { invitationLink, invitationList, newInvitation } from './invitation-schema.ts'
import { insertWithCode, invitationView, validMs } from './invitation-view.ts'

/** More than an organisation sends out in a week. */
const maxPending = 1_000

async function listAll({ engine }: Ask) {
  const found = await listInvitations(engine.store.read)
  const items = await Promise.all(found.map((each) => invitationView(engine, each)))
  return { items, next_cursor: null }
}

async function invite(ask: Ask<{ body: typeof newInvitation }>) {
  const { engine, deps, body, x } = ask
  if (deps.oidc?.settings.only === true) return passwordsAreOff
  const account = await accountFor(engine, body.role, body.account)
  if (account instanceof Refusal) return account
  if ((await countPending(engine.store.read, engine.clock.nowMs())) >= maxPending) {
    return refuse('conflict', `there are ${maxPending} open invitations; revoke some of them`)
  }
  return makeLink(ask, {
    ...linkFrom(x, engine.clock.nowMs()),
    role: body.role,
    ...(account !== undefined && { accountId: account.id }),
    ...(body.email !== undefined && { email: body.email }),
  })
}

async function invitePassword(ask: Ask<{ found: Person }>) {
  const { engine, deps, found, x } = ask
  if (found.disabled) return refuse('conflict', `'${found.name}' is disabled`)
  if (!(await mayUsePassword(engine, found, deps.oidc?.settings.only))) {
    return found.subject === undefined ? passwordsAreOff : passwordElsewhere
  }
  const { role, accountId, id: personId } = found
  return makeLink(ask, {
    ...linkFrom(x, engine.clock.nowMs()),
    role,
    personId,
    ...(accountId !== undefined && { accountId }),
  })
}

const linkFrom = ({ viewer }: RequestContext, nowMs: number) => ({
  id: newShortId('inv', nowMs),
  createdBy: viewer?.actor ?? 'gateway',
  ...(viewer?.personId !== undefined && { createdById: viewer.personId }),
  createdAtMs: nowMs,
  expiresAtMs: nowMs + validMs,
})

/** A new link for a password replaces the older ones of the person. */
async function makeLink({ engine, deps, x }: Pick<Ask, 'engine' | 'deps' | 'x'>, link: Invitation) {
  const view = await invitationView(engine, link)
  const { personId } = link
  const action = personId === undefined ? 'invitation.create' : 'person.password_link'
  const code = await engine.store.tx(async (tx) => {
    if (!(await isStillAdministrator(tx, x))) return notPermitted(x.viewer!)
    if (personId !== undefined) await revokePasswordLinks(tx, personId)
    await auditChange(tx, x, { action, subject: personId ?? link.id, after: view })
    return insertWithCode(tx, engine, link)
  })
  if (code instanceof Refusal) return code
  // After a `#`: browsers do not send it, so that no log of a proxy has it.
  const url = `${deps.consoleUrl ?? engine.publicUrl}/console/invitation#${code}`
  return { ...view, url, ...(await mailed({ engine, x }, link, url)) }
}

/** The link is made, and is in the answer, whether the mail is sent or not. */
async function mailed({ engine, x }: Pick<Ask, 'engine' | 'x'>, link: Invitation, url: string) {
  const { email: to } = link
  if (to === undefined || engine.mailer === undefined) return { mailed: false, mail_problem: null }
  const text = `You are invited to the console of the gateway:\n\n${url}\n
The link works once, until ${time(link.expiresAtMs)}.

请通过以上链接加入网关控制台。链接仅可使用一次。\n`
  const mail = { id: newId('mail', x.atMs), to, subject: 'Invitation · 邀请', text, atMs: x.atMs }
  const { status, problem } = await engine.mailer.send(mail)
  const isSent = status !== undefined && status < 300
  return {
    mailed: isSent,
    mail_problem: isSent ? null : (problem ?? 'the mail server did not take it'),
  }
}

/** Their links are revoked when they stop being one: none may be made behind that. */
async function isStillAdministrator(tx: Tx, { viewer }: RequestContext): Promise<boolean> {
  if (viewer?.personId === undefined) return true
  const now = (await lockPeople(tx)).find(({ id }) => id === viewer.personId)
  return now?.role === 'administrator' && !now.disabled
}

async function revoke({ engine, id, found, x }: Ask<{ found: Invitation }>) {
  const before = await invitationView(engine, found)
  const isRevoked = await engine.store.tx(async (tx) => {
    if (!(await revokeInvitation(tx, id))) return false
    await auditChange(tx, x, { action: 'invitation.delete', subject: id, before })
    return true
  })
  if (!isRevoked) return refuse('conflict', 'this invitation has been accepted')
  return { id, deleted: true as const }
}

const link = {
  answer: invitationLink,
  status: 201,
  returns: 'The link. It works once, for seven days, and is shown in this answer only.',
  refusals: ['conflict', 'not_found'],
} as const

const route = routesOf({
  tag: 'People',
  thing: 'invitation',
  permission: forAdministrators,
  find: ({ store }, id) => findInvitation(store.read, id),
})
const personRoute = routesOf({
  tag: 'People',
  thing: 'person',
  permission: forAdministrators,
  find: ({ store }, id) => findPerson(store.read, id),
})

export const invitationRoutes = [
  route('GET /invitations', {
    id: 'listInvitations',
    summary: 'List invitations and links for new passwords',
    answer: invitationList,
    returns: 'All of the last thirty days, without their links.',
    handle: listAll,
  }),
  route('POST /invitations', {
    id: 'invitePerson',
    summary: 'Invite a person by a link',
    body: newInvitation,
    examples: { operator: { role: 'operator', email: 'ada@example.com' } },
    ...link,
    handle: invite,
  }),
  route('DELETE /invitations/:id', {
    id: 'revokeInvitation',
    summary: 'Revoke an invitation that has not been accepted',
    answer: deleted,
    refusals: ['conflict'],
    handle: revoke,
  }),
  personRoute('POST /people/:id/password-link', {
    id: 'makePasswordLink',
    summary: 'Make a link with which a person sets a new password',
    ...link,
    handle: invitePassword,
  }),
]
