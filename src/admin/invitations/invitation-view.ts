// Invitations as the admin API shows them, and the links that lead to them.
import type { BaseDeps, Seals } from '../../engine/base-deps.ts'
import { newSecret } from '../../lib/crypto/ids.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import {
  forgetInvitations,
  type Invitation,
  insertInvitation,
} from '../../store/catalog/invitations.ts'
import { findPerson } from '../../store/catalog/people.ts'
import type { Tx } from '../../store/index.ts'
import { time } from '../answers.ts'
import type { View } from '../route.ts'
import type { invitation as invitationSchema } from './invitation-schema.ts'

export const validMs = 7 * 24 * 3_600_000
/** How long accepted and expired ones are listed. */
const keptMs = 30 * 24 * 3_600_000

export async function invitationView(
  { store, clock }: BaseDeps,
  invitation: Invitation,
): Promise<View<typeof invitationSchema>> {
  const { accountId, personId, acceptedById = personId } = invitation
  const { read } = store
  const account = accountId === undefined ? undefined : await findAccount(read, accountId)
  const person = acceptedById === undefined ? undefined : await findPerson(read, acceptedById)
  return {
    id: invitation.id,
    kind: personId === undefined ? 'invitation' : 'password',
    role: invitation.role,
    account: account?.name ?? null,
    email: invitation.email ?? null,
    person: person?.name ?? null,
    state: stateOf(invitation, clock.nowMs()),
    created_by: invitation.createdBy,
    created_at: time(invitation.createdAtMs),
    expires_at: time(invitation.expiresAtMs),
  }
}

function stateOf({ acceptedAtMs, expiresAtMs }: Invitation, nowMs: number) {
  if (acceptedAtMs !== undefined) return 'accepted'
  return expiresAtMs > nowMs ? 'pending' : 'expired'
}

/** Stores the hash of a new code and gives the code. */
export async function insertWithCode(
  tx: Tx,
  { seal }: Seals,
  invitation: Invitation,
): Promise<string> {
  const code = newSecret('')
  await forgetInvitations(tx, invitation.createdAtMs - keptMs)
  await insertInvitation(tx, invitation, seal.hash(code))
  return code
}
