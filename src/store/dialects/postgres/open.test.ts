// What only the PostgreSQL engine can meet. The first cases need no server.
import { expect, test } from 'bun:test'
import pg from 'pg'
import { findAccount, insertAccount } from '../../catalog/accounts.ts'
import { openStore, StoreRefused, type Tx } from '../../index.ts'
import { moveCredit, readCreditLease } from '../../ledger/credit-leases.ts'
import { findRequest } from '../../log/requests.ts'
import {
  aRequest,
  charged,
  failureOf,
  newPlace,
  onServer,
  postgresUrl,
  until,
} from '../../test-stores.ts'

const openAt = (databaseUrl: string) => openStore({ dataDir: '', databaseUrl })

test('a server that is not there is refused without telling the password', async () => {
  const opening = openAt('postgres://gw:s3cr%20t@127.0.0.1:1/gateway')
  expect(await opening.catch((error) => error)).toBeInstanceOf(StoreRefused)
  const message = await failureOf(opening)
  expect(message).toMatch('PostgreSQL database 127.0.0.1:1/gateway cannot be reached')
  expect(message).not.toMatch(/s3cr/)
})

test('an address that makes no sense is refused without repeating it', async () => {
  const message = await failureOf(Promise.resolve().then(() => openAt('postgres://gw:s3cret@[/x')))
  expect(message).toMatch('cannot be read')
  expect(message).not.toMatch('s3cret')
  expect(await failureOf(openAt('mysql://gw@localhost/x'))).toMatch('only postgres:// is known')
})

if (postgresUrl !== undefined) {
  test('a database that does not exist is refused', async () => {
    const url = new URL(postgresUrl!)
    url.pathname = '/no_such_database'
    expect(await failureOf(openAt(url.href))).toMatch('/no_such_database does not exist')
  })

  test('an upgrade waits for gateways of an older version to be stopped, and not for dead ones', async () => {
    const place = await newPlace('postgres', { empty: true })
    const old = await place.open({ schema: 32, join: true })
    expect(await failureOf(place.open())).toMatch(
      `gateways of an older version (${old.cluster!.gatewayId})`,
    )
    await old.close()
    const gone = `INSERT INTO gateways (id, lock_key, started_at_ms) VALUES ('gwy_gone', 77, 1)`
    await onServer(gone, new URL(place.options.databaseUrl!).pathname.slice(1))
    const store = await place.open()
    await store.close()
    await place.remove()
  })

  test('an account that was locked for a moment waits for no turn of one that stays locked', async () => {
    const place = await newPlace('postgres')
    const store = await place.open()
    await store.tx(async (tx) => {
      for (const id of ['acc_1', 'acc_2']) {
        await insertAccount(tx, { id, name: id, source: 'file', createdAtMs: 1 })
      }
    })
    const lock = async (id: string) => {
      const client = new pg.Client({ connectionString: place.options.databaseUrl! })
      await client.connect()
      await client.query('BEGIN')
      await client.query('SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE', [id])
      return () => client.end()
    }
    const unlock = [await lock('acc_1'), await lock('acc_2')] as const
    const name = (tx: Tx) =>
      tx.updateTable('accounts').set({ name: 'one' }).where('id', '=', 'acc_1').execute()
    const stuck = Array.from({ length: 24 }, () => store.tx(name, 'acc_1'))
    await Bun.sleep(2_100)
    const recorded = store.record(charged(aRequest({ accountId: 'acc_2' }), 5n))
    await Bun.sleep(700)
    await unlock[1]()
    await recorded
    await unlock[0]()
    await Promise.all(stuck)
    await store.close()
    await place.remove()
  })

  test('records get through when every connection is cut, and the others see it again', async () => {
    const place = await newPlace('postgres')
    const name = new URL(place.options.databaseUrl!).pathname.slice(1)
    const said: string[] = []
    const store = await place.open({ join: true, log: (_, msg) => said.push(msg) })
    const creditLease = { accountId: 'acc_1', gatewayId: store.cluster!.gatewayId }
    await store.tx(async (tx) => {
      await insertAccount(tx, { id: 'acc_1', name: 'acme', source: 'api', createdAtMs: 1 })
      await moveCredit(tx, creditLease, () => ({ nanos: 40n, isShort: false }))
    })
    const requests = Array.from({ length: 40 }, () => aRequest({ chargeNanos: 1n }))
    await store.record(charged(requests[0]!, 1n))
    const cut = onServer(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
    )
    for (const request of requests) await store.record(charged(request, 1n))
    await cut
    await until(() => said.some((msg) => msg.startsWith('the store cannot write')))
    await until(() => store.healthy)
    expect(await findRequest(store.read, requests[39]!.requestId)).toHaveLength(1)
    expect((await findAccount(store.read, 'acc_1'))?.balanceNanos).toBe(-40n)
    expect(await readCreditLease(store.read, creditLease)).toBe(0n)
    await store.close()
    await place.remove()
  })
}
