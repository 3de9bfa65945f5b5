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
}

/** A user of the admin API: a person with a session, or the admin token. */
export interface Viewer {
  /** As the audit log names them. */
  actor: string
  role: Role
  personId?: string
  /** The only account they may see. */
  accountId?: string
}
