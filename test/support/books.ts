// The books of a running gateway as an auditor reads them: page by page over the admin API.
import { parseNanos } from '../../src/lib/text/decimal.ts'
import type { TestGateway } from './gateway.ts'

export interface LedgerEntry {
  id: string
  kind: 'credit' | 'hold' | 'release' | 'charge' | 'adjust'
  amount: string
  request_id: string | null
  quantity: number | null
  estimated: boolean
}

export interface RequestRow {
  request_id: string
  upstream_request_id: string
  ending: string
  status: number
  charge: string
  error_code: string | null
}

export interface AccountView {
  balance: string
  held: string
  available: string
}

type Admin = Pick<TestGateway, 'admin'>

async function everyPage<T>(gateway: Admin, path: string): Promise<T[]> {
  const all: T[] = []
  let cursor: string | null = null
  do {
    const from: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { status, body } = await gateway.admin('GET', `${path}?limit=500${from}`)
    if (status !== 200) throw new Error(`${path} answered ${status}`)
    all.push(...(body.items as T[]))
    cursor = body.next_cursor as string | null
  } while (cursor !== null)
  return all
}

export const readLedger = (gateway: Admin, account = 'acme') =>
  everyPage<LedgerEntry>(gateway, `/accounts/${account}/ledger`)

export const readRequests = (gateway: Admin) => everyPage<RequestRow>(gateway, '/requests')

export async function readAccount(gateway: Admin, account = 'acme'): Promise<AccountView> {
  const { body } = await gateway.admin('GET', `/accounts/${account}`)
  return body as AccountView
}

export const sumOf = (entries: readonly LedgerEntry[]): bigint =>
  entries.reduce((sum, { amount }) => sum + parseNanos(amount)!, 0n)

export const chargesOf = (entries: readonly LedgerEntry[]): LedgerEntry[] =>
  entries.filter(({ kind }) => kind === 'charge')
