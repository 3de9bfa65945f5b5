// Asks the gateway's admin API what it charged, to hold that against what was served.
// Refuses to know how the gateway keeps its books.

import { parseNanos } from '../../src/lib/text/decimal.ts'
import { type Mode, tokensPerCall } from '../payload/index.ts'
import { account, adminToken, nanosPerToken } from './gateway-config.ts'
import type { Target } from './targets.ts'

export type Balance = { nanos: bigint } | { unknown: string }

export interface Charges {
  served: number
  /** Calls paid for, by the balance; undefined if it could not be read or makes no whole number. */
  charged?: number
  problem?: string
}

const askMs = 5000

export async function readBalance(target: Target): Promise<Balance> {
  try {
    const url = `http://127.0.0.1:${target.port}/admin/v1/accounts/${account}`
    const headers = { authorization: `Bearer ${adminToken}` }
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(askMs) })
    if (!answer.ok) return { unknown: `the admin API answered ${answer.status}` }
    const { balance } = (await answer.json()) as { balance?: unknown }
    const nanos = typeof balance === 'string' ? parseNanos(balance) : undefined
    return nanos === undefined ? { unknown: 'the admin API gave no balance' } : { nanos }
  } catch (error) {
    return { unknown: `the admin API did not answer: ${(error as Error).message}` }
  }
}

/** How many calls of one kind the fall of the balance paid for. */
export function countCharges(before: Balance, after: Balance, mode: Mode, served: number): Charges {
  if ('unknown' in before) return { served, problem: before.unknown }
  if ('unknown' in after) return { served, problem: after.unknown }
  const perCall = BigInt(tokensPerCall(mode)) * nanosPerToken
  const spent = before.nanos - after.nanos
  if (spent % perCall === 0n) return { served, charged: Number(spent / perCall) }
  return { served, problem: `${spent} nano-units are no whole number of ${mode} calls` }
}

export function sumCharges(parts: readonly Charges[]): Charges {
  const served = parts.reduce((sum, part) => sum + part.served, 0)
  const problem = parts.find((part) => part.problem !== undefined)?.problem
  if (problem !== undefined) return { served, problem }
  return { served, charged: parts.reduce((sum, part) => sum + (part.charged ?? 0), 0) }
}

export function formatCharges(charges: Charges): string {
  if (charges.charged === undefined) {
    return `charges: not verified for ${charges.served} requests (${charges.problem})`
  }
  const verdict = charges.charged === charges.served ? '' : '  MISMATCH'
  return `charges: ${charges.charged} of ${charges.served} requests${verdict}`
}
