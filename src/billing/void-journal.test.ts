// What is in the void journal outlives its process: the next one reads it, settles it and leaves none.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '../lib/telemetry/log.ts'
import { findAccount, insertAccount } from '../store/catalog/accounts.ts'
import { findRequest } from '../store/log/requests.ts'
import { aRequest, newPlace, until } from '../store/test-stores.ts'
import { Ledger } from './ledger.ts'
import { VoidJournal } from './void-journal.ts'

const log = createLog({ level: 'error', pretty: false, write: () => {} })
let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gateway-void-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const journal = (owner: string) => new VoidJournal({ dir, owner, log })
const voided = (nanos: bigint) => ({ record: aRequest({ status: 503 }), chargeNanos: nanos })
const files = () => readdirSync(dir)

test('lines of a process that is no more are taken over once, by one, and those of the living stay', async () => {
  const [dead, living] = [voided(3n), voided(5n)]
  expect(await journal('dead').append(dead)).toBe(true)
  expect(await journal('living').append(living)).toBe(true)
  const heirs = [journal('a'), journal('b')]
  const isAlive = (of: string) => ['living', 'a', 'b'].includes(of)
  const taken = await Promise.all(heirs.map((heir) => heir.takeOver(isAlive)))
  expect(taken.flat()).toEqual([dead])
  expect(files().toSorted()).toHaveLength(2)
  expect(files()).toContain('void-journal-living.jsonl')
  for (const heir of heirs) await heir.clear(() => true)
  expect(files()).toEqual(['void-journal-living.jsonl'])
})

test('a line that was cut off is left out, the others are read', async () => {
  const whole = voided(7n)
  await journal('this').append(whole)
  appendFileSync(join(dir, 'void-journal-this.jsonl'), '{"requestId":"req_01')
  expect(await journal('this').takeOver(() => false)).toEqual([whole])
})

test('what is not settled stays, and nothing fails where nothing can be written', async () => {
  const own = journal('this')
  await own.append(voided(1n))
  await own.clear(() => false)
  expect(files()).toHaveLength(1)
  const nowhere = new VoidJournal({ dir: '/dev/null/nowhere', owner: 'this', log })
  expect(await nowhere.append(voided(1n))).toBe(false)
  expect(await nowhere.takeOver(() => false)).toEqual([])
})

test('a charge that was stored although its caller was told 503 comes back after a restart', async () => {
  const place = await newPlace('sqlite')
  const store = await place.open()
  const account = { id: 'acc_1', name: 'acme', source: 'api', createdAtMs: 1 } as const
  await store.tx((tx) => insertAccount(tx, account))
  const first = await Ledger.open(store, journal('this'))
  await first.credit('acc_1', 1_000n, { ref: 'c_1', atMs: 1 }).commit()
  const record = aRequest({ accountId: 'acc_1', chargeNanos: 300n })
  await first.settle(first.hold('acc_1', 400n)!, 300n, record, {})
  const unseen = aRequest({ accountId: 'acc_1', chargeNanos: 50n })
  await first.voidCall(record)
  await first.voidCall(unseen)
  // Before it has come to either of them.
  first.close()
  expect(files()).toHaveLength(1)
  const second = await Ledger.open(store, journal('this'))
  const balance = async () => (await findAccount(store.read, 'acc_1'))!.balanceNanos
  await until(async () => (await balance()) === 1_000n && files().length === 0)
  const [row] = await findRequest(store.read, unseen.requestId)
  expect(row).toMatchObject({ status: 503, chargeNanos: 0n })
  second.close()
  await store.close()
  await place.remove()
})
