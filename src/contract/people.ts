// The people who use the console, and what each kind of them may do at all.

/** In order of how much they may do. */
export const roles = ['administrator', 'operator', 'finance', 'member'] as const
export type Role = (typeof roles)[number]

export interface Person {
  id: string
  /** What they sign in with; lower case. */
  name: string
  role: Role
  /** A member's account; nobody else has one. */
  accountId?: string
  disabled: boolean
  createdAtMs: number
}

/** Who asks the admin API: a person with a session, or whoever holds the admin token. */
export interface Viewer {
  /** As the record of changes names them. */
  actor: string
  role: Role
  personId?: string
  /** The only account they may see anything of. */
  accountId?: string
}
