// The person behind a link: sees what it is for, and accepts it once. Two who accept at the same time
// change the same row, so that one of them finds it accepted.
import type { z } from 'zod'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Person } from '../../contract/people.ts'
import type { BaseDeps, Seals } from '../../engine/base-deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { acceptInvitation, findPending, type Invitation } from '../../store/catalog/invitations.ts'
import {
  endSessionsOf,
  findPerson,
  insertPerson,
  updatePerson,
} from '../../store/catalog/people.ts'
import { isUniqueConflict } from '../../store/index.ts'
import { auditChange } from '../answers.ts'
import { mayUsePassword, passwordsAreOff } from '../people/break-glass.ts'
import { countWrongCode } from '../people/guess-limits.ts'
import { hashPassword } from '../people/passwords.ts'
import { session } from '../people/person-schema.ts'
import { accountNameOf, personFrom, personView } from '../people/person-view.ts'
import { answerSignedIn } from '../people/sessions.ts'
import { beginSession } from '../people/sign-in.ts'
import { forAnyone } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import {
  acceptInvitation as acceptBody,
  openInvitation as openBody,
  openedInvitation,
} from './invitation-schema.ts'
import { invitationView } from './invitation-view.ts'

/** One answer for all of them: a guess learns nothing. */
const linkUsed = refuse('conflict', 'this link has been used or revoked, or it has expired')

async function findLink(
  engine: BaseDeps & Seals,
  x: RequestContext,
  code: string,
): Promise<Invitation | Refusal> {
  const nowMs = engine.clock.nowMs()
  const found = await findPending(engine.store.read, engine.seal.hash(code), nowMs)
  return found ?? (await countWrongCode(engine, x)) ?? linkUsed
}

async function open({ engine, body, x }: Ask<{ body: typeof openBody }>) {
  const found = await findLink(engine, x, body.code)
  if (found instanceof Refusal) return found
  const { kind, role, account, email, person, expires_at } = await invitationView(engine, found)
  return { kind, role, account, email, person, expires_at }
}

async function accept(ask: Ask<{ body: typeof acceptBody }>) {
  const { engine, deps, body, x } = ask
  // Before any password is hashed, which is expensive.
  const found = await findLink(engine, x, body.code)
  if (found instanceof Refusal) return found
  if (deps.oidc?.settings.only === true && found.personId === undefined) return passwordsAreOff
  const hash = await hashPassword(body.password)
  if (hash instanceof Refusal) return hash
  const { personId } = found
  const person =
    personId === undefined
      ? await createPerson(ask, found, hash)
      : await changePassword(ask, personId, hash)
  if (person instanceof Refusal) return person
  return answerSignedIn(engine, x, person, await beginSession(engine, x, person))
}

type Accepting = Ask<{ body: typeof acceptBody }>

/** A name that is taken leaves the link as it was. */
async function createPerson(
  { engine, body, x }: Accepting,
  { id, role, accountId }: Invitation,
  hash: string,
): Promise<Person | Refusal> {
  const { name } = body
  if (name === undefined) return refuse('invalid_request', "'name' is required", { param: 'name' })
  const more = { name, role, ...(accountId !== undefined && { accountId }) }
  const person = personFrom(x, more)
  const view = personView(person, await accountNameOf(engine, person))
  try {
    return await engine.store.tx(async (tx) => {
      if (!(await isAccepted(tx, engine, body, person))) return linkUsed
      await insertPerson(tx, { ...person, password: hash })
      const after = { ...view, invitation: id }
      await auditChange(tx, x, { action: 'person.create', subject: person.id, after })
      return person
    })
  } catch (error) {
    if (!isUniqueConflict(error)) throw error
    return refuse('conflict', `there is a '${name}' already`, { param: 'name' })
  }
}

const changePassword = (
  { engine, deps, body, x }: Accepting,
  personId: string,
  hash: string,
): Promise<Person | Refusal> =>
  engine.store.tx(async (tx) => {
    const person = await findPerson(tx, personId)
    if (person === undefined || person.disabled) return linkUsed
    if (!(await mayUsePassword(engine, person, deps.oidc?.settings.only))) return passwordsAreOff
    if (!(await isAccepted(tx, engine, body, person))) return linkUsed
    await updatePerson(tx, personId, { password: hash })
    await endSessionsOf(tx, personId)
    await auditChange(tx, x, { action: 'person.password', subject: personId })
    return person
  })

const isAccepted = (
  tx: Parameters<typeof acceptInvitation>[0],
  { seal, clock }: BaseDeps & Seals,
  { code }: z.infer<typeof acceptBody>,
  { id: personId }: Person,
): Promise<boolean> => acceptInvitation(tx, seal.hash(code), { personId, atMs: clock.nowMs() })

const password = 'correct-horse-battery'
const code = 'from the link'

const route = routesOf({ tag: 'People', thing: 'invitation', permission: forAnyone })

export const acceptRoutes = [
  route('POST /invitations/open', {
    id: 'openInvitation',
    summary: 'What a link is for',
    description: 'Does not use the link up.',
    body: openBody,
    examples: { link: { code } },
    answer: openedInvitation,
    refusals: ['conflict', 'rate_limit_exceeded'],
    handle: open,
  }),
  route('POST /invitations/accept', {
    id: 'acceptInvitation',
    summary: 'Become a person, or set a new password, with a link that works once',
    body: acceptBody,
    examples: { person: { code, name: 'ada', password } },
    answer: session,
    returns: 'Who is signed in.',
    headers: ['set-cookie'],
    refusals: ['conflict', 'rate_limit_exceeded'],
    handle: accept,
  }),
]
