// How this gateway connects to PostgreSQL, and what its errors mean.
import pg from 'pg'
import { codeOf, StoreRefused } from '../errors.ts'
import { messageOf } from '../health.ts'

const connectTimeoutMs = 5000
const int8 = 20

/** Parsed here and not in pg's global table, which other code in the process may share. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === int8 && format !== 'binary'
      ? BigInt
      : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
}

/** Lock wait limit: a locked record waits aside while the others proceed. */
const lockTimeoutMs = 500
/** Statement time-out; reports over a large log take seconds. */
const statementTimeoutMs = 60_000
/** A gateway that stops inside a transaction keeps its locks for this long. */
const idleTransactionMs = 5_000

/** Time limits of every session that can block others. */
export const bounded = {
  lock_timeout: lockTimeoutMs,
  statement_timeout: statementTimeoutMs,
  idle_in_transaction_session_timeout: idleTransactionMs,
} as const

export function clientConfig(databaseUrl: string): pg.ClientConfig {
  return {
    connectionString: databaseUrl,
    types,
    connectionTimeoutMillis: connectTimeoutMs,
    // A hanging transaction must end long before the log indexer assumes that it has ended.
    idle_in_transaction_session_timeout: 20_000,
    keepAlive: true,
    application_name: 'model-gateway',
  }
}

/** A retry may find the server back, or the other transaction ended. */
export function isPassing(error: unknown): boolean {
  const code = codeOf(error)
  if (!/^[0-9A-Z]{5}$/.test(code) || code === 'EPIPE') return true // not from the server
  return /^(08|53|40|57P|25P03)/.test(code)
}

/** Another transaction holds a lock on a row or table; nothing was done. */
export const isLocked = (error: unknown): boolean => codeOf(error) === '55P03'

/** Serialization failure or deadlock: nothing was done, retry. */
export const isRaced = (error: unknown): boolean => /^(40001|40P01)$/.test(codeOf(error))

/** The connection is gone or was ended by the server; a new one may or may not be possible. */
export const isCut = (error: unknown): boolean =>
  /^(57P0[123]|ECONNRESET|EPIPE|25P03)$/.test(codeOf(error)) ||
  lostConnection.test(messageOf(error))

const lostConnection = /^(Connection terminated|Client has encountered a connection error)/

/** The work may throw errors of its own; only connection errors indicate database trouble. */
export const isDatabaseTrouble = (error: unknown): boolean =>
  error instanceof Error &&
  isPassing(error) &&
  ('code' in error || lostConnection.test(error.message) || /^timeout e/.test(error.message))

export interface Address {
  /** Without user and password, for messages. */
  name: string
  secrets: readonly string[]
}

export function addressOf(databaseUrl: string): Address {
  let url: URL
  try {
    url = new URL(databaseUrl)
  } catch {
    throw new StoreRefused(
      'the database address cannot be read; write it as postgres://user:password@host:port/name.',
    )
  }
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:') {
    throw new StoreRefused(
      `the database address begins with ${url.protocol}// but only postgres:// is known.`,
    )
  }
  const password = url.searchParams.get('password') ?? ''
  const secrets = [url.password, safeDecode(url.password), password].filter((text) => text !== '')
  return { name: `PostgreSQL database ${url.host || 'localhost'}${url.pathname}`, secrets }
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function refusalFor(error: unknown, address: Address): StoreRefused {
  if (error instanceof StoreRefused) return error
  const { name } = address
  const code = codeOf(error)
  if (code.startsWith('28')) {
    return new StoreRefused(`${name} refused the user or password; check the database address.`)
  }
  if (code === '3D000') {
    return new StoreRefused(`${name} does not exist; create it or check the database address.`)
  }
  if (code === '42501') {
    return new StoreRefused(`${name} lets this user create no tables; grant it that right.`)
  }
  const why = address.secrets.reduce(
    (text, secret) => text.replaceAll(secret, '***'),
    messageOf(error) || code,
  )
  return new StoreRefused(
    isPassing(error)
      ? `${name} cannot be reached (${why}); check that it runs and that the address is right.`
      : `${name} cannot be used (${why}).`,
  )
}

export const pause = (ms: number): Promise<void> => new Promise((go) => setTimeout(go, ms))
