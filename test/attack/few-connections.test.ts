// The database gives a gateway fewer connections than it wants, as a server does whose connections others use
// up: requests that get none in time are asked to come again, as while it is down. It is no defect of the gateway.
import { expect, test } from 'bun:test'
import pg from 'pg'
import { newPlace, storeKinds } from '../../src/store/test-stores.ts'
import { startGateway } from '../support/gateway.ts'

const role = `few_connections_${process.pid}`
const password = 'few-connections-0123456789'

if (!storeKinds.includes('postgres')) {
  console.error('left out: few connections to PostgreSQL (set TEST_POSTGRES_URL)')
} else {
  test('who finds no connection is told to come again', async () => {
    const place = await newPlace('postgres')
    const address = new URL(place.options.databaseUrl!)
    const owner = new pg.Client({ connectionString: address.href })
    await owner.connect()
    await owner.query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`)
    await owner.query(`CREATE DATABASE ${role} OWNER ${role}`)
    Object.assign(address, { username: role, password, pathname: role })
    const gateway = await startGateway({ env: { GATEWAY_DATABASE_URL: address.href } })
    try {
      await owner.query(`ALTER ROLE ${role} CONNECTION LIMIT 1`)
      // What it reads with is gone, and cannot be had again.
      await owner.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE usename = '${role}' AND state = 'idle' AND query LIKE 'select%'`)
      const seen = new Map<number, unknown>()
      for (let round = 0; round < 20 && !seen.has(503); round++) {
        const looks = Array.from({ length: 30 }, () => gateway.admin('GET', '/requests?limit=50'))
        for (const { status, body } of await Promise.all(looks)) seen.set(status, body)
      }
      expect([...seen.keys()].toSorted()).toEqual([200, 503])
      expect(seen.get(503)).toMatchObject({ error: { code: 'overloaded' } })
      await owner.query(`ALTER ROLE ${role} CONNECTION LIMIT -1`)
      expect((await gateway.admin('GET', '/requests')).status).toBe(200)
    } finally {
      await gateway.stop()
      await owner.query(`DROP DATABASE ${role} WITH (FORCE)`)
      await owner.query(`DROP ROLE ${role}`)
      await owner.end()
      await place.remove()
    }
  })
}
