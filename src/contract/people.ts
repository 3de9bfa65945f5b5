// The users of the console, and what each role may do.

/** In ascending order of rights. */
export const roles = ['administrator', 'operator', 'finance', 'member'] as const
export type Role = (typeof roles)[number]

export interface Person {
  id: string
  /** Their sign-in name; lower case. */
  name: string
  role: Role
  /** A member's account; other roles have none. */
  accountId?: string
  disabled: boolean
  createdAtMs: number
  /** Issuer and subject of a person who signs in through the identity provider; they have no password. */
  subject?: string
}

/** Members of this group of the identity provider have this role. */
export interface OidcGroup {
  group: string
  role: Role
  /** Id or name of the account of members. */
  account?: string
}

export interface OidcSettings {
  issuer: string
  clientId: string
  /** Absent: a public client, which has PKCE alone. */
  clientSecret?: string
  /** The first one that a person is in counts. */
  groups: readonly OidcGroup[]
  /** Passwords are off, except for the break-glass administrator. */
  only: boolean
  /** CIDRs that may be asked without TLS. */
  egressAllow: readonly string[]
}

/** Who made a change: a person, the admin token, or the gateway itself (also for a link that worked). */
export const actorKinds = ['person', 'admin_token', 'gateway'] as const
export type ActorKind = (typeof actorKinds)[number]

const reservedNames: readonly string[] = ['admin', 'gateway', 'system']

/**
 * Whether a name would pass for the admin token or the gateway in a log or a message. Signs around it do
 * not make it another one.
 */
export const isReservedName = (name: string): boolean =>
  reservedNames.includes(name.toLowerCase().replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, ''))

/** A user of the admin API: a person with a session, or the admin token. */
export interface Viewer {
  /** As the audit log names them. */
  actor: string
  role: Role
  personId?: string
  /** The only account they may see. */
  accountId?: string
}
