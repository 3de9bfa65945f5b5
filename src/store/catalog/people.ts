// Rows of people, their sessions and failed sign-ins. Passwords arrive as hashes only, and only
// `findPassword` returns them.
import type { Kysely, Selectable } from 'kysely'
import type { Person, Role } from '../../contract/people.ts'
import type { Schema } from '../schema.ts'
import { touchMeta } from '../sql/meta.ts'

export async function insertPerson(
  tx: Kysely<Schema>,
  person: Person & { password: string },
): Promise<void> {
  const { id, name, role, accountId, password, disabled, createdAtMs, subject } = person
  await tx
    .insertInto('people')
    .values({
      id,
      name,
      role,
      account_id: accountId ?? null,
      password,
      disabled: disabled ? 1 : 0,
      created_at_ms: createdAtMs,
      subject: subject ?? null,
    })
    .execute()
}

export interface PersonChange {
  role?: Role
  accountId?: string | null
  disabled?: boolean
  /** A hash. */
  password?: string
}

/** False when there is no such person. */
export async function updatePerson(
  tx: Kysely<Schema>,
  id: string,
  { role, accountId, disabled, password }: PersonChange,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('people')
    .set((e) => ({
      id: e.ref('id'),
      ...(role !== undefined && { role }),
      ...(accountId !== undefined && { account_id: accountId }),
      ...(disabled !== undefined && { disabled: disabled ? 1 : 0 }),
      ...(password !== undefined && { password }),
    }))
    .where('id', '=', id)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export async function deletePerson(tx: Kysely<Schema>, id: string): Promise<void> {
  await tx.deleteFrom('sessions').where('person_id', '=', id).execute()
  await tx.deleteFrom('people').where('id', '=', id).execute()
}

/** By name, unpaged: there are few. */
export async function listPeople(db: Kysely<Schema>): Promise<Person[]> {
  return (await db.selectFrom('people').selectAll().orderBy('name').execute()).map(shape)
}

/** Reads all people and blocks concurrent callers until the transaction ends. */
export async function lockPeople(tx: Kysely<Schema>): Promise<Person[]> {
  // A write takes the lock on both dialects; reads after it see the newest version.
  await touchMeta(tx, 'people_lock', '')
  return listPeople(tx)
}

export async function findPerson(db: Kysely<Schema>, id: string): Promise<Person | undefined> {
  const row = await db.selectFrom('people').selectAll().where('id', '=', id).executeTakeFirst()
  return row === undefined ? undefined : shape(row)
}

/** For signing in only. The password is absent for people of the identity provider. */
export async function findPassword(
  db: Kysely<Schema>,
  name: string,
): Promise<{ person: Person; password?: string } | undefined> {
  const row = await db.selectFrom('people').selectAll().where('name', '=', name).executeTakeFirst()
  if (row === undefined) return undefined
  const { password, subject } = row
  return { person: shape(row), ...(subject === null && password !== '' && { password }) }
}

/** True for the first one who uses this sign-in; those of before `keptMs` are forgotten. */
export async function useSignIn(
  tx: Kysely<Schema>,
  hash: string,
  atMs: number,
  keptMs: number,
): Promise<boolean> {
  await tx
    .deleteFrom('used_sign_ins')
    .where('at_ms', '<', atMs - keptMs)
    .execute()
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('used_sign_ins')
    .values({ hash, at_ms: atMs })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

interface Session {
  hash: string
  personId: string
  createdAtMs: number
  seenAtMs: number
  address: string
  agent: string
}

export async function insertSession(tx: Kysely<Schema>, session: Session): Promise<void> {
  await tx
    .insertInto('sessions')
    .values({
      hash: session.hash,
      person_id: session.personId,
      created_at_ms: session.createdAtMs,
      seen_at_ms: session.seenAtMs,
      address: session.address,
      agent: session.agent,
    })
    .execute()
}

export async function findSession(
  db: Kysely<Schema>,
  hash: string,
): Promise<{ session: Session; person: Person } | undefined> {
  const row = await db
    .selectFrom('sessions')
    .innerJoin('people', 'people.id', 'sessions.person_id')
    .selectAll('people')
    .select(['sessions.created_at_ms as begun_at_ms', 'seen_at_ms', 'address', 'agent'])
    .where('hash', '=', hash)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { begun_at_ms: createdAtMs, seen_at_ms: seenAtMs, address, agent } = row
  const session = { hash, personId: row.id, createdAtMs, seenAtMs, address, agent }
  return { session, person: shape(row) }
}

export async function touchSession(
  tx: Kysely<Schema>,
  hash: string,
  seenAtMs: number,
): Promise<void> {
  await tx.updateTable('sessions').set({ seen_at_ms: seenAtMs }).where('hash', '=', hash).execute()
}

export async function endSession(tx: Kysely<Schema>, hash: string): Promise<void> {
  await tx.deleteFrom('sessions').where('hash', '=', hash).execute()
}

/** Ends all sessions of a person except the one to keep, if given. */
export async function endSessionsOf(
  tx: Kysely<Schema>,
  personId: string,
  butHash = '',
): Promise<void> {
  await tx
    .deleteFrom('sessions')
    .where('person_id', '=', personId)
    .where('hash', '<>', butHash)
    .execute()
}

/** Deletes sessions that have not been used since `beforeMs`. */
export async function forgetOld(tx: Kysely<Schema>, beforeMs: number): Promise<void> {
  await tx.deleteFrom('sessions').where('seen_at_ms', '<', beforeMs).execute()
}

export async function forgetFailures(tx: Kysely<Schema>, beforeMs: number): Promise<void> {
  await tx.deleteFrom('failed_sign_ins').where('last_at_ms', '<', beforeMs).execute()
}

export interface Failures {
  subject: string
  failures: number
  lastAtMs: number
}

export async function findFailures(
  db: Kysely<Schema>,
  subjects: readonly string[],
): Promise<Failures[]> {
  const rows = await db
    .selectFrom('failed_sign_ins')
    .selectAll()
    .where('subject', 'in', subjects)
    .execute()
  return rows.map(({ subject, failures, last_at_ms }) => ({
    subject,
    failures,
    lastAtMs: last_at_ms,
  }))
}

/** Others who count this subject wait until the transaction ends. */
export async function lockFailures(
  tx: Kysely<Schema>,
  subject: string,
  atMs: number,
): Promise<void> {
  await tx
    .insertInto('failed_sign_ins')
    .values({ subject, failures: 0, last_at_ms: atMs })
    .onConflict((conflict) =>
      conflict.column('subject').doUpdateSet((e) => ({
        failures: e.ref('failed_sign_ins.failures'),
      })),
    )
    .execute()
}

/** Nothing is left below zero: failures may have been cleared meanwhile. */
export async function addFailures(
  tx: Kysely<Schema>,
  subject: string,
  count: 1 | -1,
  atMs: number,
): Promise<void> {
  await tx
    .updateTable('failed_sign_ins')
    .set((e) => ({
      failures: e('failures', '+', count),
      ...(count > 0 && { last_at_ms: atMs }),
    }))
    .where('subject', '=', subject)
    .where('failures', '>=', Math.max(0, -count))
    .execute()
}

export async function clearFailures(tx: Kysely<Schema>, subject: string): Promise<void> {
  await tx.deleteFrom('failed_sign_ins').where('subject', '=', subject).execute()
}

function shape(row: Selectable<Schema['people']>): Person {
  const { id, name, role, account_id, disabled, created_at_ms, subject } = row
  const person: Person = {
    id,
    name,
    role: role as Role,
    disabled: disabled === 1,
    createdAtMs: created_at_ms,
  }
  if (account_id !== null) person.accountId = account_id
  if (subject !== null) person.subject = subject
  return person
}
