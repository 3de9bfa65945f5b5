// Durable charges without HTTP, its own process: opens a store, keeps a number of charges in flight
// through the ledger, and tells how many were stored. Reads one JSON command per line, prints one JSON
// result per line.

import { type Hold, Ledger } from '../../src/billing/ledger.ts'
import { newId } from '../../src/lib/crypto/ids.ts'
import { findAccount, insertAccount, listBalances } from '../../src/store/catalog/accounts.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { serveCommands } from '../lib/commands.ts'
import { percentile } from '../lib/stats.ts'

export interface LedgerCommand {
  /** Accounts that the charges are spread over, in turn. */
  accounts: number
  inFlight: number
  seconds: number
}

export interface LedgerResult {
  charges: number
  /** What the accounts have paid for, by their balances. */
  paid: number
  elapsedMs: number
  cpuMicros: number
  p50Ms: number
  p99Ms: number
}

const holdNanos = 4_000n
const chargeNanos = 1_000n
const openingNanos = 1_000_000_000_000_000n
const labels = {
  model: 'bench-model',
  unit: 'token',
  quantity: 300,
  priceId: 'price_00000000000000000000000000000001',
}

async function openAccounts(store: Store, ledger: Ledger, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, i) => `acc_bench_${count}_${i}`)
  if ((await findAccount(store.read, ids[0]!)) !== undefined) return ids
  for (const id of ids) {
    await store.tx((tx) => insertAccount(tx, { id, name: id, source: 'api', createdAtMs: 1 }))
    ledger.add({ id, balanceNanos: 0n, heldNanos: 0n })
    await ledger.credit(id, openingNanos, { ref: `credit:${id}`, atMs: 1 }).commit()
  }
  return ids
}

const sumOf = async (store: Store): Promise<bigint> =>
  (await listBalances(store.read)).reduce((sum, { balanceNanos }) => sum + balanceNanos, 0n)

async function chargeOne(ledger: Ledger, accountId: string): Promise<void> {
  let hold: Hold | undefined
  while (hold === undefined) hold = await ledger.reserve(accountId, holdNanos)
  const atMs = Date.now()
  await ledger.settle(
    hold,
    chargeNanos,
    {
      requestId: newId('req', atMs),
      atMs,
      accountId,
      tokenId: 'tok_00000000000000000000000000000001',
      interface: 'chat',
      model: labels.model,
      channel: 'bench',
      upstreamRequestId: `up-${atMs}`,
      status: 200,
      chargeNanos,
      priceId: labels.priceId,
      usage: { inputTokens: 200, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0 },
      totalMs: 12,
      detail: {
        stream: false,
        ending: 'complete',
        attempts: [{ channel: 'bench', afterMs: 0, ms: 12, status: 200 }],
      },
    },
    labels,
  )
}

async function runSlice(
  store: Store,
  ledger: Ledger,
  command: LedgerCommand,
): Promise<LedgerResult> {
  const ids = await openAccounts(store, ledger, command.accounts)
  const before = await sumOf(store)
  const latencies: number[] = []
  const startMs = performance.now()
  const endMs = startMs + command.seconds * 1000
  const startCpu = process.cpuUsage()
  let next = 0
  const worker = async () => {
    for (let nowMs = performance.now(); nowMs < endMs; ) {
      await chargeOne(ledger, ids[next++ % ids.length]!)
      const doneMs = performance.now()
      latencies.push(doneMs - nowMs)
      nowMs = doneMs
    }
  }
  await Promise.all(Array.from({ length: command.inFlight }, worker))
  const elapsedMs = performance.now() - startMs
  const { user, system } = process.cpuUsage(startCpu)
  const sorted = Float64Array.from(latencies).sort()
  return {
    charges: latencies.length,
    paid: Number((before - (await sumOf(store))) / chargeNanos),
    elapsedMs,
    cpuMicros: user + system,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
  }
}

if (import.meta.main) {
  const [dataDir = '', databaseUrl] = process.argv.slice(2)
  const location = databaseUrl === undefined ? { dataDir } : { dataDir, databaseUrl }
  const store = await openStore({ ...location, join: true })
  const ledger = await Ledger.open(store)
  await serveCommands((command: LedgerCommand) => runSlice(store, ledger, command))
}
