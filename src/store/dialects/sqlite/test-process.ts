// For tests: a store in a separate process, controlled by its arguments. It reports in lines of
// JSON.
import { rmSync, writeFileSync } from 'node:fs'
import { findAccount, insertAccount } from '../../catalog/accounts.ts'
import { openStore, type Store } from '../../index.ts'
import { sumEntries } from '../../ledger/entries.ts'
import { aRequest, charged, failureOf, until } from '../../test-stores.ts'

const [task, dataDir] = process.argv.slice(2) as [string, string]
const say = (line: object) => console.log(JSON.stringify(line))

const open = async (): Promise<Store> => {
  const store = await openStore({ dataDir })
  await store.tx(async (tx) => {
    if ((await findAccount(tx, 'acc_1')) !== undefined) return
    await insertAccount(tx, { id: 'acc_1', name: 'acme', source: 'api', createdAtMs: 1 })
  })
  return store
}

async function chargeOnce(store: Store, padding = ''): Promise<string> {
  const request = aRequest({ chargeNanos: 1n, upstreamRequestId: `up${padding}` })
  await store.record(charged(request, 1n))
  return request.requestId
}

/** Reports whether the directory could be opened. */
async function tryOpen(): Promise<void> {
  const outcome = await openStore({ dataDir }).catch((error: Error) => error)
  if (outcome instanceof Error) return say({ refused: outcome.name, message: outcome.message })
  await outcome.close()
  say({ opened: true })
}

/** Records until it is killed, and reports every confirmed record. */
async function recordForever(): Promise<void> {
  const store = await open()
  const worker = async () => {
    for (;;) say({ stored: await chargeOnce(store) })
  }
  await Promise.all([worker(), worker(), worker(), worker()])
}

/** So long that a checkpoint falls into it. */
const outageMs = 3_000

/** Records come all the time; a journal that takes them does not help while nothing can be applied. */
async function everHealthy(store: Store, stored: string[]): Promise<boolean> {
  const untilMs = performance.now() + outageMs
  let isHealthy = store.healthy
  while (performance.now() < untilMs) {
    await chargeOnce(store, '.'.repeat(20_000)).then(
      (id) => stored.push(id),
      () => {},
    )
    isHealthy ||= store.healthy
    await Bun.sleep(5)
  }
  return isHealthy
}

/** Fills a small disk with records, frees some of it, and checks what is left. */
async function fillDisk(): Promise<void> {
  const filler = `${dataDir}/filler`
  const store = await open()
  writeFileSync(filler, Buffer.alloc(20 << 20))
  const stored: string[] = []
  const padding = '.'.repeat(20_000)
  let failure: string | undefined
  while (failure === undefined) {
    const work = chargeOnce(store, padding).then((id) => void stored.push(id))
    const outcome = await failureOf(work)
    if (outcome !== 'it did not fail') failure = outcome
  }
  const healthyWhenFull = await everHealthy(store, stored)
  rmSync(filler)
  await until(() => store.healthy)
  stored.push(await chargeOnce(store))
  await store.close()

  const again = await openStore({ dataDir })
  const rows = await again.read.selectFrom('requests').select('request_id').execute()
  const kept = new Set(rows.map((row) => row.request_id))
  const account = await findAccount(again.read, 'acc_1')
  const [sum] = await sumEntries(again.read)
  await again.close()
  say({
    failure,
    healthyWhenFull,
    lost: stored.filter((id) => !kept.has(id)).length,
    extra: kept.size - stored.length,
    balanced: sum?.balanceNanos === account?.balanceNanos && sum?.entries === stored.length,
  })
}

if (task === 'open') await tryOpen()
else if (task === 'record') await recordForever()
else await fillDisk()
