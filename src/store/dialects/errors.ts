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

/** Connections, resources, races, locks, time-outs, and a server that stops: not what was asked for. */
const busyCode =
  /^(08...|53...|40001|40P01|55P03|57014|57P..|25P03|ECONN[A-Z]+|EPIPE|SQLITE_BUSY.*)$/
/** Errors of the client library, which have no code. */
const busyMessage =
  /^(timeout expired|timeout exceeded when|Query read timeout|Connection terminated|Client has encountered a connection error)/

/** The store could not serve this operation now: no defect of what was asked, worth retrying later. */
export const isBusy = (error: unknown): boolean =>
  error instanceof StoreBusy ||
  busyCode.test(codeOf(error)) ||
  (error instanceof Error && busyMessage.test(error.message))

/** True when a row with the same unique name, hash or id already exists. */
export function isUniqueConflict(error: unknown): boolean {
  const code = codeOf(error)
  return (
    code === '23505' ||
    code === 'SQLITE_CONSTRAINT_UNIQUE' ||
    code === 'SQLITE_CONSTRAINT_PRIMARYKEY'
  )
}
