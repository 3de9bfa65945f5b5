// Why a store does not open, and how the two dialects report the same conflict.

/** The store cannot be opened; the message is one sentence for the person who started the gateway. */
export class StoreRefused extends Error {
  override name = 'StoreRefused'
}

/** An error reported by the database, with the dialect's own code. */
export class DatabaseError extends Error {
  override name = 'DatabaseError'
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** The database's error code: 'SQLITE_FULL', '23505', 'ECONNREFUSED', or ''. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return typeof code === 'string' ? code : ''
}

/** The operation waits for a lock or takes too long; other operations proceed. */
export class StoreBusy extends Error {
  override name = 'StoreBusy'
}

/** A lock or a statement time-out: not a defect, worth retrying later. */
export const isBusy = (error: unknown): boolean =>
  error instanceof StoreBusy || /^(55P03|57014)$/.test(codeOf(error))

/** True when a row with the same unique name, hash or id already exists. */
export function isUniqueConflict(error: unknown): boolean {
  const code = codeOf(error)
  return (
    code === '23505' ||
    code === 'SQLITE_CONSTRAINT_UNIQUE' ||
    code === 'SQLITE_CONSTRAINT_PRIMARYKEY'
  )
}
